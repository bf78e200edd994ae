# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a real kernel's reclaim: read, each row checked, folios gathered by list.

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

from swapsim.checks import checked
from swapsim.ffi import STALL_FLAGS_ALL, STALL_PRIORITY_MAX
from swapsim.frames.files import require_values
from swapsim.frames.table import Table
from swapsim.stall.tables import (
    RECLAIM_CLEARS,
    RECLAIM_FOLIOS,
    RECLAIM_LISTS,
    RECLAIM_PASSES,
    RECLAIM_ROUNDS,
    THROTTLES,
)
from swapsim.traces.folder import event_names, provenance, read_event, require_order
from swapsim.traces.verification import errors_of, refuse

TABLES: Final[Mapping[str, Table]] = {
    "reclaim_folios": RECLAIM_FOLIOS,
    "reclaim_lists": RECLAIM_LISTS,
    "reclaim_passes": RECLAIM_PASSES,
    "throttles": THROTTLES,
    "reclaim_rounds": RECLAIM_ROUNDS,
    "reclaim_clears": RECLAIM_CLEARS,
}
"""The tables of a recording by the names of their events."""

NEEDED: Final = ("reclaim_folios", "reclaim_lists", "reclaim_passes")
"""Tables that a recording must have; events of the others may not have occurred."""

OUTCOME_COUNTERS: Final = (
    *("pageout", "activate_anon", "activate_file", "ref_keep", "unmap_fail"),
    *("lazyfree_fail", "scanned", "reclaimed"),
)
"""Counters of a list that follow from its folios' outcomes, not from the rules."""

BEFORE_ALL: Final = -2
"""The seq of the row before a task's first one: possibly before the recording."""

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

_MET_AGAIN: Final = ("writeback_3", "demote")
"""Steps after which a folio goes back on its own list and has another row."""

_MOMENT: Final = pl.Enum(["first", "open", "list", "pass", "throttle", "round", "clear"])
"""The kinds of a task's moments."""

