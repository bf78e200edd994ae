# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of a real kernel's slot allocator: what was handed out where, and to whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.schemas import HANDED_OUT, SLOT_EVENTS, require
from swapsim.traces.folder import PROVENANCE, provenance, read_event

_SLOT_BYTES: Final = 4096
_MEBIBYTE: Final = 1 << 20

_NOT_OF_EACH_OP: Final = ("n", "offset", "base", "next", "lowest", "highest")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotSetUp:
    """What a slot trace's kernel and guest were, as its trace.toml tells.

    Attributes
    ----------
    policy : str
        Where its scans began (the boot parameter swap_base).
    cpus : int
    cluster_size, trunk_shift : int
        Slots of a cluster; log2 of the slots of a trunk.
    """

    policy: str
    cpus: int
    cluster_size: int
    trunk_shift: int


def slot_events(folder: Path | str) -> pl.DataFrame:
    """Read the slot events of a trace folder.

    Returns
    -------
    polars.DataFrame
        Schema SLOT_EVENTS, in lock order.

    Raises
    ------
    InputError
        The folder has no slot events or no trace.toml; they have another schema, are not those
        that were written, or out of order.
    """
    return read_event(folder, "slot_events", SLOT_EVENTS, may_be_null=_NOT_OF_EACH_OP)


def slot_set_up(folder: Path | str) -> SlotSetUp:
    """Return how the kernel of a slot trace was set up.

    Raises
    ------
    InputError
        If trace.toml does not tell: name the policy and sizes by hand, to `replay.judge_slots`.
    """
    known = provenance(folder)
    try:
        kernel, guest = known["kernel"], known["guest"]
        return SlotSetUp(
            policy=kernel["swap_base"],
            cpus=guest["cpus"],
            cluster_size=kernel["cluster_size"],
            trunk_shift=kernel["trunk_shift"],
        )
    except KeyError as missing:
        raise InputError(
            "the trace does not tell how its kernel was set up",
            path=Path(folder) / PROVENANCE,
            field=str(missing.args[0]),
        ) from None


def handed_out(folders: Mapping[str, Path]) -> pl.DataFrame:
    """List the slots that each trace's kernel handed out, in order.

    Parameters
    ----------
    folders : mapping of str to Path
        Name of a run -> its trace folder.

    Returns
    -------
    polars.DataFrame
        Schema HANDED_OUT, run after run.
    """
    frames = [_handed_out(name, folder) for name, folder in folders.items()]
    frame = pl.concat(frames) if frames else pl.DataFrame(schema=HANDED_OUT)
    return require(frame, HANDED_OUT, "HANDED_OUT")


def thinned(handed_out: pl.DataFrame, points: int) -> pl.DataFrame:
    """Keep about so many slots of each run, evenly: for a chart.

    Parameters
    ----------
    handed_out : polars.DataFrame
        Schema HANDED_OUT.
    points : int
        At least 1.
    """
    every = (pl.len().over("run") // points).clip(lower_bound=1)
    return handed_out.filter(pl.col("nth") % every == 0)


def _handed_out(name: str, folder: Path) -> pl.DataFrame:
    shift = slot_set_up(folder).trunk_shift
    return (
        slot_events(folder)
        .filter(pl.col("op") == "alloc")
        .with_row_index("nth")
        .select(
            pl.lit(name).alias("run"),
            "nth",
            "cpu",
            "pid",
            "offset",
            trunk=pl.col("offset") // (1 << shift),
            mebibytes=pl.col("offset") * (_SLOT_BYTES / _MEBIBYTE),
        )
    )
