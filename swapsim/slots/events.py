# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of a real kernel's slot allocator: what was handed out where, and to whom."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import polars as pl

from swapsim.errors import InputError
from swapsim.slots.tables import HANDED_OUT, SLOT_EVENTS
from swapsim.traces.folder import PROVENANCE, provenance, read_event

_Told = TypeVar("_Told", str, int)

_SLOT_BYTES: Final = 4096
_MEBIBYTE: Final = 1 << 20

_HEAD: Final = ("seq", "cpu", "pid", "mm", "op")

_NEEDS: Final = {
    "call": ("n", "base", "lowest", "highest"),
    "alloc": ("offset",),
    "done": ("n", "next"),
    "fail": (),
    "free": ("n", "offset"),
    "reuse": ("n", "offset"),
}
"""The fields that a row of an op cannot lack, beside those that every row has."""


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
    fields = [name for name in SLOT_EVENTS.schema if name not in _HEAD]
    return read_event(folder, "slot_events", SLOT_EVENTS.schema, may_be_null=fields)


def check_slot_events(rows: pl.DataFrame, ops: Collection[str] = tuple(_NEEDS)) -> None:
    """Refuse rows that are no slot events, or lack a value that their op needs.

    Parameters
    ----------
    rows : polars.DataFrame
    ops : collection of str
        Those whose fields are asked for; default: all.

    Raises
    ------
    InputError
        Naming the row, by its seq, and the field.
    """
    SLOT_EVENTS.check(rows)
    if rows.is_empty():
        raise InputError("the table has no rows: capture slot events first")
    lacking = pl.coalesce(
        *(pl.when(pl.col(name).is_null()).then(pl.lit(name)) for name in _HEAD),
        *(
            pl.when((pl.col("op") == op) & pl.col(name).is_null()).then(pl.lit(name))
            for op in ops
            for name in _NEEDS[op]
        ),
    )
    faulty = (
        rows.with_row_index("row")
        .with_columns(lacking=lacking)
        .filter(pl.col("lacking").is_not_null())
    )
    if faulty.height:
        first = faulty.row(0, named=True)
        where = f"row {first['row']}" if first["seq"] is None else f"row with seq {first['seq']}"
        raise InputError(
            f"the {where} has no value, and its op {first['op'] or 'none'} needs one: "
            "capture the trace again",
            field=first["lacking"],
        )


def slot_set_up(folder: Path | str) -> SlotSetUp:
    """Return how the kernel of a slot trace was set up.

    Raises
    ------
    InputError
        If trace.toml does not tell: name the policy and sizes by hand, to `replay.verify_slots`.
    """
    known = provenance(folder)

    def told(table: str, field: str, kind: type[_Told]) -> _Told:
        part = known.get(table)
        value = part.get(field) if isinstance(part, Mapping) else None
        # To Python, true is an int.
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InputError(
                f"does not tell how the kernel was set up (as {kind.__name__}): write it down",
                path=Path(folder) / PROVENANCE,
                field=f"{table}.{field}",
            )
        return value

    return SlotSetUp(
        policy=told("kernel", "swap_base", str),
        cpus=told("guest", "cpus", int),
        cluster_size=told("kernel", "cluster_size", int),
        trunk_shift=told("kernel", "trunk_shift", int),
    )


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
    frame = pl.concat(frames) if frames else pl.DataFrame(schema=HANDED_OUT.schema)
    return HANDED_OUT.check(frame)


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
