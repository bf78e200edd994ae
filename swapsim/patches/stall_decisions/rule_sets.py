# SPDX-License-Identifier: GPL-2.0-or-later
"""Rule sets compared on the lists of a recording: how many they decide alike, where they differ."""

from itertools import combinations
from pathlib import Path

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi import STALL_COUNTERS, STALL_FLAGS, STALL_RULES
from swapsim.patches.stall_decisions.tables import STALL_AGREEMENT, STALL_DIFFERENCES
from swapsim.stall.tables import DECIDED_LISTS
from swapsim.traces import scan_event


def agreement(decided: pl.DataFrame) -> pl.DataFrame:
    """Compare each two rule sets, list by list.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.

    Returns
    -------
    polars.DataFrame
        Schema STALL_AGREEMENT, the older of each pair first.
    """
    DECIDED_LISTS.check(decided)
    known = set(decided["rules"].unique().to_list())
    flags, sleeps = _same("flags_set"), _same("forced") & _same("waits")
    shares = {
        "decisions": (flags & sleeps).mean(),
        "flags": flags.mean(),
        "sleeps": sleeps.mean(),
        "folios": _same("branches").mean(),
    }
    rows = [
        _joined(decided, one, other)
        .select(pl.lit(one).alias("one"), pl.lit(other).alias("other"), lists=pl.len(), **shares)
        .row(0)
        for one, other in combinations([rules for rules in STALL_RULES if rules in known], 2)
    ]
    return STALL_AGREEMENT.check(pl.DataFrame(rows, schema=STALL_AGREEMENT.schema, orient="row"))


def agreement_table(pairs: pl.DataFrame, share: str = "decisions") -> pl.DataFrame:
    """Return a share of STALL_AGREEMENT in percent as a square: a row and a column per rule set."""
    shares = STALL_AGREEMENT.check(pairs).select("one", "other", percent=pl.col(share) * 100)
    rules = pl.concat([shares["one"], shares["other"]]).unique().sort()
    own = pl.DataFrame({"one": rules, "other": rules, "percent": 100.0})
    mirrored = shares.select(one="other", other="one", percent="percent")
    square = pl.concat([shares, mirrored, own]).sort("one", "other")
    table = square.pivot("other", index="one", values="percent", sort_columns=False)
    return table.select(pl.col("one").cast(pl.String).alias("rules"), *rules.cast(pl.String))


def differing_lists(decided: pl.DataFrame, one: str, other: str) -> pl.DataFrame:
    """Return the decisions in which two rule sets differ, and the first cause of each.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.
    one, other : str
        Of STALL_RULES.

    Returns
    -------
    polars.DataFrame
        Schema STALL_DIFFERENCES, the most frequent first.

    Raises
    ------
    InputError
        The frame lacks one of the sets.
    """
    both = _joined(DECIDED_LISTS.check(decided), one, other)
    causes = {f"counter {name}": ~_same(name) for name in STALL_COUNTERS}
    causes["history"] = ~_same("flags_before")
    cause = pl.coalesce(*(pl.when(test).then(pl.lit(name)) for name, test in causes.items()))
    flags = pl.col("flags_set") ^ pl.col("flags_set_other")
    differs = {f"flag {name}": (flags & bit) != 0 for name, bit in STALL_FLAGS.items()}
    differs |= {"forced sleep": ~_same("forced"), "wait for congestion": ~_same("waits")}
    parts = [
        both.filter(test)
        .group_by(cause=cause.fill_null("rule"), maintain_order=True)
        .agg(pl.len().alias("lists"), pl.col("list").first(), pl.col("seq").first())
        .with_columns(decision=pl.lit(decision), one=pl.lit(one), other=pl.lit(other))
        for decision, test in differs.items()
    ]
    order = {"lists": True, "list": False, "decision": False}
    found = pl.concat(parts).sort(*order, descending=[*order.values()])
    return found.select(STALL_DIFFERENCES.names()).cast(STALL_DIFFERENCES.schema)


def _joined(decided: pl.DataFrame, one: str, other: str) -> pl.DataFrame:
    """Join the lists of two sets; the columns of the second end in ``_other``."""
    of_one, of_other = (decided.filter(pl.col("rules") == rules) for rules in (one, other))
    for rules, lists in ((one, of_one), (other, of_other)):
        if lists.is_empty():
            raise InputError(f"no list is decided by {rules!r}: decide them all", field="rules")
    return of_one.join(of_other, on="nth", suffix="_other", maintain_order="left")


def _same(name: str) -> pl.Expr:
    return pl.col(name) == pl.col(f"{name}_other")


def stretch(decided: pl.DataFrame, *, lists: int = 60, begin: int | None = None) -> pl.DataFrame:
    """Return consecutive lists of a recording in order, under all rule sets.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.
    lists : int
        Number of lists, 1 or more.
    begin : int, optional
        The first list by ``nth``; by default, the stretch with the most sleeps.

    Returns
    -------
    polars.DataFrame
        Schema DECIDED_LISTS: these lists in order, rule set after rule set.

    Raises
    ------
    InputError
        There are fewer lists than 1.
    """
    DECIDED_LISTS.check(decided)
    if lists < 1:
        raise InputError(f"a stretch of {lists} lists is empty: give 1 or more", field="lists")
    if begin is None:
        stalls = (pl.col("forced") | pl.col("waits")).sum().cast(pl.Int64)
        by_list = decided.group_by("nth").agg(stalls=stalls).sort("nth")["stalls"]
        last = by_list.rolling_sum(min(lists, by_list.len())).arg_max() or 0
        begin = max(last - lists + 1, 0)
    return decided.filter(pl.col("nth").is_between(begin, begin + lists - 1))


def stretch_seconds(folder: Path | str, decided: pl.DataFrame) -> float | None:
    """Return how long a stretch of lists took, by the recording's own clock.

    Lists have no time; the kernel's event for each sleep has one.

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
        sleep after the last list, or the last of all; None if there is no sleep.

    Raises
    ------
    InputError
        There is no trace, or it has no table throttle_askers.
    """
    DECIDED_LISTS.check(decided)
    begin, end = decided["seq"].min(), decided["seq"].max()
    sleeps = scan_event(folder, "throttle_askers").select("seq", "t_ns").sort("seq").collect()
    if sleeps.is_empty() or begin is None:
        return None
    before = sleeps.filter(pl.col("seq") <= begin)["t_ns"].tail(1)
    after = sleeps.filter(pl.col("seq") >= end)["t_ns"].head(1)
    first = before.item() if before.len() else sleeps["t_ns"][0]
    last = after.item() if after.len() else sleeps["t_ns"][-1]
    return float(last - first) / 1e9
