# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a real kernel's reclaim: rows that are checked, folios by list, lists by pass.

A recording begins and ends while tasks reclaim: the first list and pass of a task may lack their
beginning, the last ones their end. These are left out and counted; the same anywhere else is an
error of the trace.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.errors import errors_of
from swapsim.ffi import STALL_FLAGS_ALL, STALL_PRIORITY_MAX
from swapsim.stall import tables
from swapsim.traces.folder import event_names, read_event, require_events
from swapsim.traces.verification import check_tables, refuse

TABLES: Final[Mapping[str, pl.Schema]] = {
    "reclaim_folios": tables.RECLAIM_FOLIOS,
    "reclaim_lists": tables.RECLAIM_LISTS,
    "reclaim_passes": tables.RECLAIM_PASSES,
    "throttles": tables.THROTTLES,
    "reclaim_rounds": tables.RECLAIM_ROUNDS,
    "reclaim_clears": tables.RECLAIM_CLEARS,
}
"""The tables of a recording by the names of their events; those of the last three may not occur."""

_NULLABLE: Final[Mapping[str, tuple[str, ...]]] = {
    "reclaim_folios": (
        *("fs_dirty", "fs_writeback", "buffers", "congested"),
        *("clean", "under_writeback", "node_flags", "marked"),
    ),
    "reclaim_passes": ("throttle",),
    "throttles": ("congested_devices", "flags"),
    "reclaim_rounds": ("throttle",),
}
"""Columns in which a row of a table may have no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimRows:
    """The tables of a recording (RECLAIM_FOLIOS and so on), each sorted by seq."""

    folios: pl.DataFrame
    lists: pl.DataFrame
    passes: pl.DataFrame
    throttles: pl.DataFrame
    rounds: pl.DataFrame
    clears: pl.DataFrame

    def __post_init__(self) -> None:
        """Require rows that a kernel can write."""
        parts = (getattr(self, field.name) for field in fields(self))
        frames = dict(zip(TABLES, parts, strict=True))
        check_tables(frames, TABLES, _NULLABLE, may_be_empty=True)
        for name, frame in frames.items():
            for field, wrong, why in _CONTRADICTIONS[name]:
                _refuse_field(name, field, frame.filter(wrong), why)
        _check_shared_seq(frames)


def reclaim_rows(trace: Path) -> ReclaimRows:
    """Read the tables of a trace of reclaim; one without a file had no event, and is empty."""
    require_events(trace, "stall")
    found = event_names(trace)
    read = (
        read_event(trace, name, schema, may_be_null=_NULLABLE.get(name, ()))
        if name in found
        else pl.DataFrame(schema=schema)
        for name, schema in TABLES.items()
    )
    with errors_of(trace):
        return ReclaimRows(**{part.name: next(read) for part in fields(ReclaimRows)})


# Rows that contradict themselves or each other.


def _refuse_field(table: str, field: str, rows: pl.DataFrame, why: str) -> None:
    """Raise an InputError about a field of the first of these rows, if there is one."""
    what = f"the row with seq {{seq}} has {field} {{{field}}}: {why}"
    refuse(rows, what, field=f"{table}.{field}")


def _check_shared_seq(frames: Mapping[str, pl.DataFrame]) -> None:
    """Refuse a seq that two tables share: their rows would have no order."""
    small = pl.concat(
        frame.select("seq", table=pl.lit(name))
        for name, frame in frames.items()
        if name != "reclaim_folios"
    )
    folios, others = (frame["seq"].to_numpy() for frame in (frames["reclaim_folios"], small))
    of_folio = np.searchsorted(folios, others, "right") > np.searchsorted(folios, others)
    shared = small.filter(pl.col("seq").is_duplicated() | pl.Series(of_folio))
    for table in shared["table"].head(1):
        _refuse_field(table, "seq", shared, "another table has a row of the same seq")


def _zero(*names: str) -> list[tuple[str, pl.Expr, str]]:
    return [(name, pl.col(name) == 0, "it counts from 1") for name in names]


def _unknown_flags(*names: str) -> list[tuple[str, pl.Expr, str]]:
    return [(name, pl.col(name) > STALL_FLAGS_ALL, "1, 2 and 4 are known") for name in names]


_C: Final = pl.col
_PRIORITY: Final = (
    "priority",
    ~_C.priority.is_between(0, STALL_PRIORITY_MAX),
    f"it lies between 0 and {STALL_PRIORITY_MAX}",
)
_BOTH: Final = _C.writeback.cast(pl.UInt64) + _C.immediate
_COUNTERS: Final = (
    ("unqueued_dirty", _C.unqueued_dirty > _C.dirty, "more than are dirty"),
    ("dirty", _C.dirty > _C.scanned, "more than were scanned"),
    ("congested", _C.congested > _C.scanned, "more than were scanned"),
    ("writeback", _C.scanned < _BOTH, "with immediate more than were scanned"),
    *_unknown_flags("flags_before", "flags_after", "flags_set"),
    _PRIORITY,
)
_UNASKED: Final = _C.fs_dirty.is_null()
_OTHERS: Final = (_C.fs_writeback.is_null() != _UNASKED) | (_C.buffers.is_null() != _UNASKED)
_UNTESTED: Final = _C.under_writeback.is_null() != _C.node_flags.is_null()
_UNREAD: Final = (_C.reason == "wait_iff_congested") & _C.flags.is_null()
_SKIPPED: Final = (_C.timeout_us == 0) & (_C.delayed_us > 0)
_LOST: Final = (_C.step == "written") & _C.clean.is_null()
_CONTRADICTIONS: Final[Mapping[str, tuple[tuple[str, pl.Expr, str], ...]]] = {
    "reclaim_folios": (
        *_zero("list", "pages", "pages_end"),
        *_unknown_flags("node_flags"),
        ("pages_end", _C.pages_end > _C.pages, "more than it had"),
        ("fs_dirty", _OTHERS, "it has a value with fs_writeback and buffers, or none has"),
        ("private", ~_UNASKED & ~_C.private, "only private data is asked about"),
        ("under_writeback", _UNTESTED, "node_flags has a value with it, or neither has"),
        ("clean", _LOST, "a written folio came back clean or did not"),
    ),
    "reclaim_lists": (
        *_zero("list", "taken"),
        *_COUNTERS,
        ("reclaimed", _C.reclaimed > _C.taken, "more than were taken"),
    ),
    "reclaim_passes": (
        *_zero("pass"),
        *_COUNTERS,
        ("file_taken", _C.file_taken > _C.taken, "more than were taken"),
    ),
    "throttles": (
        *_unknown_flags("flags"),
        ("flags", _UNREAD, "wait_iff_congested reads them"),
        ("delayed_us", _SKIPPED, "it was skipped"),
    ),
    "reclaim_rounds": (*_zero("pass"), _PRIORITY),
    "reclaim_clears": (*_zero("flags"), *_unknown_flags("flags")),
}
"""For each table: the field at fault, when a row contradicts itself, and what is wrong then."""


# Folios by list, lists by pass.


OUTCOME_COUNTERS: Final = (
    *("pageout", "activate_anon", "activate_file", "ref_keep", "unmap_fail"),
    *("lazyfree_fail", "scanned", "reclaimed"),
)
"""Counters of a list that follow from its folios' outcomes, not from the rules."""