_ENDS: Final = {"list": ("list",), "pass": ("pass", "round")}
"""Kinds of rows that are written when a list or a pass has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimRows:
    """The tables of a recording (RECLAIM_FOLIOS and so on), each sorted by seq.

    InputError if a table has another schema, is out of order, shares a seq with another one, or has
    a row that contradicts itself.
    """

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
        for name, frame in frames.items():
            with errors_of(name):
                TABLES[name].check(frame)
                nullable = _NULLABLE.get(name, ())
                require_values(frame, [name for name in frame.columns if name not in nullable])
                require_order(frame)
            for field, wrong, why in _CONTRADICTIONS[name]:
                _refuse_field(name, field, frame.filter(wrong), why)
        _check_shared_seq(frames)


@checked
def reclaim_rows(folder: Path | str) -> ReclaimRows:
    """Read the tables of a trace of reclaim.

    Returns
    -------
    ReclaimRows
        A table without a file is empty: its event did not occur.

    Raises
    ------
    InputError
        A needed table is missing, or as for `ReclaimRows`.
    """
    provenance(folder)
    found = {*event_names(folder), *NEEDED}
    read = (
        read_event(folder, name, table.schema, may_be_null=_NULLABLE.get(name, ()))
        if name in found
        else pl.DataFrame(schema=table.schema)
        for name, table in TABLES.items()
    )
    with errors_of(folder):
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


_Contradiction = tuple[str, pl.Expr, str]


def _above(field: str, other: str, why: str) -> _Contradiction:
    return field, pl.col(field) > pl.col(other), why


def _unknown_flags(*names: str) -> list[_Contradiction]:
    return [(name, pl.col(name) > STALL_FLAGS_ALL, "1, 2 and 4 are known") for name in names]


def _zero(*names: str) -> list[_Contradiction]:
    return [(name, pl.col(name) == 0, "it counts from 1") for name in names]


_PRIORITY: Final = (
    "priority",
    ~pl.col("priority").is_between(0, STALL_PRIORITY_MAX),
    f"it lies between 0 and {STALL_PRIORITY_MAX}",
)
_COUNTERS: Final = [
    _above("unqueued_dirty", "dirty", "more than are dirty"),
    _above("dirty", "scanned", "more than were scanned"),
    _above("congested", "scanned", "more than were scanned"),
    (
        "writeback",
        pl.col("writeback").cast(pl.UInt64) + pl.col("immediate") > pl.col("scanned"),
        "with immediate more than were scanned",
    ),
    *_unknown_flags("flags_before", "flags_after", "flags_set"),
    _PRIORITY,
]
_UNASKED: Final = pl.col("fs_dirty").is_null()
_CONTRADICTIONS: Final[Mapping[str, list[_Contradiction]]] = {
    "reclaim_folios": [
        *_zero("list", "pages", "pages_end"),
        *_unknown_flags("node_flags"),
        _above("pages_end", "pages", "more than it had"),
        (
            "fs_dirty",
            (pl.col("fs_writeback").is_null() != _UNASKED)
            | (pl.col("buffers").is_null() != _UNASKED),
            "fs_dirty, fs_writeback and buffers have values together or not at all",
        ),
        ("private", ~_UNASKED & ~pl.col("private"), "only private data is asked about"),
        (
            "under_writeback",
            pl.col("under_writeback").is_null() != pl.col("node_flags").is_null(),
            "node_flags has a value with it, or neither has",
        ),
        (
            "clean",
            (pl.col("step") == "written") & pl.col("clean").is_null(),
            "a written folio came back clean or did not",
        ),
    ],
    "reclaim_lists": [
        *_zero("list", "taken"),
        *_COUNTERS,
        _above("reclaimed", "taken", "more than were taken"),
    ],
    "reclaim_passes": [
        *_zero("pass"),
        *_COUNTERS,
        _above("file_taken", "taken", "more than were taken"),
    ],
    "throttles": [
        *_unknown_flags("flags"),
        (
            "flags",
            (pl.col("reason") == "wait_iff_congested") & pl.col("flags").is_null(),
            "wait_iff_congested reads them",
        ),
        ("delayed_us", (pl.col("timeout_us") == 0) & (pl.col("delayed_us") > 0), "it was skipped"),
    ],
    "reclaim_rounds": [*_zero("pass"), _PRIORITY],
    "reclaim_clears": [*_zero("flags"), *_unknown_flags("flags")],
}
"""For each table: the field at fault, when a row contradicts itself, and what is wrong then."""


# Folios by list, lists by pass.


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
    """Gather each list's folios, and leave out what the recording cut.

    InputError names a list or a pass that has two ends or two tasks, is open at the same time as
    another one of its task, lacks folios, or does not end though its task goes on.
    """
    folios = rows.folios
    if not folios["list"].is_sorted():
        folios = folios.sort("list", maintain_order=True)
    lists = _groups(folios).join(rows.lists, on="list", how="full", coalesce=True).sort("list")
    _check_ends(lists, rows)
    moments = _moments(rows, lists)
    for number in _ENDS:
        _check_open(moments, number)
    heads = {number: _at_the_head(moments, number) for number in _ENDS}
    # Numbers count from 1 as a recording begins: if list 1 is complete, nothing was lost.
    if lists.filter((pl.col("list") == 1) & (pl.col("pages") == pl.col("taken"))).height:
        heads = {number: head.clear() for number, head in heads.items()}
    inside = ~lists["list"].is_in(heads["list"].implode()) & lists["seq"].is_not_null()
    counted = lists.with_columns(pl.col("pages").fill_null(0))
    refuse(
        counted.filter(inside & (pl.col("pages") != pl.col("taken"))),
        "the trace lacks folios: list {list} at seq {seq} took {taken} pages, and its folios have "
        "{pages}",
    )
    lists = (
        lists.with_columns(complete=inside)
        .drop("first")
        .join(_begun(moments, "list"), on="list", how="left", maintain_order="left")
    )
    with_rows = lists.filter(pl.col("rows").is_not_null())
    kept = np.repeat(with_rows["complete"].to_numpy(), with_rows["rows"].to_numpy())
    complete, passes = lists.filter("complete"), _passes(rows, moments, heads["pass"])
    ended = pl.col("kind").is_in(_ENDS["pass"]).any()
    of_passes = moments.filter(pl.col("pass") > 0).group_by("pass").agg(ended=ended)
    return Recording(
        rows=rows,
        folios=folios if kept.all() else folios.filter(pl.Series(kept)),
        ends=complete["rows"].cast(pl.UInt64).cum_sum().to_numpy(),
        lists=complete,
        passes=passes,
        moments=moments,
        left_out={
            "lists that may have begun before the recording": int(
                (~lists["complete"] & lists["seq"].is_not_null()).sum()
            ),
            "lists not ended in it": int(lists["seq"].is_null().sum()),
            "passes that may have begun before the recording": rows.passes.height - passes.height,
            "passes not ended in it": int((~of_passes["ended"]).sum()),
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
            "other_task": np.maximum.reduceat(other_task, starts) if len(starts) else [],
            "pages": np.add.reduceat(pages, starts) if len(starts) else [],
        },
        schema_overrides={"other_task": pl.Boolean, "pages": pl.UInt32},
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
    owners = rows.lists.filter(pl.col("pass") > 0).join(rows.passes, on="pass", suffix="_of_pass")
    differs = (pl.col(name) != pl.col(other) for name, other in same.items())
    refuse(
        owners.filter(pl.any_horizontal(*differs, pl.col("seq") > pl.col("seq_of_pass"))),
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
            pl.col("first").alias("seq"),
            pl.coalesce("pid", "task").alias("pid"),
            "list",
            pl.col("pass").fill_null(0),
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


def _check_open(moments: pl.DataFrame, number: str) -> None:
    """Refuse a task with two lists or passes open at once, and one that leaves one open."""
    named = moments.filter(pl.col(number) > 0)
    begins = (pl.col(number) != pl.col(number).shift()) | (pl.col("pid") != pl.col("pid").shift())
    runs = named.filter(begins.fill_null(value=True))
    refuse(
        runs.filter(pl.col(number).is_duplicated()).sort(number, maintain_order=True),
        f"{number} {{{number}}} of task {{pid}} is open at the same time as another one of this "
        "task, so rows are out of order, or those of two tasks",
    )
    ended = named.filter(pl.col("kind").is_in(_ENDS[number]))[number]
    ignored = ["clear"] if number == "list" else ["clear", "open"]
    others = moments.filter(~pl.col("kind").is_in(ignored))
    stopped = (
        named.filter(~pl.col(number).is_in(ended.implode()))
        .group_by(number, "pid")
        .agg(last=pl.col("seq").max())
        .join(others.group_by("pid").agg(ends=pl.col("seq").max()), on="pid")
        .filter(pl.col("ends") > pl.col("last"))
        .sort("last")
    )
    refuse(
        stopped,
        f"{number} {{{number}}} of task {{pid}}, last seen at seq {{last}}, has no end though its "
        "task goes on",
    )


def _at_the_head(moments: pl.DataFrame, number: str) -> pl.Series:
    """Return the lists or passes within which a recording may have begun.

    Such a one is its task's first, and its number was given out before any task's second.
    """
    named = moments.filter(pl.col(number) > 0)
    order = named.filter(pl.col(number).is_first_distinct()).group_by("pid", maintain_order=True)
    first, second = (order.agg(pl.col(number).get(nth, null_on_oob=True))[number] for nth in (0, 1))
    return first if second.min() is None else first.filter(first < second.min())


def _begun(moments: pl.DataFrame, number: str) -> pl.DataFrame:
    """Return the first row of each list or pass, and the row of its task before it."""
    named = moments.filter(pl.col(number) > 0)
    return named.filter(pl.col(number).is_first_distinct()).select(
        number, first="seq", after="before"
    )


def _passes(rows: ReclaimRows, moments: pl.DataFrame, head: pl.Series) -> pl.DataFrame:
    """Return complete passes, with the moments around what they saw and decided."""
    # A pass decides before its own sleeps; its round comes after it.
    ends = rows.passes.select("pass", end="seq")
    own_sleeps = rows.throttles.join(ends, on="pass").filter(
        (pl.col("list") == 0)
        & ~pl.col("reason").is_in(["writeback", "congested"])
        & (pl.col("seq") < pl.col("end"))
    )
    before = pl.concat([part.select("pass", "seq") for part in (rows.lists, own_sleeps)])
    last = before.group_by("pass").agg(last=pl.col("seq").max().cast(pl.Int64))
    return (
        rows.passes.join(_begun(moments, "pass"), on="pass", how="left", maintain_order="left")
        .join(last, on="pass", how="left", maintain_order="left")
        .filter(~pl.col("pass").is_in(head.implode()))
        .with_columns(decides=pl.coalesce("last", "after"))
        .drop("last")
    )
