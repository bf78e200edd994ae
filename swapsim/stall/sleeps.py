# SPDX-License-Identifier: GPL-2.0-or-later
"""Sleeps that a trace's reclaimers asked for, beside those that the rules ask for."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.ffi.facts import STALL_ISOLATED
from swapsim.stall._native_sleeps import decide_rounds, decide_sleeps
from swapsim.stall.recording import ReclaimRows
from swapsim.stall.tables import THROTTLE

_ASKER: Final = ("pass", "list", "reason")
_ISOLATED: Final = "isolated"
_CASE_1: Final = "congestion_wait"
"""The sleep of a case 1 that sleeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleeps:
    """Calls for sleeps, held against the rules.

    Attributes
    ----------
    throttles : polars.DataFrame
        THROTTLES, with ``timeout`` as the rules have it, and ``fault``: "asker" where the rules do
        not ask for it, "length" where it is of another length, or null.
    missing : polars.DataFrame
        ``pass``, ``list``, ``reason`` and ``calls``: sleeps that the rules ask for and the trace
        does not have.
    rounds : polars.DataFrame
        RECLAIM_ROUNDS, with ``asks``: the sleep that the rules ask for.
    unasked : dict of str to int
        Calls whose reason is in no row, by kind: only their lengths are judged.
    """

    throttles: pl.DataFrame
    missing: pl.DataFrame
    rounds: pl.DataFrame
    unasked: dict[str, int]


def judge_sleeps(
    rows: ReclaimRows,
    lists: pl.DataFrame,
    passes: pl.DataFrame,
    rules: str,
    *,
    hz: int,
) -> Sleeps:
    """Hold each call for a sleep against who would ask for it, and against the call's own rule.

    Parameters
    ----------
    rows : ReclaimRows
    lists : polars.DataFrame
        Schema STALL_LISTS and ``pass``: whole lists by the rules.
    passes : polars.DataFrame
        ``pass`` and ``asks``, the sleep that the rules ask for, of whole passes.
    rules : str
    hz : int
        Timer ticks a second.

    Returns
    -------
    Sleeps
    """
    rounds = rows.rounds.with_columns(asks=decide_rounds(rows.rounds, rules)["throttle"])
    filled = rows.throttles.with_columns(pl.col("congested_devices", "flags").fill_null(0))
    length = decide_sleeps(filled, hz=hz)["timeout_us"]
    asked = _asked(lists, passes, rounds)
    kind = _kind(lists, passes, rows, rules)
    throttles = (
        rows.throttles.with_columns(timeout=length, kind=kind)
        .with_columns(nth=pl.int_range(1, pl.len() + 1).over(_ASKER))
        .join(asked, on=_ASKER, how="left", maintain_order="left")
        .with_columns(
            fault=pl.when(pl.col("kind").is_null() & (pl.col("nth") > pl.col("calls").fill_null(0)))
            .then(pl.lit("asker"))
            .when(pl.col("timeout_us") != pl.col("timeout"))
            .then(pl.lit("length"))
        )
    )
    had = rows.throttles.group_by(_ASKER).agg(had=pl.len())
    missing = (
        asked.join(had, on=_ASKER, how="left")
        .with_columns(calls=pl.col("calls") - pl.col("had").fill_null(0).cast(pl.Int64))
        .filter(pl.col("calls") > 0)
        .select(*_ASKER, "calls")
        .sort(_ASKER)
    )
    counted = throttles.group_by("kind").len().drop_nulls().sort("kind")
    return Sleeps(
        throttles=throttles.drop("nth", "calls"),
        missing=missing,
        rounds=rounds,
        unasked=dict(counted.iter_rows()),
    )


def _asked(lists: pl.DataFrame, passes: pl.DataFrame, rounds: pl.DataFrame) -> pl.DataFrame:
    """Return how many calls the rules make of each list, pass or round, by reason."""
    zero = pl.lit(0, dtype=pl.UInt64)
    at_end = lists.explode("sleeps").select("pass", "list", reason="sleeps", calls=pl.lit(1))
    on_the_way = lists.filter(pl.col("slept") > 0).select(
        "pass",
        "list",
        reason=pl.lit(_CASE_1, dtype=THROTTLE.dtype),
        calls=pl.col("slept").cast(pl.Int32),
    )
    of_whole = rounds.filter(pl.col("pass").is_in(passes["pass"].implode()))
    others = [
        frame.select("pass", list=zero, reason="asks", calls=pl.lit(1))
        for frame in (passes, of_whole)
    ]
    return (
        pl.concat([at_end, on_the_way, *others])
        .drop_nulls("reason")
        .group_by(_ASKER)
        .agg(pl.col("calls").cast(pl.Int64).sum())
    )


def _kind(lists: pl.DataFrame, passes: pl.DataFrame, rows: ReclaimRows, rules: str) -> pl.Expr:
    """Tell the calls that no row gives a reason for."""
    isolated = pl.col("reason").is_in([_ISOLATED, STALL_ISOLATED[rules]])
    alone = pl.col("list") == 0
    others = (rows.lists, rows.passes, rows.throttles, rows.rounds, rows.folios)
    last = pl.concat([part.group_by("pid").agg(pl.col("seq").max()) for part in others])
    ends = last.group_by("pid").agg(pl.col("seq").max())["seq"]
    return (
        pl.when(alone & (pl.col("pass") == 0))
        .then(pl.lit("asked for outside of passes"))
        .when(alone & isolated)
        .then(pl.lit("asked for because too many pages were isolated"))
        .when(alone & ~pl.col("pass").is_in(passes["pass"].implode()))
        .then(pl.lit("of passes not whole in the recording"))
        .when(alone & pl.col("seq").is_in(ends.implode()))
        .then(pl.lit("of rounds not ended in the recording"))
        .when(~alone & ~pl.col("list").is_in(lists["list"].implode()))
        .then(pl.lit("of lists not whole in the recording"))
    )
