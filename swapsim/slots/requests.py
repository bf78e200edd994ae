# SPDX-License-Identifier: GPL-2.0-or-later
"""Request streams of a real kernel's slot events: what each task asked for, not where it got it."""

from pathlib import Path

import polars as pl

from swapsim.errors import InputError
from swapsim.slots.config import SlotsConfig
from swapsim.slots.events import check_slot_events, slot_events, slot_set_up
from swapsim.slots.tables import REQUEST_OP, REQUESTS
from swapsim.traces.folder import require_order


def request_streams(source: pl.DataFrame | Path | str) -> pl.DataFrame:
    """Take from a real kernel's slot events what each task asked for.

    Where the slots lay and in which order tasks took turns is left behind: the order is that of an
    emulator's time slices. Each slot handed out is a page out; each slot freed is that page in.

    Parameters
    ----------
    source : polars.DataFrame, Path or str
        SLOT_EVENTS, or a trace folder that has them.

    Returns
    -------
    polars.DataFrame
        Schema REQUESTS, one row per slot handed out or freed, in the order of the trace; tasks and
        address spaces are numbered as they appear.

    Raises
    ------
    InputError
        The table is not SLOT_EVENTS; its rows are out of order; or a slot, named by its seq, is
        handed out twice, or freed and was not handed out.
    """
    if isinstance(source, pl.DataFrame):
        return _requests(source)
    try:
        return _requests(slot_events(source))
    except InputError as error:
        raise error.of(Path(source) / "slot_events.parquet") from None


def _requests(events: pl.DataFrame) -> pl.DataFrame:
    check_slot_events(events, ops=("alloc", "free"))
    require_order(events)
    pages = _pages(events)
    tasks = _numbered_tasks(events)
    task_of = tasks.select("pid", "task")
    frame = (
        pages.join(tasks, on="pid", maintain_order="left")
        .join(task_of.rename({"pid": "owner_pid", "task": "owner"}), on="owner_pid")
        .sort("seq", "offset")
        .select(REQUESTS.names())
    )
    return REQUESTS.check(frame)


def _pages(events: pl.DataFrame) -> pl.DataFrame:
    """Return a row per page out or in: seq, pid, offset, op, and whose and which page it is."""
    gets = events.filter(op="alloc").select(
        "seq",
        "pid",
        pl.col("offset").cast(pl.Int64),
        op=pl.lit("get", dtype=REQUEST_OP.dtype),
        ordinal=pl.int_range(pl.len(), dtype=pl.UInt32).over("pid"),
    )
    freed = pl.when(pl.col("op") == "free").then("n").otherwise(0).cast(pl.UInt64).cum_sum()
    _refuse(
        events.filter(freed > (pl.col("op") == "alloc").cum_sum()),
        "is the first of more that are freed than were handed out",
    )
    first = pl.col("offset").cast(pl.Int64)
    puts = (
        events.filter(op="free")
        .select("seq", "pid", offset=pl.int_ranges(first, first + pl.col("n").cast(pl.Int64)))
        .explode("offset")
        .with_columns(
            op=pl.lit("put", dtype=REQUEST_OP.dtype), ordinal=pl.lit(None, dtype=pl.UInt32)
        )
    )
    before = pl.col("op").shift(1).over("offset")
    pages = pl.concat([gets, puts]).sort("offset", "seq").with_columns(before=before)
    _refuse(
        pages.filter((pl.col("op") == "get") & (pl.col("before") == "get")),
        "is handed out, but it is in use",
    )
    _refuse(
        pages.filter((pl.col("op") == "put") & pl.col("before").eq_missing("get").not_()),
        "is freed, but it was not handed out",
    )
    is_put = pl.col("op") == "put"
    return pages.with_columns(
        owner_pid=pl.when(is_put).then(pl.col("pid").shift(1).over("offset")).otherwise("pid"),
        ordinal=pl.when(is_put)
        .then(pl.col("ordinal").shift(1).over("offset"))
        .otherwise("ordinal"),
    )


def _refuse(rows: pl.DataFrame, why: str) -> None:
    if rows.height:
        first = rows.sort("seq").row(0, named=True)
        raise InputError(f"the row with seq {first['seq']}: slot {first['offset']} {why}")


def _numbered_tasks(events: pl.DataFrame) -> pl.DataFrame:
    """Return a row per pid: its number, and that of its address space, -1 for a kernel thread."""
    mine = pl.col("mm").filter(pl.col("mm") != 0).first()
    tasks = events.group_by("pid", maintain_order=True).agg(address=mine)
    spaces = tasks.select("address").drop_nulls().unique(maintain_order=True).with_row_index("mm")
    return (
        tasks.with_row_index("task")
        .join(spaces, on="address", how="left", maintain_order="left")
        .select(
            "pid",
            pl.col("task").cast(pl.UInt32),
            pl.col("mm").cast(pl.Int32).fill_null(-1),
        )
    )


def traced_device(folder: Path | str) -> SlotsConfig:
    """Return the device of a slot trace, as its events and its trace.toml tell.

    Raises
    ------
    InputError
        As for `slot_events` and `slot_set_up`.
    """
    known = slot_set_up(folder)
    calls = slot_events(folder).filter(op="call")
    if calls.is_empty():
        raise InputError("the slot events have no call: capture a trace that swaps", path=folder)
    return SlotsConfig(
        slots=calls.row(0, named=True)["highest"] + 1,
        cluster_size=known.cluster_size,
        trunk_shift=known.trunk_shift,
        possible_cpus=known.cpus,
        policy=known.policy,
    )
