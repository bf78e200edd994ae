# SPDX-License-Identifier: GPL-2.0-or-later
"""Reclaim's folios by list, lists by pass, and which of them a recording holds whole.

A recording begins and ends while tasks reclaim: of each task the first list and pass may lack their
beginning, the last ones their end. These are left out and counted; the same anywhere else is an
error of the trace.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.errors import InputError
from swapsim.stall.flags import BEFORE_ALL
from swapsim.stall.recording import ReclaimRows

_MET_AGAIN: Final = ("writeback_3", "demote")
"""Steps after which a folio goes back on its own list: another row tells of it again."""

_ENDS: Final = {"list": ("list",), "pass": ("pass", "round")}
"""Rows that are written when a list has ended, or a pass."""

_AGAIN: Final = "capture the trace again"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimLists:
    """Folios in the order of their lists, with the lists and passes that are whole.

    Attributes
    ----------
    folios : polars.DataFrame
        RECLAIM_FOLIOS of whole lists, list after list in the order in which they began.
    ends : numpy.ndarray
        One past each list's last row of ``folios``.
    lists : polars.DataFrame
        RECLAIM_LISTS of whole lists in that order. ``first`` is the seq of its first row, ``last``
        that of its last folio, ``after`` that of its task's row before it.
    passes : polars.DataFrame
        RECLAIM_PASSES of whole passes. ``first`` is the seq of its first row, ``after`` that of its
        task's row before it; it decided after ``decides``.
    moments : polars.DataFrame
        Each task's rows in order, as ``pid``, ``seq``, ``list``, ``pass``, ``kind`` and
        ``before``, the seq of its row before, BEFORE_ALL for none. Of a list's folios it has the
        first, of kind ``first``, or ``open`` if the list does not end.
    left_out : dict of str to int
        What is not judged, by kind.
    """

    folios: pl.DataFrame
    ends: np.ndarray[Any, np.dtype[np.uint64]]
    lists: pl.DataFrame
    passes: pl.DataFrame
    moments: pl.DataFrame
    left_out: dict[str, int]


def gather(rows: ReclaimRows) -> ReclaimLists:
    """Bring each list's folios together and leave out what the recording cut.

    Raises
    ------
    InputError
        A list or a pass, named by its number, has two ends or two tasks, is open beside another one
        of its task, lacks folios, or never ends though its task goes on.
    """
    folios = rows.folios
    if not folios["list"].is_sorted():
        folios = folios.sort("list", maintain_order=True)
    lists = _groups(folios).join(rows.lists, on="list", how="full", coalesce=True).sort("list")
    _check_ends(lists, rows)
    moments = _moments(rows, lists)
    for number in ("list", "pass"):
        _check_open(moments, number)
    heads = {number: _at_the_head(moments, number) for number in _ENDS}
    # Numbers count from 1 as a recording begins: if list 1 is whole, all are.
    if lists.filter((pl.col("list") == 1) & (pl.col("pages") == pl.col("taken"))).height:
        heads = {number: head.clear() for number, head in heads.items()}
    lists = (
        lists.with_columns(whole=_whole(lists, heads["list"]))
        .drop("first")
        .join(_begun(moments, "list"), on="list", how="left", maintain_order="left")
    )
    in_rows = lists.filter(pl.col("rows").is_not_null())
    held = np.repeat(in_rows["whole"].to_numpy(), in_rows["rows"].to_numpy())
    whole, passes = lists.filter("whole"), _passes(rows, moments, heads["pass"])
    return ReclaimLists(
        folios=folios if held.all() else folios.filter(pl.Series(held)),
        ends=whole["rows"].cast(pl.UInt64).cum_sum().to_numpy(),
        lists=whole,
        passes=passes,
        moments=moments,
        left_out={
            "lists that may have begun before the recording": int(
                (~lists["whole"] & lists["seq"].is_not_null()).sum()
            ),
            "lists not ended in it": int(lists["seq"].is_null().sum()),
            "passes that may have begun before the recording": rows.passes.height - passes.height,
            "passes not ended in it": moments.filter(pl.col("pass") > 0)
            .group_by("pass")
            .agg(ended=pl.col("kind").is_in(_ENDS["pass"]).any())
            .select((~pl.col("ended")).sum())
            .item(),
        },
    )


def _groups(folios: pl.DataFrame) -> pl.DataFrame:
    """Return a row per list that has folios: where they lie, whose they are, and their pages."""
    runs = folios["list"].rle().struct.unnest()
    ends = runs["len"].cum_sum().to_numpy()
    starts = ends - runs["len"].to_numpy()
    seq, pid = folios["seq"].to_numpy(), folios["pid"].to_numpy()
    pages = folios.select(
        pl.when(pl.col("step").is_in(_MET_AGAIN) | (pl.col("outcome") == "split"))
        .then(0)
        .otherwise("pages_end")
    ).to_series()
    empty = not len(starts)
    return pl.DataFrame(
        {
            "list": runs["value"],
            "rows": runs["len"],
            "first": seq[starts],
            "last": seq[ends - 1],
            "task": pid[starts],
            "of_one": []
            if empty
            else np.minimum.reduceat(pid, starts) == np.maximum.reduceat(pid, starts),
            "pages": [] if empty else np.add.reduceat(pages.to_numpy(), starts),
        },
        schema_overrides={"of_one": pl.Boolean, "pages": pl.UInt32},
    )


def _check_ends(lists: pl.DataFrame, rows: ReclaimRows) -> None:
    """Refuse numbers that come twice, and folios of other tasks or after their list's end."""
    for table, number in ((rows.lists, "list"), (rows.passes, "pass")):
        twice = table.filter(pl.col(number).is_duplicated())
        if twice.height:
            row = twice.row(1, named=True)
            raise InputError(f"{number} {row[number]} ends again at seq {row['seq']}: {_AGAIN}")
    others = lists.filter(~pl.col("of_one") | (pl.col("task") != pl.col("pid")))
    if others.height:
        raise InputError(f"list {others['list'][0]} has folios of several tasks: {_AGAIN}")
    late = lists.filter(pl.col("last") > pl.col("seq"))
    if late.height:
        row = late.row(0, named=True)
        raise InputError(
            f"list {row['list']} ends at seq {row['seq']}, before its folio at seq {row['last']}: "
            "rows are out of order; sort them"
        )
    owners = (
        rows.lists.filter(pl.col("pass") > 0)
        .join(rows.passes, on="pass", suffix="_of_pass")
        .filter(
            pl.any_horizontal(
                pl.col(field) != pl.col(f"{field}_of_pass")
                for field in ("pid", "nid", "kswapd", "priority")
            )
            | (pl.col("target") != pl.col("memcg_of_pass"))
            | (pl.col("seq") > pl.col("seq_of_pass"))
        )
    )
    if owners.height:
        row = owners.row(0, named=True)
        raise InputError(
            f"list {row['list']} at seq {row['seq']} contradicts its pass {row['pass']} at seq "
            f"{row['seq_of_pass']} (task, node, who reclaims, priority or order): {_AGAIN}"
        )


