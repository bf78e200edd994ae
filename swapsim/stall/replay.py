# SPDX-License-Identifier: GPL-2.0-or-later
"""Decide the lists of a recording by each set of rules.

Each set keeps its own flags from list to list: what it sets, it finds set at the next list, until
kswapd balances the node or has shrunk it. Pages and their order are those of the recording. A
kernel that had slept where this one did not, or had written other pages, would have met other
lists. So the comparison shows where the rules differ on the same lists, not how a machine would
have continued; a kernel that is switched to these rules shows that.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.errors import InputError, errors_of
from swapsim.ffi import (
    STALL_BRANCHES,
    STALL_CLEARS,
    STALL_COUNTERS,
    STALL_FLAGS,
    STALL_FLAGS_ALL,
    STALL_RULES,
)
from swapsim.progress import bar, over
from swapsim.stall._native_columns import decide_lists, decide_passes, decide_rounds, sleep_lengths
from swapsim.stall.recording import Recording, gather
from swapsim.stall.rows import ReclaimRows, reclaim_rows
from swapsim.stall.rules import rules_of
from swapsim.stall.tables import (
    DECIDED_LISTS,
    FOLIO_SUMS,
    RECLAIM_LISTS,
    REQUESTED_SLEEPS,
    RULE_SET,
    STALL_DECISIONS,
    THROTTLE,
    THROTTLES,
)
from swapsim.stall.verify import TICKS
from swapsim.traces import require_events

NOT_RECORDED: Final = (
    "whether a device was congested, a state that 6.1 lacks, so no wait for congestion can be said "
    "to sleep, and no page counts as congested by its device: by series-2 to series-5 none does; "
    "3.9, mmotm and series-1 count the pages that pageout left on the list, and from series-6 on "
    "the rules count pages that are marked for reclaim",
    "what pageout would have done with a page that 6.1 did not write",
    "how a page would have gone on that 6.1 stopped under writeback, where a set lets it go on",
    "reclaim zone by zone: flags are the node's here",
    "what a kernel that slept, or wrote other pages, would have met next",
)
"""What an older set of rules needs and a recording of 6.1 does not have."""

_CERTAIN: Final = ("congestion_wait", "writeback")  # sleeps that no test can skip
_FOR_CONGESTION: Final = ("wait_iff_congested", "congested")  # sleeps that need the flag congested
_FOLIO_SUMS: Final = [column.name for column in FOLIO_SUMS]
_FACTOR: Final = 1_099_511_628_211
"""An odd number (the FNV hash has it) whose powers differ for all places of a list."""


def stall_decisions(folders: Mapping[str, Path], *, progress: bool = False) -> pl.DataFrame:
    """Count what each set of rules decides of the lists of some traces (STALL_DECISIONS).

    Each folder, by its trace's name, has reclaim_folios, reclaim_lists and reclaim_passes.
    """
    frames = [pl.DataFrame(schema=STALL_DECISIONS.schema)]
    for name, folder in over(folders.items(), "decide", "traces"):
        rows = _rows(folder)
        with errors_of(folder):
            lists = decided_lists(rows, progress=progress)
        frames.append(summed_decisions(lists, rows.rounds, trace=name))
    return pl.concat(frames)


def summed_decisions(decided: pl.DataFrame, rounds: pl.DataFrame, *, trace: str) -> pl.DataFrame:
    """Return STALL_DECISIONS for DECIDED_LISTS and RECLAIM_ROUNDS of the trace of this name."""
    naps = [decide_rounds(rounds, rules).count() for rules in STALL_RULES]
    of_rounds = pl.DataFrame({"rules": RULE_SET.words, "naps": naps}).cast(
        {"rules": RULE_SET.dtype}
    )
    flags = {name: ((pl.col("flags_set") & bit) != 0).sum() for name, bit in STALL_FLAGS.items()}
    summed = (
        decided.group_by("rules", maintain_order=True)
        .agg(
            lists=pl.len(),
            forced=pl.col("sleeps").list.eval(pl.element().is_in(_CERTAIN)).list.sum().sum(),
            waits=pl.col("waits").sum(),
            **flags,
            **{name: pl.col(name).cast(pl.UInt64).sum() for name in _FOLIO_SUMS},
        )
        .join(of_rounds, on="rules", how="left", maintain_order="left")
        .with_columns(trace=pl.lit(trace))
    )
    return _as(summed, STALL_DECISIONS.schema)


def decided_lists(source: ReclaimRows | Path | str, *, progress: bool = False) -> pl.DataFrame:
    """Decide each list of a trace by each set of rules (DECIDED_LISTS), rule set after rule set.

    InputError as for `reclaim_rows`; or a list or a pass is not as a recording can hold it, or no
    list is complete.
    """
    rows = _rows(source)
    lists = gather(rows)
    return pl.concat(
        _named(lists, decided, branches, rules)
        for rules, decided, branches in _by_rules(rows, lists, progress=progress)
    )


def requested_sleeps(decided: pl.DataFrame, rounds: pl.DataFrame) -> pl.DataFrame:
    """Return REQUESTED_SLEEPS for DECIDED_LISTS and RECLAIM_ROUNDS, at 250 ticks a second."""
    flagged = (pl.col("flags_after") & STALL_FLAGS["congested"]) != 0
    of_lists = decided.select("rules", flagged.alias("flagged"), reason="sleeps").explode("reason")
    # A round finds the flags that the last list of its last pass left.
    left = decided.group_by("rules", "pass").agg(flagged=flagged.last())
    of_rounds = [
        rounds.select("pass", rules=_rule_set(rules), reason=decide_rounds(rounds, rules))
        .join(left, on=["rules", "pass"], how="left")
        .select("rules", pl.col("flagged").fill_null(value=False), "reason")
        for rules in STALL_RULES
    ]
    skipped = pl.col("reason").is_in(_FOR_CONGESTION) & ~pl.col("flagged")
    requests = (
        pl.concat([of_lists, *of_rounds])
        .drop_nulls("reason")
        .group_by("rules", "reason")
        .agg(requests=pl.len(), can_sleep=(~skipped).sum())
        .join(_longest(), on="reason", how="left")
        .with_columns(most_us=pl.col("can_sleep").cast(pl.UInt64) * pl.col("longest_us"))
        .sort("rules", "reason")
    )
    return _as(requests, REQUESTED_SLEEPS.schema)


def _longest() -> pl.DataFrame:
    """Return each reason, and the length ``longest_us`` of a sleep that no test skips."""
    nothing = dict.fromkeys(THROTTLES.names(), 0)
    sleeps = {"write_pending": 1, "congested_devices": 1, "flags": STALL_FLAGS_ALL}
    rows = [nothing | sleeps | {"kthread": False, "reason": reason} for reason in THROTTLE.words]
    calls = pl.DataFrame(rows, schema=THROTTLES.schema)
    return calls.select("reason", longest_us=sleep_lengths(calls, hz=TICKS))


def _rule_set(rules: str) -> pl.Expr:
    return pl.lit(rules, dtype=RULE_SET.dtype)


def _as(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Return the columns of a schema, cast to its types."""
    return frame.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def _rows(source: ReclaimRows | Path | str) -> ReclaimRows:
    if isinstance(source, ReclaimRows):
        return source
    require_events(source, "stall")
    return reclaim_rows(source)


