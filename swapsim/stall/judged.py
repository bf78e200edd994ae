# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists, passes and calls for sleeps of a trace, judged: where each first leaves the rules."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from swapsim.ffi.facts import STALL_BY_PASS, STALL_CLEARED
from swapsim.stall._native_replay import decide_passes
from swapsim.stall.counters import DECIDING, TELLING, CountedLists, Numbers
from swapsim.stall.facts import seen_flags, written_flags
from swapsim.stall.flags import EXACT, OTHER, RACED, judge_flags
from swapsim.stall.lists import ReclaimLists
from swapsim.stall.recording import ReclaimRows
from swapsim.stall.sleeps import Sleeps
from swapsim.stall.tables import (
    JUDGED_LISTS,
    JUDGED_PASSES,
    JUDGED_THROTTLES,
    RECLAIM_PASSES,
    STALL_FAULT,
    STALL_FAULTS,
)

_SUMS: Final = (*DECIDING, "taken", "scanned")
_UNSET: Final = ("dirty", "unqueued_dirty", "congested")
"""Counters by which a pass sets flags, and does not sleep but for the flags themselves."""


def decided_passes(rows: ReclaimRows, lists: ReclaimLists, rules: str) -> pl.DataFrame:
    """Add up each pass's lists, and decide it.

    Returns
    -------
    polars.DataFrame
        The passes of ReclaimLists; ``sets`` and ``asks``: the flags and the sleep of the rules;
        ``summed``: its lists come to its sums; ``lists``: how many it has.
    """
    added = rows.lists.group_by("pass").agg(
        pl.len().alias("lists"),
        *(pl.col(name).sum().cast(pl.UInt64).alias(f"{name}_added") for name in _SUMS),
        pl.col("taken").filter("file").sum().cast(pl.UInt64).alias("file_taken_added"),
        pl.col("reclaimed").sum().cast(pl.UInt64).alias("reclaimed_added"),
    )
    passes = lists.passes.join(added, on="pass", how="left", maintain_order="left").with_columns(
        pl.col("lists").fill_null(0), pl.col("^.*_added$").fill_null(0)
    )
    sums = (*_SUMS, "file_taken")
    equal = [pl.col(name) == pl.col(f"{name}_added") for name in sums]
    # Shrinkers give pages back besides.
    passes = passes.with_columns(
        summed=pl.all_horizontal(*equal, pl.col("reclaimed") >= pl.col("reclaimed_added"))
    )
    return with_decisions(passes, rules)