BEFORE_ALL: Final = -2
"""The seq of the row before a task's first one: possibly before the recording."""

_MET_AGAIN: Final = ("writeback_3", "demote")
"""Steps after which a folio goes back on its own list and has another row."""

_MOMENT: Final = pl.Enum(["first", "open", "list", "pass", "throttle", "round", "clear"])
"""The kinds of a task's moments."""

_ENDS: Final = {"list": ("list",), "pass": ("pass", "round")}
"""Kinds of rows that are written when a list or a pass has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Folios in the order of their lists, with the lists and passes that are complete.

    ``rows`` are all rows. ``folios`` has the RECLAIM_FOLIOS of complete lists, list after list in
    the order in which they began; ``ends`` is one past each list's last row there. ``lists`` and
    ``passes`` have complete ones only: ``first`` is the seq of the first row, ``after`` that of its
    task's row before it, ``last`` that of a list's last folio; a pass decided after the row
    ``decides``. ``moments`` has each task's rows in order, ``before`` being the seq of the task's
    row before it, or BEFORE_ALL; of a list's folios it has the first, of kind ``first``, or
    ``open`` if the list does not end. ``left_out`` counts lists and passes that are not judged, by
    kind.
    """

    rows: ReclaimRows
    folios: pl.DataFrame
    ends: np.ndarray[Any, np.dtype[np.uint64]]
    lists: pl.DataFrame
    passes: pl.DataFrame
    moments: pl.DataFrame
    left_out: dict[str, int]

    @property
    def starts(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return each list's first row of ``folios``."""
        return np.concatenate([[0], self.ends[:-1]]).astype(np.int64)


def gather(rows: ReclaimRows) -> Recording:
    """Gather each list's folios, and leave out what the recording cut."""
    folios = rows.folios
    if not folios["list"].is_sorted():
        folios = folios.sort("list", maintain_order=True)
    ended = rows.lists.select("list", "pass", "pid", "seq", "taken")
    lists = (
        _groups(folios)
        .join(ended, on="list", how="full", coalesce=True)
        .with_columns(pl.col("rows", "pages").fill_null(0))
        .sort("list")
    )
    _check_ends(lists, rows)
    moments = _moments(rows, lists)
    begun = {number: _begun(moments, number) for number in _ENDS}
    heads = {number: _at_the_head(begun[number], number) for number in _ENDS}
    # Numbers count from 1 as a recording begins: if list 1 is complete, nothing was lost.
    if lists.filter((pl.col("list") == 1) & (pl.col("pages") == pl.col("taken"))).height:
        heads = {number: head.clear() for number, head in heads.items()}
    inside = pl.col("seq").is_not_null() & ~pl.col("list").is_in(heads["list"].implode())
    lists = lists.with_columns(complete=inside)
    complete = lists.filter("complete")
    refuse(
        complete.filter(pl.col("pages") != pl.col("taken")),
        "the trace lacks folios: list {list} at seq {seq} took {taken} pages, and its folios have "
        "{pages}",
    )
    kept = np.repeat(lists["complete"].to_numpy(), lists["rows"].to_numpy())
    passes = _passes(rows, begun["pass"], heads["pass"])
    not_ended = lists["seq"].null_count()
    first = begun["list"].select("list", "first", "after")
    return Recording(
        rows=rows,
        folios=folios if kept.all() else folios.filter(pl.Series(kept)),
        ends=complete["rows"].cast(pl.UInt64).cum_sum().to_numpy(),
        lists=complete.select("list", "rows", "last")
        .join(first, on="list", how="left", maintain_order="left")
        .join(rows.lists, on="list", how="left", maintain_order="left"),
        passes=passes,
        moments=moments,
        left_out={
            "lists that may have begun before the recording": (
                lists.height - not_ended - complete.height
            ),
            "lists not ended in it": not_ended,
            "passes that may have begun before the recording": rows.passes.height - passes.height,
            "passes not ended in it": int((~begun["pass"]["ended"]).sum()),
        },
    )


def _groups(folios: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each list that has folios: where they lie, their task and their pages."""
    runs = folios["list"].rle().struct.unnest()
    ends = runs["len"].cum_sum().to_numpy()
    starts = ends - runs["len"].to_numpy()
    seq, pid = folios["seq"].to_numpy(), folios["pid"].to_numpy()
    gone = pl.col("step").is_in(_MET_AGAIN) | (pl.col("outcome") == "split")
    pages = folios.select(pl.when(gone).then(0).otherwise("pages_end")).to_series().to_numpy()
    other_task = pid != np.repeat(pid[starts], ends - starts)
    return pl.DataFrame(
        {
            "list": runs["value"],
            "rows": runs["len"],
            "first": seq[starts],
            "last": seq[ends - 1],
            "task": pid[starts],
            "other_task": np.logical_or.reduceat(other_task, starts),
            "pages": np.add.reduceat(pages, starts, dtype=np.uint32),
        }
    )


def _check_ends(lists: pl.DataFrame, rows: ReclaimRows) -> None:
    """Refuse numbers that come twice, and folios of other tasks or after their list's end."""
    for table, number in ((rows.lists, "list"), (rows.passes, "pass")):
        again = table.filter(~pl.col(number).is_first_distinct())
        refuse(again, f"{number} {{{number}}} ends again at seq {{seq}}")
    others = lists.filter(pl.col("other_task") | (pl.col("task") != pl.col("pid")))
    refuse(others, "list {list} has folios of several tasks")
    refuse(
        lists.filter(pl.col("last") > pl.col("seq")),
        "list {list} ends at seq {seq}, before its folio at seq {last}",
        "sort the rows",
    )
    same = {name: f"{name}_of_pass" for name in ("pid", "nid", "kswapd", "priority")}
    same["target"] = "memcg_of_pass"
    differs = (pl.col(name) != pl.col(other) for name, other in same.items())
    owners = rows.lists.filter(pl.col("pass") > 0)
    refuse(
        owners.join(rows.passes, on="pass", suffix="_of_pass", maintain_order="left")
        .filter(pl.any_horizontal(*differs, pl.col("seq") > pl.col("seq_of_pass")))
        .select("list", "seq", "pass", "seq_of_pass"),
        "list {list} at seq {seq} contradicts its pass {pass} at seq {seq_of_pass} (task, node, "
        "caller, priority or order)",
    )


def _moments(rows: ReclaimRows, lists: pl.DataFrame) -> pl.DataFrame:
    """Return the moments of Recording; the pass of a list that does not end is unknown."""
    zero = pl.lit(0, dtype=pl.UInt64)
    kinds = {kind: pl.lit(kind, dtype=_MOMENT) for kind in _MOMENT.categories}
    opened = pl.when(pl.col("seq").is_null()).then(kinds["open"]).otherwise(kinds["first"])
    parts = [
        lists.filter(pl.col("first").is_not_null()).select(
            pl.coalesce("pid", "task").alias("pid"),
            "list",
            pl.col("pass").fill_null(0),
            seq="first",
            kind=opened,
        ),
        rows.lists.with_columns(kind=kinds["list"]),
        rows.passes.with_columns(list=zero, kind=kinds["pass"]),
        rows.throttles.with_columns(kind=kinds["throttle"]),
        rows.rounds.with_columns(list=zero, kind=kinds["round"]),
        rows.clears.with_columns(list=zero, kind=kinds["clear"], **{"pass": zero}),
    ]
    seq, same_task = pl.col("seq").cast(pl.Int64), pl.col("pid") == pl.col("pid").shift()
    return (
        pl.concat([part.select("pid", "seq", "list", "pass", "kind") for part in parts])
        .sort("seq")
        .sort("pid", maintain_order=True)
        .with_columns(before=pl.when(same_task).then(seq.shift()).otherwise(BEFORE_ALL))
    )


def _begun(moments: pl.DataFrame, number: str) -> pl.DataFrame:
    """Return the first and last row of each list or pass, and the row of its task before it."""
    ends = pl.col("kind").is_in(_ENDS[number])
    named = moments.filter(pl.col(number) > 0).with_columns(ends=ends)
    begins = np.ones(named.height, dtype=bool)
    pid, of = (named[name].to_numpy() for name in ("pid", number))
    begins[1:] = (pid[1:] != pid[:-1]) | (of[1:] != of[:-1])
    starts = np.flatnonzero(begins)
    lasts = np.append(starts, named.height)[1:] - 1
    begun = named[starts].select(
        *("pid", number),
        first="seq",
        after="before",
        last=named["seq"][lasts],
        ended=pl.Series(np.logical_or.reduceat(named["ends"].to_numpy(), starts)),
    )
    refuse(
        begun.filter(pl.col(number).is_duplicated()).sort(number, maintain_order=True),
        f"{number} {{{number}}} of task {{pid}} is open at the same time as another one of this "
        "task, so rows are out of order, or those of two tasks",
    )
    ignored = ["clear"] if number == "list" else ["clear", "open"]
    others = moments.filter(~pl.col("kind").is_in(ignored))
    refuse(
        begun.filter(~pl.col("ended"))
        .join(others.group_by("pid").agg(goes_on=pl.col("seq").max()), on="pid")
        .filter(pl.col("goes_on") > pl.col("last"))
        .sort("last"),
        f"{number} {{{number}}} of task {{pid}}, last seen at seq {{last}}, has no end though its "
        "task goes on",
    )
    return begun


def _at_the_head(begun: pl.DataFrame, number: str) -> pl.Series:
    """Return the lists or passes within which a recording may have begun.

    Such a one is its task's first, and its number was given out before any task's second.
    """
    order = begun.group_by("pid", maintain_order=True).agg(
        first=pl.col(number).first(), second=pl.col(number).get(1, null_on_oob=True)
    )
    second = pl.col("second").min()
    return order.filter(second.is_null() | (pl.col("first") < second))["first"]


def _passes(rows: ReclaimRows, begun: pl.DataFrame, head: pl.Series) -> pl.DataFrame:
    """Return complete passes, with the moments around what they saw and decided."""
    passes, first = rows.passes, begun.select("pass", "first", "after")
    # A pass decides before its own sleeps; its round comes after it.
    own_sleeps = rows.throttles.join(passes.select("pass", end="seq"), on="pass").filter(
        (pl.col("list") == 0)
        & ~pl.col("reason").is_in(["writeback", "congested"])
        & (pl.col("seq") < pl.col("end"))
    )
    before = pl.concat([part.select("pass", "seq") for part in (rows.lists, own_sleeps)])
    last = before.group_by("pass").agg(last=pl.col("seq").max().cast(pl.Int64))
    return (
        passes.filter(~pl.col("pass").is_in(head.implode()))
        .join(first, on="pass", how="left", maintain_order="left")
        .join(last, on="pass", how="left", maintain_order="left")
        .with_columns(decides=pl.coalesce("last", "after"))
        .drop("last")
    )