def _by_rules(
    rows: ReclaimRows, lists: Recording, *, progress: bool
) -> Iterator[tuple[str, pl.DataFrame, pl.Series]]:
    """Yield each set of rules with what it decides of each list and each folio."""
    if not lists.lists.height:
        raise InputError("the trace has no complete list: record a longer one")
    known, history = lists.lists.select(RECLAIM_LISTS.names()), _history(rows, lists)
    total = lists.folios.height * len(STALL_RULES)
    with bar(total, "decide", "folios", shown=progress) as counted:
        for rules in STALL_RULES:
            own = None if rules_of(rules).by_pass else history
            found = decide_lists(lists.folios, known, rules, history=own, tick=counted.update)
            yield rules, *found


def _history(rows: ReclaimRows, lists: Recording) -> pl.DataFrame:
    """Return the node of each list, and what cleared flags there before: `decide_lists`' history.

    kswapd balanced the node, or shrank it once. What a case 1 clears belongs to its list.
    """
    order = lists.lists.select("nid", seq="first").with_row_index("nth")
    balanced = rows.clears.filter(pl.col("why") == "balanced").select("nid", "seq")
    shrunk = rows.passes.filter("kswapd").select("nid", "seq")
    clears = np.zeros(order.height, dtype=np.uint8)
    for why, occasions in (("balanced", balanced), ("shrunk", shrunk)):
        met = occasions.sort("seq").join_asof(
            order.sort("seq"), on="seq", by="nid", strategy="forward", check_sortedness=False
        )
        clears[met["nth"].drop_nulls().to_numpy()] |= 1 << STALL_CLEARS.index(why)
    return pl.DataFrame({"node": order["nid"].rank("dense").cast(pl.UInt32) - 1, "clears": clears})


