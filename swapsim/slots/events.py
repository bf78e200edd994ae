# SPDX-License-Identifier: GPL-2.0-or-later
"""Slot events of a real kernel: the slots that it handed out, and what its tasks requested."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

import polars as pl

from swapsim.errors import InputError, errors_of
from swapsim.ffi import SLOT_FAULTS, SLOT_OPS
from swapsim.slots.config import REQUESTS, Device
from swapsim.tables import require
from swapsim.traces.folder import PROVENANCE, locate, provenance, read_event, require_order
from swapsim.traces.verification import refuse, require_ops

_Value = TypeVar("_Value", str, int)

FILE: Final = "slot_events.parquet"

SLOT_EVENTS: Final = pl.Schema(
    {"seq": pl.UInt64(), "cpu": pl.UInt16(), "pid": pl.Int32(), "mm": pl.UInt64()}
    | {"op": pl.Enum(SLOT_OPS)}
    | dict.fromkeys(("n", "offset", "base", "next", "lowest", "highest"), pl.UInt32())
)
"""A row per event of the slot allocator under si->lock, in lock order; null where an op has no such
field. ``call``: a task asks for slots; ``alloc``: a slot is handed out; ``done``: the call ends and
stores a base; ``fail``: it ends without a slot and stores none; ``free``: slots are freed;
``reuse``: a slot that only the swap cache holds is tried (``slot_replay.h``).

