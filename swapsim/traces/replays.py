# SPDX-License-Identifier: GPL-2.0-or-later
"""The replays that a trace can feed, its description, and the traces of the laboratory."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import io
from swapsim.errors import InputError
from swapsim.traces.folder import FILES, PROVENANCE, event_names, events, locate, provenance
from swapsim.traces.needed_fields import lacking_fields, not_counted, unpaired
from swapsim.traces.tables import SHIPPED_TRACES

_LIST_BORDERS: Final = ("mm_vmscan_lru_isolate", "mm_vmscan_lru_shrink_inactive")

REPLAYS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "mapping": (("swp_add", "swp_del", "wb_start", "wb_end"),),
    "removal": (
        ("removals",),
        ("swp_del", *_LIST_BORDERS),
        ("mm_filemap_delete_from_page_cache", *_LIST_BORDERS),
    ),
    "stall": (("reclaim_folios", "reclaim_lists", "reclaim_passes"),),
    "slots": (("slot_events",),),
    "clusters": (("cluster_events", "cluster_devices"),),
}
"""The events that a replay needs: one of these sets, the first that a trace has."""

MGLRU_TABLES: Final = ("generation_choices", "generation_steps")
"""What the replay mglru needs. It is not in REPLAYS, on which stored results of studies
depend."""

ALL_REPLAYS: Final = (*REPLAYS, "mglru")

SUMS_TABLES: Final = ("stall_lists", "stall_passes")
"""What a trace of a stock 7.3's stalls has; it feeds no replay, but `swapsim verify stall`."""

_LONGEST_LINE: Final = 100
"""Characters of a line of `info` with several items; a longer one becomes a line for each."""