def _moments(rows: ReclaimRows, lists: pl.DataFrame) -> pl.DataFrame:
    """Return the moments of ReclaimLists; the pass of a list that does not end is not told."""
    none = pl.lit(0, dtype=pl.UInt64)
    parts = [
        lists.filter(pl.col("first").is_not_null()).select(
            seq="first",
            pid=pl.coalesce("pid", "task"),
            list="list",
            kind=pl.when(pl.col("seq").is_null()).then(pl.lit("open")).otherwise(pl.lit("first")),
            **{"pass": pl.col("pass").fill_null(0)},
        ),
        rows.lists.select("seq", "pid", "list", "pass", kind=pl.lit("list")),
        rows.passes.select("seq", "pid", "pass", list=none, kind=pl.lit("pass")),
        rows.throttles.select("seq", "pid", "list", "pass", kind=pl.lit("throttle")),
        rows.rounds.select("seq", "pid", "pass", list=none, kind=pl.lit("round")),
        rows.clears.select("seq", "pid", list=none, kind=pl.lit("clear"), **{"pass": none}),
    ]
    return (
        pl.concat([part.select("pid", "seq", "list", "pass", "kind") for part in parts])
        .sort("pid", "seq")
        .with_columns(before=pl.col("seq").cast(pl.Int64).shift().over("pid").fill_null(BEFORE_ALL))
    )


