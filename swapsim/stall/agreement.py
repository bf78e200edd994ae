# SPDX-License-Identifier: GPL-2.0-or-later
"""Where sets of rules agree on a recording's lists, where they part, and a stretch in order."""

from itertools import combinations
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi.facts import STALL_FLAGS, STALL_RULES
from swapsim.stall.tables import DECIDED_LISTS, STALL_AGREEMENT, STALL_PARTINGS
from swapsim.traces import scan_event

_COUNTERS: Final = ("dirty", "unqueued_dirty", "congested", "writeback", "immediate")


def stall_agreement(decided: pl.DataFrame) -> pl.DataFrame:
    """Compare each two sets of rules, list by list.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.

    Returns
    -------
    polars.DataFrame
        Schema STALL_AGREEMENT, the older of each pair first.
    """
    rows = []
    for one, other in combinations(_sets(decided), 2):
        both = _beside(decided, one, other)
        flags = pl.col("flags_set") == pl.col("flags_set_other")
        sleeps = _same("forced") & _same("waits")
        shares = both.select(
            (flags & sleeps).mean().alias("decisions"),
            flags.mean().alias("flags"),
            sleeps.mean().alias("sleeps"),
            _same("fates").mean().alias("folios"),
        )
        rows.append((one, other, both.height, *shares.row(0)))
    frame = pl.DataFrame(rows, schema=STALL_AGREEMENT.schema, orient="row")
    return STALL_AGREEMENT.check(frame)


def agreement_table(agreement: pl.DataFrame, share: str = "decisions") -> pl.DataFrame:
    """Lay the shares out as a square, in percent.

    Parameters
    ----------
    agreement : polars.DataFrame
        Schema STALL_AGREEMENT.
    share : {"decisions", "flags", "sleeps", "folios"}

    Returns
    -------
    polars.DataFrame
        ``rules`` and a Float64 column per rule set.
    """
    STALL_AGREEMENT.check(agreement)
    percent = pl.col(share) * 100
    one, other = (pl.col(name).cast(pl.String) for name in ("one", "other"))
    halves = [
        agreement.select(rules=one, beside=other, percent=percent),
        agreement.select(rules=other, beside=one, percent=percent),
    ]
    there = {*agreement["one"].to_list(), *agreement["other"].to_list()}
    order = [rules for rules in STALL_RULES if rules in there]
    whole = pl.DataFrame({"rules": order, "beside": order, "percent": 100.0})
    square = pl.concat([*halves, whole]).pivot("beside", index="rules", values="percent")
    rank = {rules: place for place, rules in enumerate(order)}
    return square.sort(pl.col("rules").replace_strict(rank)).select("rules", *order)


def stall_partings(decided: pl.DataFrame, one: str, other: str) -> pl.DataFrame:
    """Say in which decisions two sets of rules part, and by what first.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.
    one, other : str
        Of STALL_RULES.

    Returns
    -------
    polars.DataFrame
        Schema STALL_PARTINGS, the most frequent first.

    Raises
    ------
    InputError
        The frame has not both.
    """
    both = _beside(decided, one, other)
    counter = pl.coalesce(
        *(pl.when(~_same(name)).then(pl.lit(f"counter {name}")) for name in _COUNTERS)
    )
    history = pl.when(~_same("flags_before")).then(pl.lit("history"))
    causes = both.with_columns(cause=pl.coalesce(counter, history, pl.lit("rule")))
    differs = {
        f"flag {name}": ((pl.col("flags_set") ^ pl.col("flags_set_other")) & bit) != 0
        for name, bit in STALL_FLAGS.items()
    } | {"forced sleep": ~_same("forced"), "wait for congestion": ~_same("waits")}
    parts = [
        causes.filter(test)
        .group_by("cause", maintain_order=True)
        .agg(lists=pl.len().cast(pl.UInt64), list=pl.col("list").first(), seq=pl.col("seq").first())
        .with_columns(decision=pl.lit(decision), one=pl.lit(one), other=pl.lit(other))
        for decision, test in differs.items()
    ]
    frame = (
        pl.concat(parts)
        .sort("lists", "list", "decision", descending=[True, False, False])
        .select(pl.col(name).cast(dtype) for name, dtype in STALL_PARTINGS.schema.items())
    )
    return STALL_PARTINGS.check(frame)


def stall_timeline(
    decided: pl.DataFrame, *, lists: int = 60, begin: int | None = None
) -> pl.DataFrame:
    """Take a stretch of a recording in order, under all sets of rules.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.
    lists : int
        How many lists, 1 or more.
    begin : int, optional
        The ``nth`` list to begin with; else where the sets sleep most: the bad minute.

    Returns
    -------
    polars.DataFrame
        Schema DECIDED_LISTS: these lists in order, rule set after rule set.

    Raises
    ------
    InputError
        No list is asked for.
    """
    DECIDED_LISTS.check(decided)
    if lists < 1:
        raise InputError(f"{lists} lists are no stretch: ask for 1 or more", field="lists")
    first = _worst(decided, lists) if begin is None else begin
    return decided.filter(pl.col("nth").is_between(first, first + lists - 1))


def stall_seconds(folder: Path | str, decided: pl.DataFrame) -> float | None:
    """Say how long a stretch of lists took, on the recording's own clock.

    Lists carry no time; the kernel's event for each sleep does.

    Parameters
    ----------
    folder : Path or str
        The trace.
    decided : polars.DataFrame
        Schema DECIDED_LISTS, all or a stretch of it.

    Returns
    -------
    float or None
        Seconds from the last sleep before the first list, or the first sleep of all, to the first
        one behind the last list, or the last of all; None if nobody slept.

    Raises
    ------
    InputError
        There is no trace, or no table of who asked for sleeps.
    """
    begin, end = (
        DECIDED_LISTS.check(decided)
        .select(begin=pl.col("seq").min(), end=pl.col("seq").max())
        .row(0)
    )
    asked = scan_event(folder, "throttle_askers").select("seq", "t_ns").sort("seq").collect()
    if asked.is_empty() or begin is None:
        return None
    first = asked.filter(pl.col("seq") <= begin).tail(1)["t_ns"].to_list() or [asked["t_ns"][0]]
    last = asked.filter(pl.col("seq") >= end).head(1)["t_ns"].to_list() or [asked["t_ns"][-1]]
    return float(last[0] - first[0]) / 1e9


def _worst(decided: pl.DataFrame, lists: int) -> int:
    """Return where the stretch begins in which most lists are forced to sleep, or wait."""
    stalls = (
        decided.group_by("nth")
        .agg(stalls=(pl.col("forced") | pl.col("waits")).sum().cast(pl.Int64))
        .sort("nth")["stalls"]
    )
    within = stalls.rolling_sum(min(lists, stalls.len()))
    last = within.arg_max()
    return 0 if last is None else max(last - lists + 1, 0)


def _sets(decided: pl.DataFrame) -> list[str]:
    """Return the rule sets of a frame, in order of age."""
    DECIDED_LISTS.check(decided)
    there = set(decided["rules"].unique().to_list())
    return [rules for rules in STALL_RULES if rules in there]


def _beside(decided: pl.DataFrame, one: str, other: str) -> pl.DataFrame:
    """Put the lists of two sets beside each other."""
    for rules in (one, other):
        if rules not in _sets(decided):
            raise InputError(f"no list is decided by {rules!r}: decide them all", field="rules")
    return decided.filter(pl.col("rules") == one).join(
        decided.filter(pl.col("rules") == other), on="nth", suffix="_other", maintain_order="left"
    )


def _same(name: str) -> pl.Expr:
    return pl.col(name) == pl.col(f"{name}_other")