def _named(
    lists: Recording, decided: pl.DataFrame, branches: pl.Series, rules: str
) -> pl.DataFrame:
    """Return DECIDED_LISTS of one set of rules."""
    known = lists.lists.select("pass", "seq", "pid", "kswapd", "priority", "file", "taken")
    case_1 = pl.lit("congestion_wait", dtype=THROTTLE.dtype).repeat_by("slept")
    frame = decided.hstack(known).with_columns(
        **_folios(lists, branches),
        nth=pl.int_range(pl.len(), dtype=pl.UInt32),
        sleeps=pl.concat_list(case_1, "sleeps"),
        rules=_rule_set(rules),
    )
    if rules_of(rules).by_pass:
        frame = _with_passes(frame, lists.passes, rules)
    flagged = (pl.col("flags_after") & STALL_FLAGS["congested"]) != 0
    forced, waits = (
        pl.col("sleeps").list.eval(pl.element().is_in(names)).list.any()
        for names in (_CERTAIN, _FOR_CONGESTION)
    )
    return _as(frame.with_columns(forced=forced, waits=waits & flagged), DECIDED_LISTS.schema)


def _with_passes(frame: pl.DataFrame, passes: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Give the last list of each pass what the pass decides of its lists' sums."""
    added = frame.group_by("pass").agg(
        *(pl.col(name).sum() for name in (*STALL_COUNTERS, "taken")),
        file_taken=pl.col("taken").filter("file").sum(),
    )
    summed = passes.drop(*STALL_COUNTERS, "taken", "file_taken").join(
        added, on="pass", maintain_order="left"
    )
    decided = decide_passes(summed, rules).select(pl.all().name.suffix("_rules"))
    of_pass = summed.select("pass", read="flags_after").hstack(decided)
    last = (pl.col("nth") == pl.col("nth").max().over("pass")) & pl.col("read").is_not_null()
    requests = pl.when(last & pl.col("throttle_rules").is_not_null())
    sleep = requests.then(pl.concat_list("throttle_rules"))
    no_sleep = pl.lit([], dtype=pl.List(THROTTLE.dtype))
    flags_set = pl.col("flags_set") | pl.when(last).then("flags_set_rules").otherwise(0)
    return frame.join(of_pass, on="pass", how="left", maintain_order="left").with_columns(
        flags_set=flags_set,
        flags_after=pl.when(last).then("read").otherwise("flags_after"),
        sleeps=pl.concat_list("sleeps", sleep.otherwise(no_sleep)),
    )


def _folios(lists: Recording, branches: pl.Series) -> dict[str, pl.Series]:
    """Count each list's folios by what the rules make of them."""
    branch, file = branches.to_physical().to_numpy(), lists.folios["file"].to_numpy()
    starts = lists.starts

    def those(*names: str) -> Any:
        return np.isin(branch, [STALL_BRANCHES.index(name) for name in names])

    counted = {
        "turned": those("case-1", "case-2"),
        "not_written": those("not-written"),
        "waited": those("case-3"),
        "file_written": those("write") & file,
        "anon_written": those("write") & ~file,
    }
    # Lists with the same branches have the same digest, and hardly any others do.
    place = np.arange(len(branch)) - np.repeat(starts, lists.ends.astype(np.int64) - starts)
    factors = np.full(int(np.max(place)) + 1, _FACTOR, dtype=np.uint64)
    digests = (branch.astype(np.uint64) + np.uint64(1)) * np.multiply.accumulate(factors)[place]
    return {
        name: pl.Series(np.add.reduceat(which.astype(np.uint32), starts))
        for name, which in counted.items()
    } | {"branches": pl.Series(np.add.reduceat(digests, starts))}


def agreement(decided: pl.DataFrame) -> pl.DataFrame:
    """Return on how many lists of DECIDED_LISTS two rule sets decide alike, ``one`` the older.

    ``alike`` is the percentage of lists on which both set the same flags and request the same
    sleeps, with one decimal, and 100 only where all lists are.
    """
    known = set(DECIDED_LISTS.check(decided)["rules"])
    acts = ("flags_set", "forced", "waits")
    same = [pl.col(name) == pl.col(f"{name}_other") for name in acts]
    share = 100 * pl.all_horizontal(same).mean()
    rows = decided.select("rules", "nth", *acts)
    return pl.concat(
        rows.filter(rules=one)
        .join(rows.filter(rules=other), on="nth", suffix="_other", maintain_order="left")
        .select(pl.lit(one).alias("one"), pl.lit(other).alias("other"), alike=share)
        for one, other in combinations([rules for rules in STALL_RULES if rules in known], 2)
    ).with_columns(
        alike=pl.when(pl.col("alike") < 100)
        .then(pl.min_horizontal(pl.col("alike").round(1), 99.9))
        .otherwise("alike")
    )