def _check_open(moments: pl.DataFrame, number: str) -> None:
    """Refuse a task with two lists, or passes, open at once, and one that leaves one open."""
    named = moments.filter(pl.col(number) > 0)
    run = named.select((pl.struct("pid", number)).rle_id()).to_series()
    runs = (
        named.with_columns(run=run)
        .group_by(number)
        .agg(
            runs=pl.col("run").n_unique(),
            ended=pl.col("kind").is_in(_ENDS[number]).any(),
            pid=pl.col("pid").first(),
            last=pl.col("seq").max(),
        )
        .sort(number)
    )
    apart = runs.filter(pl.col("runs") > 1)
    if apart.height:
        row = apart.row(0, named=True)
        raise InputError(
            f"{number} {row[number]} of task {row['pid']} is open beside another one of its: "
            f"rows are out of order, or those of two tasks; {_AGAIN}"
        )
    besides = ["clear"] if number == "list" else ["clear", "open"]
    goes_on = (
        moments.filter(~pl.col("kind").is_in(besides)).group_by("pid").agg(ends=pl.col("seq").max())
    )
    stopped = (
        runs.filter(~pl.col("ended"))
        .join(goes_on, on="pid")
        .filter(pl.col("ends") > pl.col("last"))
        .sort("last")
    )
    if stopped.height:
        row = stopped.row(0, named=True)
        raise InputError(
            f"{number} {row[number]} of task {row['pid']}, last seen at seq {row['last']}, has no "
            f"end though its task goes on: {_AGAIN}"
        )


def _at_the_head(moments: pl.DataFrame, number: str) -> pl.Series:
    """Return the lists, or passes, within which a recording may have begun that lost its beginning.

    Such a one is its task's first, and its number was given out before any task's second.
    """
    named = moments.filter(pl.col(number) > 0).unique(number, keep="first", maintain_order=True)
    order = named.with_columns(nth=pl.col("seq").rank("ordinal").over("pid"))
    second = order.filter(pl.col("nth") == 2)[number].min()
    first = order.filter(pl.col("nth") == 1)[number]
    return first if second is None else first.filter(first < second)


def _whole(lists: pl.DataFrame, head: pl.Series) -> pl.Series:
    """Return which lists have their end and all their folios."""
    inside = ~lists["list"].is_in(head.implode()) & lists["seq"].is_not_null()
    wrong = lists.filter(inside & (lists["pages"].fill_null(0) != lists["taken"]))
    if wrong.height:
        row = wrong.row(0, named=True)
        raise InputError(
            f"list {row['list']} at seq {row['seq']} took {row['taken']} pages, and its folios "
            f"have {row['pages'] or 0}: the trace lacks folios; {_AGAIN}"
        )
    return inside


def _begun(moments: pl.DataFrame, number: str) -> pl.DataFrame:
    """Return the first row of each list, or pass, and that of its task before it."""
    named = moments.filter(pl.col(number) > 0)
    return named.group_by(number).agg(first=pl.col("seq").min(), after=pl.col("before").min())


def _passes(rows: ReclaimRows, moments: pl.DataFrame, head: pl.Series) -> pl.DataFrame:
    """Return whole passes, with the moments around what they saw and decided."""
    # What it sleeps for itself, it has decided before, and its round comes after it.
    ends = rows.passes.select("pass", end="seq")
    besides = rows.throttles.join(ends, on="pass").filter(
        (pl.col("list") == 0)
        & ~pl.col("reason").is_in(["writeback", "congested"])
        & (pl.col("seq") < pl.col("end"))
    )
    of_it = pl.concat([part.select("pass", "seq") for part in (rows.lists, besides)])
    last_of_it = of_it.group_by("pass").agg(last=pl.col("seq").max().cast(pl.Int64))
    return (
        rows.passes.join(_begun(moments, "pass"), on="pass", how="left", maintain_order="left")
        .join(last_of_it, on="pass", how="left", maintain_order="left")
        .filter(~pl.col("pass").is_in(head.implode()))
        .with_columns(decides=pl.coalesce("last", "after"))
        .drop("last")
    )