def missing_events(replay: str, present: Iterable[str]) -> tuple[str, ...]:
    """Return the events that are missing for a replay, of its set that is nearest to complete."""
    there = set(present)

    def lacking(needed: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(event for event in needed if event not in there)

    # A set of one event is what the kernel of the laboratory alone can record.
    share = {needed: len(lacking(needed)) / len(needed) for needed in REPLAYS[replay]}
    return lacking(min(share, key=lambda needed: (share[needed], len(needed) == 1)))


def lacking_events(replay: str, present: Iterable[str]) -> tuple[str, ...]:
    """Return the events that are missing for a replay, one of REPLAYS or generations."""
    if replay in REPLAYS:
        return missing_events(replay, present)
    there = set(present)
    return tuple(event for event in MGLRU_TABLES if event not in there)


def replays_of(present: Iterable[str]) -> pl.DataFrame:
    """Return for each replay whether a set of events can feed it, and what it lacks.

    Examples
    --------
    >>> from swapsim import frames, traces
    >>> feeds = traces.replays_of(traces.events("swap-w-seq")["event"])
    >>> feeds.filter(can=True)["replay"].to_list()
    ['mapping', 'removal']
    """
    there = set(present)
    missing = {replay: lacking_events(replay, there) for replay in ALL_REPLAYS}
    return pl.DataFrame(
        {
            "replay": list(missing),
            "can": [not lacking for lacking in missing.values()],
            "missing": [", ".join(lacking) for lacking in missing.values()],
        },
        schema={"replay": pl.String, "can": pl.Boolean, "missing": pl.String},
    )


def require_events(folder: Path | str, replay: str) -> tuple[str, ...]:
    """Require the events that a replay of REPLAYS needs; return all events of a trace."""
    provenance(folder)
    present = event_names(folder)
    missing = missing_events(replay, present)
    if missing:
        raise InputError(
            f"the replay {replay} needs the event{'s' * (len(missing) > 1)} "
            f"{', '.join(missing)}; the trace has: {', '.join(present) or 'none'}",
            path=folder,
        )
    return present


def shipped(replay: str) -> dict[str, Path]:
    """Return the shipped traces that can feed a replay, by name, in order of name."""
    if replay not in REPLAYS:
        raise InputError(f"no such replay: {replay!r}; there are: {', '.join(REPLAYS)}")
    return {
        name: folder
        for name, folder in io.shipped_traces().items()
        if not missing_events(replay, event_names(folder))
    }


def shipped_traces() -> pl.DataFrame:
    """Return what the traces that come with the laboratory are (SHIPPED_TRACES).

    Examples
    --------
    >>> from swapsim import frames, traces
    >>> frames.show(traces.shipped_traces().head(3))
    kernel: 6.12.117+deb12-cloud-amd64
    trace                    cpus     rows  replays
    clusters-6.12-build-2       2   53,283  clusters
    clusters-6.12-devices-4     4  220,245  clusters
    clusters-6.12-file-2        2  113,943  clusters
    """
    rows = []
    for name, folder in io.shipped_traces().items():
        origin = provenance(folder)
        can = replays_of(origin["events"]).filter("can")["replay"].to_list()
        can += ["verify stall"] if {*SUMS_TABLES} <= {*origin["events"]} else []
        counted = sum(origin["events"].values())
        rows.append((name, origin["kernel"]["release"], origin["guest"]["cpus"], counted, can))
    return pl.DataFrame(rows, schema=SHIPPED_TRACES.schema, orient="row")


def described(folder: Path | str) -> dict[str, Any]:
    """Return the contents of a trace folder as plain data, for a program.

    They are ``rows`` by event, ``provenance`` as in trace.toml, and ``replays``: the events, or
    else the fields, that each lacks, none if the trace can feed it. Errors are those of `events`.
    """
    require_trace(folder)
    counted = dict(events(folder).iter_rows())
    return {
        "rows": counted,
        "provenance": provenance(folder),
        "replays": {replay: _lacking(folder, replay, counted) for replay in ALL_REPLAYS},
    }


def info(folder: Path | str) -> str:
    """Describe a trace folder in some lines: its events, its provenance, the replays it can feed.

    Errors are those of `events`.
    """
    located = locate(folder)
    require_trace(located)
    origin = provenance(located)
    counted = events(folder)
    missing_files = [name for name in origin.get(FILES, ()) if not (located / name).exists()]
    checked = "as they were written" if FILES in origin else "without sha256 in trace.toml"
    checked = "not complete" if missing_files else checked
    width = max((len(event) for event in counted["event"]), default=0)
    lines = [f"{folder}: {counted['rows'].sum()} rows of {counted.height} events, {checked}"]
    lines += [f"  {event:{width}} {rows:>12}" for event, rows in counted.iter_rows()]
    lines += [f"  {name} is missing, though trace.toml lists it" for name in missing_files]
    lines.append("provenance:")
    for title, table in origin.items():
        if title not in ("events", FILES):
            lines += _describe_table(title, table)
    lines.append("replays:")
    for replay in ALL_REPLAYS:
        lacking = ", ".join(_lacking(located, replay, counted["event"]))
        lines.append(f"  {replay}: {f'no, it lacks {lacking}' if lacking else 'yes'}")
        if replay == "mapping" and not lacking:
            doubts = [*not_counted(counted["event"]), *unpaired(located)]
            lines[-1] = "; ".join([lines[-1], *doubts])
    if {*SUMS_TABLES} <= {*counted["event"]}:
        lines.append(f"'swapsim verify stall {folder}' compares it with the rules of 7.3")
    return "\n".join(lines)


def _lacking(folder: Path | str, replay: str, present: Iterable[str]) -> list[str]:
    """Return the events that a trace lacks for a replay, or else the fields."""
    there = tuple(present)
    return list(lacking_events(replay, there)) or lacking_fields(folder, replay, there)


def require_trace(folder: Path | str) -> None:
    """Refuse a folder that has neither tables nor provenance."""
    if not event_names(folder) and not (locate(folder) / PROVENANCE).exists():
        raise InputError(
            "no trace folder: it has neither tables nor trace.toml ('swapsim import TEXT -o DIR' "
            "makes one)",
            path=folder,
        )


def _describe_table(title: str, value: Any) -> list[str]:
    """Return the lines of a value of trace.toml."""
    if isinstance(value, dict):
        return [
            line for key, item in value.items() for line in _describe_table(f"{title}.{key}", item)
        ]
    items = value if isinstance(value, list) else [value]
    words = [" ".join(str(item).split()) for item in items]
    line = f"  {title}: {', '.join(words)}"
    if len(words) == 1 or len(line) <= _LONGEST_LINE:
        return [line]
    return [f"  {title}:", *(f"    {item}" for item in words)]
