# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a real kernel's reclaim: the folios gathered by list, the lists by pass.

A recording begins and ends while tasks reclaim: the first list and pass of a task may lack their
beginning, the last ones their end. These are left out and counted; the same anywhere else is an
error of the trace.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.stall.rows import ReclaimRows
from swapsim.traces.verification import refuse

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
    begun = {number: _begun(moments, number) for number in _ENDS}
    heads = {number: _at_the_head(begun[number], number) for number in _ENDS}
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
        .join(begun["list"].drop("pid"), on="list", how="left", maintain_order="left")
    )
    with_rows = lists.filter(pl.col("rows").is_not_null())
    kept = np.repeat(with_rows["complete"].to_numpy(), with_rows["rows"].to_numpy())
    complete, passes = lists.filter("complete"), _passes(rows, begun["pass"], heads["pass"])
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


def _begun(moments: pl.DataFrame, number: str) -> pl.DataFrame:
    """Return the first row of each list or pass, and the row of its task before it."""
    named = moments.filter(pl.col(number) > 0)
    return named.filter(pl.col(number).is_first_distinct()).select(
        "pid", number, first="seq", after="before"
    )


def _at_the_head(begun: pl.DataFrame, number: str) -> pl.Series:
    """Return the lists or passes within which a recording may have begun.

    Such a one is its task's first, and its number was given out before any task's second.
    """
    order = begun.group_by("pid", maintain_order=True)
    first, second = (order.agg(pl.col(number).get(nth, null_on_oob=True))[number] for nth in (0, 1))
    return first if second.min() is None else first.filter(first < second.min())


def _passes(rows: ReclaimRows, begun: pl.DataFrame, head: pl.Series) -> pl.DataFrame:
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
        rows.passes.join(begun.drop("pid"), on="pass", how="left", maintain_order="left")
        .join(last, on="pass", how="left", maintain_order="left")
        .filter(~pl.col("pass").is_in(head.implode()))
        .with_columns(decides=pl.coalesce("last", "after"))
        .drop("last")
    )
