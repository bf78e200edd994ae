# SPDX-License-Identifier: GPL-2.0-or-later
"""Which traces can feed which replay."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.io import paths
from swapsim.traces.folder import PROVENANCE, event_names, provenance

_LIST_BORDERS: Final = ("mm_vmscan_lru_isolate", "mm_vmscan_lru_shrink_inactive")

REPLAYS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "writeback-tags": (("swp_add", "swp_del", "wb_start", "wb_end"),),
    "batched-removal": (
        ("removals",),
        ("swp_del", *_LIST_BORDERS),
        ("mm_filemap_delete_from_page_cache", *_LIST_BORDERS),
    ),
    "stall-decisions": (("reclaim_folios", "reclaim_lists", "reclaim_passes"),),
    "cluster-next": (("slot_events",),),
}
"""The events without which a replay cannot run; where there are several sets, one of them will do,
and the first that a trace has is taken."""


def missing_events(replay: str, present: Iterable[str]) -> tuple[str, ...]:
    """Return what a set of events lacks for a replay: of the set that it comes nearest to."""
    there = set(present)

    def lacking(needed: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(event for event in needed if event not in there)

    return lacking(min(REPLAYS[replay], key=lambda needed: len(lacking(needed)) / len(needed)))


def replays_of(present: Iterable[str]) -> pl.DataFrame:
    """Say which replays a set of events can feed.

    Returns
    -------
    polars.DataFrame
        ``replay String, can Boolean, missing String``, one row per replay.
    """
    there = set(present)
    missing = {replay: missing_events(replay, there) for replay in REPLAYS}
    return pl.DataFrame(
        {
            "replay": list(missing),
            "can": [not lacking for lacking in missing.values()],
            "missing": [", ".join(lacking) for lacking in missing.values()],
        },
        schema={"replay": pl.String, "can": pl.Boolean, "missing": pl.String},
    )


def require_events(folder: Path | str, replay: str) -> tuple[str, ...]:
    """Return the events of a trace that has all those that a replay of REPLAYS needs.

    Raises
    ------
    InputError
        Naming the events that are missing and those that are there, or the missing trace.toml.
    """
    provenance(folder)
    present = event_names(Path(folder))
    missing = missing_events(replay, present)
    if missing:
        raise InputError(
            f"the replay {replay} needs the event{'s' * (len(missing) > 1)} "
            f"{', '.join(missing)}; the trace has: {', '.join(present) or 'none'}",
            path=folder,
        )
    return present


def locate(trace: Path | str) -> Path:
    """Return a trace's folder.

    Parameters
    ----------
    trace : Path or str
        The name of one of the laboratory's own, or a folder.

    Raises
    ------
    InputError
        It is neither; the names are told.
    """
    known = paths.shipped_traces()
    if str(trace) in known:
        return known[str(trace)]
    if not (Path(trace) / PROVENANCE).is_file():
        raise InputError(
            f"it is no trace folder, nor is that the name of one here: {', '.join(known)}",
            path=trace,
        )
    return Path(trace)


def shipped(replay: str) -> dict[str, Path]:
    """Return the laboratory's own traces that can feed a replay, by name, in order of name.

    Raises
    ------
    InputError
        There is no such replay.
    """
    if replay not in REPLAYS:
        raise InputError(f"no such replay: {replay!r}; there are: {', '.join(REPLAYS)}")
    return {
        name: folder
        for name, folder in paths.shipped_traces().items()
        if not missing_events(replay, event_names(folder))
    }