def with_decisions(passes: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Decide passes: ``sets``, the flags; ``asks``, the sleep, by the flags that its test saw."""
    known = passes.select(RECLAIM_PASSES.names())
    # What is set, counters tell; whether it sleeps, the flag as the test found it.
    seen = known.with_columns(flags_before="flags_after", **dict.fromkeys(_UNSET, _zero()))
    return passes.with_columns(
        sets=decide_passes(known, rules)["flags_set"], asks=decide_passes(seen, rules)["throttle"]
    )


def _zero() -> pl.Expr:
    return pl.lit(0, dtype=pl.UInt32)


def judge_seen(rows: ReclaimRows, lists: ReclaimLists, rules: str) -> Mapping[str, pl.DataFrame]:
    """Judge the flags that rows saw.

    Returns
    -------
    mapping of str to polars.DataFrame
        By table: ``seq`` of each row that saw flags not EXACT, and the worst ``verdict`` of them.
    """
    own = rules in STALL_BY_PASS
    parts = list(seen_flags(rows, lists, own_congestion=own))
    reads = pl.concat([facts for _, facts in parts])
    verdict = judge_flags(reads, written_flags(rows, lists, own_congestion=own))
    ends = np.cumsum([facts.height for _, facts in parts])
    judged = reads.select(pl.col("row").cast(pl.UInt64).alias("seq"), verdict=pl.Series(verdict))
    told = {}
    for table in ("lists", "passes", "throttles"):
        of_table = [
            judged[int(end) - facts.height : int(end)]
            for (name, facts), end in zip(parts, ends, strict=True)
            if name == table and facts.height
        ]
        rows_of_table = pl.concat([judged.clear(), *of_table])
        worth_telling = rows_of_table.filter(pl.col("verdict") != EXACT)
        told[table] = worth_telling.group_by("seq").agg(pl.col("verdict").max())
    return told


def _fault(**tests: pl.Expr) -> pl.Expr:
    """Return the first of the faults whose test holds; an underscore is a space."""
    named = [
        pl.when(test).then(pl.lit(name.replace("_", " "), dtype=STALL_FAULT.dtype))
        for name, test in tests.items()
    ]
    return pl.coalesce(*named)


def _seen(frame: pl.DataFrame, seen: pl.DataFrame) -> pl.DataFrame:
    return frame.join(seen, on="seq", how="left", maintain_order="left").with_columns(
        raced=(pl.col("verdict") == RACED).fill_null(value=False),
        verdict=pl.col("verdict").fill_null(EXACT),
    )


def judge_lists(
    lists: ReclaimLists, counted: CountedLists, sleeps: Sleeps, seen: pl.DataFrame
) -> pl.DataFrame:
    """Judge whole lists.

    Returns
    -------
    polars.DataFrame
        Schema JUDGED_LISTS.
    """
    ours, theirs = counted.ours, lists.lists
    apart = [ours[name] != theirs[name] for name in (*DECIDING, *TELLING)]
    waits = sleeps.missing.filter(pl.col("list") > 0)["list"]
    frame = _seen(theirs, seen).with_columns(
        folios=pl.col("rows").cast(pl.UInt32),
        fault=_fault(
            counters=pl.any_horizontal(apart),
            way=pl.lit(pl.Series(_of_lists(counted.wrong_way, lists))),
            outcome=pl.lit(pl.Series(_of_lists(counted.wrong_outcome, lists))),
            flags_set=pl.lit(ours["flags_set"] != theirs["flags_set"]),
            flags_seen=pl.col("verdict") == OTHER,
            sleeps=pl.col("list").is_in(waits.implode()),
        ),
    )
    return JUDGED_LISTS.check(frame.select(JUDGED_LISTS.names()))


def _of_lists(folios: Numbers, lists: ReclaimLists) -> Numbers:
    """Return which lists have such a folio."""
    found = np.zeros(len(lists.ends), dtype=bool)
    found[np.searchsorted(lists.ends, np.flatnonzero(folios), side="right")] = True
    return found


def judge_passes(
    passes: pl.DataFrame, judged: pl.DataFrame, sleeps: Sleeps, seen: pl.DataFrame
) -> pl.DataFrame:
    """Judge passes, with their rounds and with what their lists decided.

    Parameters
    ----------
    passes : polars.DataFrame
        As `decided_passes` returns them.
    judged : polars.DataFrame
        Schema JUDGED_LISTS.
    sleeps : Sleeps
    seen : polars.DataFrame

    Returns
    -------
    polars.DataFrame
        Schema JUDGED_PASSES, and ``own``: its fault without those of its lists.
    """
    waits = sleeps.missing.filter(pl.col("list") == 0)["pass"]
    rounds = sleeps.rounds.filter(pl.col("asks").ne_missing(pl.col("throttle")))["pass"]
    by_list = judged.filter(pl.col("fault").is_not_null() & (pl.col("fault") != "counters"))
    of_lists = by_list.group_by("pass", maintain_order=True).agg(of_list=pl.col("fault").first())
    frame = (
        _seen(passes, seen)
        .join(of_lists, on="pass", how="left", maintain_order="left")
        .with_columns(
            own=_fault(
                sums=~pl.col("summed"),
                flags_set=pl.col("sets") != pl.col("flags_set"),
                flags_seen=pl.col("verdict") == OTHER,
                sleeps=pl.col("asks").ne_missing(pl.col("throttle"))
                | pl.col("pass").is_in(waits.implode())
                | pl.col("pass").is_in(rounds.implode()),
            )
        )
        .with_columns(fault=pl.coalesce("own", "of_list"))
    )
    JUDGED_PASSES.check(frame.select(JUDGED_PASSES.names()))
    return frame.select(*JUDGED_PASSES.names(), "own")


def judge_throttles(sleeps: Sleeps, seen: pl.DataFrame) -> pl.DataFrame:
    """Judge calls for sleeps.

    Returns
    -------
    polars.DataFrame
        Schema JUDGED_THROTTLES.
    """
    fault = pl.when(pl.col("verdict") == OTHER).then(pl.lit("flags seen"))
    frame = _seen(sleeps.throttles, seen).with_columns(
        fault=pl.coalesce("fault", fault).cast(STALL_FAULT.dtype)
    )
    return JUDGED_THROTTLES.check(frame.select(JUDGED_THROTTLES.names()))


def all_faults(
    rows: ReclaimRows,
    judged: Mapping[str, pl.DataFrame],
    sleeps: Sleeps,
    rules: str,
) -> pl.DataFrame:
    """Return every row that differs.

    Parameters
    ----------
    rows : ReclaimRows
    judged : mapping of str to polars.DataFrame
        By table: ``seq`` and ``fault``.
    sleeps : Sleeps
    rules : str

    Returns
    -------
    polars.DataFrame
        Schema STALL_FAULTS.
    """
    clears = pl.DataFrame(
        {"why": list(STALL_CLEARED[rules]), "cleared": list(STALL_CLEARED[rules].values())},
        schema={"why": rows.clears.schema["why"], "cleared": pl.UInt8},
    )
    others = {
        "reclaim_rounds": sleeps.rounds.filter(
            pl.col("asks").ne_missing(pl.col("throttle"))
        ).with_columns(fault=pl.lit("sleeps", dtype=STALL_FAULT.dtype)),
        "reclaim_clears": rows.clears.join(clears, on="why", maintain_order="left")
        .filter(pl.col("flags") != pl.col("cleared"))
        .with_columns(fault=pl.lit("cleared", dtype=STALL_FAULT.dtype)),
    }
    parts = [
        frame.filter(pl.col("fault").is_not_null()).select(
            "seq", table=pl.lit(table), fault=pl.col("fault")
        )
        for table, frame in {**judged, **others}.items()
    ]
    return STALL_FAULTS.check(pl.concat(parts).sort("seq"))