``mm`` is the caller's address space, 0 for a kernel thread; ``n`` are slots asked for, given or
freed, or 1 if a tried slot was freed; ``offset`` is a slot, or the first of several; ``base`` is
that before the call and ``next`` that after it; ``lowest`` and ``highest`` are the slots that the
call may use."""

SLOT_CALLS: Final = pl.Schema(
    {"seq": pl.UInt64(), "cpu": pl.UInt16(), "pid": pl.Int32()}
    | dict.fromkeys(("wanted", "slots", "exact", "raced", "mismatched"), pl.UInt32())
    | {"fault": pl.Enum(SLOT_FAULTS)}
)
"""A row per call that ended, in the order of their ends: ``seq`` of its first row; slots ``wanted``
and handed out, of which the model hands out as well (``exact``), or which a concurrent change
during an unlocked scan explains (``raced``); ``fault``: where the call first differs."""

_HEAD: Final = ("seq", "cpu", "pid", "mm", "op")

_NEEDS: Final = {
    "call": ("n", "base", "lowest", "highest"),
    "alloc": ("offset",),
    "done": ("n", "next"),
    "fail": (),
    "free": ("n", "offset"),
    "reuse": ("n", "offset"),
}
"""The fields that a row of each op needs in addition to _HEAD."""


def slot_events(trace: Path | str) -> pl.DataFrame:
    """Read the slot events of a trace, in lock order (SLOT_EVENTS)."""
    fields = [name for name in SLOT_EVENTS if name not in _HEAD]
    return read_event(trace, "slot_events", SLOT_EVENTS, may_be_null=fields)


def check_slot_events(rows: pl.DataFrame, ops: Collection[str] = tuple(_NEEDS)) -> None:
    """Require rows of SLOT_EVENTS, with each value that one of the given ops needs.

    An ``InputError`` names the row, by its seq, and the field.
    """
    require(rows, SLOT_EVENTS, "SLOT_EVENTS")
    require_ops(rows, _HEAD, {op: _NEEDS[op] for op in ops})


def set_up(trace: Path | str) -> Device:
    """Return the kernel and the machine of a trace, without the device's size, by its trace.toml.

    The policy is the boot parameter swap_base. An InputError says what is missing.
    """
    known, path = provenance(trace), locate(trace) / PROVENANCE

    def field(table: str, name: str, kind: type[_Value]) -> _Value:
        part = known.get(table)
        value = part.get(name) if isinstance(part, Mapping) else None
        # In Python, True is an int.
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InputError(
                f"does not say how the kernel was set up (as {kind.__name__}): add it",
                path=path,
                field=f"{table}.{name}",
            )
        return value

    with errors_of(path):
        return Device(
            policy=field("kernel", "swap_base", str),
            possible_cpus=field("guest", "cpus", int),
            cluster_size=field("kernel", "cluster_size", int),
            trunk_shift=field("kernel", "trunk_shift", int),
        )


def traced_device(trace: Path | str) -> Device:
    """Return the device of a slot trace, from its events and its trace.toml."""
    known = set_up(trace)
    calls = slot_events(trace).filter(op="call")
    if calls.is_empty():
        raise InputError("the slot events have no call: capture a trace that swaps", path=trace)
    return replace(known, slots=calls["highest"][0] + 1)


def request_streams(source: pl.DataFrame | Path | str) -> pl.DataFrame:
    """Return what each task of a slot trace requested: pages out and pages in (REQUESTS).

    Each slot handed out is a page out, each slot freed is that page in. Where the slots lay, and in
    which order the tasks ran, is dropped: the order is that of an emulator's time slices. Tasks and
    address spaces are numbered as they appear. A slot that is handed out twice, or freed without
    being handed out, is refused.
    """
    if not isinstance(source, pl.DataFrame):
        with errors_of(locate(source) / FILE):
            return request_streams(slot_events(source))
    check_slot_events(source, ops=("alloc", "free"))
    require_order(source)
    tasks = _numbered_tasks(source)
    return (
        _pages(source)
        .join(tasks, on="pid", maintain_order="left")
        .join(tasks.select(owner_pid="pid", owner="task"), on="owner_pid")
        .sort("seq", "offset")
        .select(REQUESTS.names())
    )


def _pages(events: pl.DataFrame) -> pl.DataFrame:
    """Return a row per page out or in: seq, pid, offset, op, owner_pid and ordinal."""
    gets = events.filter(op="alloc").select(
        "seq",
        "pid",
        pl.col("offset").cast(pl.Int64),
        op=pl.lit("get", dtype=REQUESTS["op"]),
        ordinal=pl.int_range(pl.len(), dtype=pl.UInt32).over("pid"),
    )
    freed = pl.when(pl.col("op") == "free").then("n").otherwise(0).cast(pl.UInt64).cum_sum()
    # Checked first: a free of 2**32 slots would take all memory below.
    slot = "the row with seq {seq}: slot {offset}"
    refuse(
        events.filter(freed > (pl.col("op") == "alloc").cum_sum()),
        f"{slot} is the first of more that are freed than were handed out",
    )
    first = pl.col("offset").cast(pl.Int64)
    puts = (
        events.filter(op="free")
        .select("seq", "pid", offset=pl.int_ranges(first, first + pl.col("n").cast(pl.Int64)))
        .explode("offset")
        .with_columns(op=pl.lit("put", dtype=REQUESTS["op"]), ordinal=pl.lit(None, dtype=pl.UInt32))
    )
    before = pl.col("op").shift(1).over("offset")
    pages = pl.concat([gets, puts]).sort("offset", "seq").with_columns(before=before)
    is_put = pl.col("op") == "put"
    taken = pages.filter(~is_put & (pl.col("before") == "get"))
    refuse(taken.sort("seq"), f"{slot} is handed out, but it is in use")
    unknown = pages.filter(is_put & pl.col("before").eq_missing("get").not_())
    refuse(unknown.sort("seq"), f"{slot} is freed, but it was not handed out")
    got = {name: pl.col(name).shift(1).over("offset") for name in ("pid", "ordinal")}
    return pages.with_columns(
        owner_pid=pl.when(is_put).then(got["pid"]).otherwise("pid"),
        ordinal=pl.when(is_put).then(got["ordinal"]).otherwise("ordinal"),
    )


def _numbered_tasks(events: pl.DataFrame) -> pl.DataFrame:
    """Return each pid with its number and that of its address space, -1 for a kernel thread."""
    mine = pl.col("mm").filter(pl.col("mm") != 0).first()
    tasks = events.group_by("pid", maintain_order=True).agg(address=mine)
    spaces = tasks.select("address").drop_nulls().unique(maintain_order=True).with_row_index("mm")
    return (
        tasks.with_row_index("task")
        .join(spaces, on="address", how="left", maintain_order="left")
        .select("pid", pl.col("task").cast(pl.UInt32), pl.col("mm").cast(pl.Int32).fill_null(-1))
    )


def first_free(requests: pl.DataFrame, trace: Path | str) -> int:
    """Return the index of the first row of REQUESTS that frees a slot of a trace."""
    freed = requests["op"] == "put"
    if not freed.any():
        raise InputError(
            "no slot is freed in this trace, so no base matters: choose a longer one",
            path=locate(trace) / FILE,
        )
    return freed.arg_max() or 0
