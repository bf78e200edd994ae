# SPDX-License-Identifier: GPL-2.0-or-later
"""How a stock 7.3 stalls: recordings of its lists and passes, compared with ``stall_sums.h``.

Reclaim by MGLRU counts its lists for all of memory as for a cgroup, but returns before it decides
by the sums. So the same rule can be asked what it would have decided there: `root_stalls`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim.errors import InputError, check_choice, errors_of
from swapsim.ffi import SUMS_FLAGS, SUMS_RULES
from swapsim.stall._native import CONGESTED_FLAGS, WRITEBACK_FLAG, decide_sums
from swapsim.stall.tables import STALL_LISTS, STALL_PASSES, SUMMED
from swapsim.traces.folder import SUMS_TABLES, event_names
from swapsim.traces.verification import AGAIN, Verdict, check_tables, mismatch, read_tables, refuse

_ROOT_STALLS: Final = (
    {"trace": pl.String(), "rules": pl.Enum(SUMS_RULES)}
    | {"reclaimer": pl.Enum(("kswapd", "direct", "cgroup"))}
    | dict.fromkeys(("passes", "lists", "asked", "may_ask", "slept", "woken"), pl.UInt64())
    | dict.fromkeys(("neither", "writeback", "congested", "wakes"), pl.UInt64())
)
_TABLES: Final = dict(zip(SUMS_TABLES, (STALL_LISTS, STALL_PASSES), strict=True))
_MAY_BE_NULL: Final = {"stall_lists": (), "stall_passes": ("flags_after", "throttle", "slept_us")}
_RESULT: Final = "decided {passes} passes as the kernel did ({lists} lists, {throttles} throttles)"
_NONE_DECIDES: Final = (
    "has no decision to compare: with generations only a memory cgroup's reclaim decides, and none "
    "was recorded; {lists} lists and {returns} passes without a decision agree"
)


_BY_RULES: Final = ("_rules", "_added")
"""Ends of the names of columns with the rules' values; ``_added`` are sums of lists."""
_NOT_SHOWN: Final = (
    *("seq", "pid", "fault", "verdict", "raced", "rows", "after", "folios", "kind", "equal"),
    *("not_called", "not_requested"),
)


class SumRows(NamedTuple):
    """A recording of a stock 7.3: STALL_LISTS, STALL_PASSES, and the rules of its kernel."""

    lists: pl.DataFrame
    passes: pl.DataFrame
    rules: str


def is_of_sums(trace: Path) -> bool:
    """Return whether a trace has the lists and passes of a stock 7.3."""
    return {*SUMS_TABLES} <= {*event_names(trace)}


def sum_rows(trace: Path) -> SumRows:
    """Read a recording."""
    frames = read_tables(trace, _TABLES, _MAY_BE_NULL)
    with errors_of(trace):
        check_tables(frames, _TABLES, _MAY_BE_NULL)
        lists, passes = frames.values()
        if passes["generations"].n_unique() != 1:
            raise InputError(
                f"generations were switched on or off meanwhile: {AGAIN}", field="generations"
            )
        unknown = lists.filter(~pl.col("pass").is_in([0, *passes["pass"]]))
        refuse(unknown, "the list with seq {seq} is of a pass {pass} that is missing")
    rules = "7.3-generations" if passes["generations"][0] else "7.3-lists"
    return SumRows(lists=lists, passes=passes, rules=rules)


def verify_sums(trace: Path) -> Verdict:
    """Decide a stock 7.3's lists and passes again, and compare.

    A list agrees in the flushers that it wakes and in the sums before it; a pass in its sums, in
    where it decides, in its throttle and in the flags that it leaves, unless another task may have
    changed them. Its tables have the values of the rules in columns that end in ``_rules``.
    """
    rows = sum_rows(trace)
    with errors_of(trace):
        lists, passes = _compared_lists(rows), _compared_passes(rows)
    decides = pl.col("decided") | pl.col("decided_rules")
    throttles = passes.filter(pl.any_horizontal(pl.col("throttle", "throttle_rules").is_not_null()))
    of_passes = lists.filter(pl.col("pass") > 0)
    counted = {
        "passes": passes.filter(decides)["equal"],
        "returns": passes.filter(~decides)["equal"],
        "lists": of_passes["equal"],
        "throttles": throttles.select(_as_the_rules("throttle")).to_series(),
    }
    counts = {name: (int(equal.sum()), len(equal)) for name, equal in counted.items()}
    agrees = all(equal == number for equal, number in counts.values())
    return Verdict(
        agrees=agrees,
        counts=counts,
        result=_RESULT if counts["passes"][1] else _NONE_DECIDES,
        figures={
            "concurrent": int(passes["concurrent"].sum()),
            "cut": lists.height - of_passes.height,
            "slept": passes["slept_us"].count(),
            "woken": int(lists["woken"].sum()),
        },
        notes=(
            "returned before a decision, for all of memory: {returns} passes",
            "the flushers were woken {woken} times; {slept} throttles slept",
            "explained by a concurrent change: the flags of {concurrent} passes",
            "not judged: {cut} lists of passes that the recording cut",
        ),
        first=None if agrees else _first(of_passes, passes),
        tables={"lists": lists, "passes": passes},
    )


def _as_the_rules(name: str) -> pl.Expr:
    return pl.col(name).eq_missing(pl.col(f"{name}_rules"))


def _compared_lists(rows: SumRows) -> pl.DataFrame:
    lists = rows.lists.join(
        rows.passes.select("pass", "kswapd", "memcg"), on="pass", how="left", maintain_order="left"
    ).with_columns(pl.col("kswapd").fill_null(value=False), pl.col("memcg").fill_null(0), flags=0)
    found = decide_sums(lists, rows.rules, "list").select(woken_rules="wakes")
    before = {
        f"{name}_before_rules": pl.col(name).cum_sum().over("pass") - pl.col(name)
        for name in SUMMED
    }
    equal = map(_as_the_rules, ("woken", *(f"{name}_before" for name in SUMMED)))
    return lists.hstack(found).with_columns(**before).with_columns(equal=pl.all_horizontal(*equal))


def _compared_passes(rows: SumRows) -> pl.DataFrame:
    sums = rows.lists.group_by("pass").agg(
        pl.col(name).sum().alias(f"{name}_rules") for name in SUMMED
    )
    passes = rows.passes.join(sums, on="pass", how="left", maintain_order="left").with_columns(
        pl.col(f"{name}_rules").fill_null(0) for name in SUMMED
    )
    found = decide_sums(passes.with_columns(flags="flags_before"), rows.rules, "pass")
    passes = passes.hstack(
        found.select(decided_rules="decides", throttle_rules="throttle", set_rules="set")
    )
    # A cgroup's task looks at the flags of its lruvec, and kswapd alone changes that of the node.
    mask = pl.when("kswapd").then(WRITEBACK_FLAG + CONGESTED_FLAGS).otherwise(CONGESTED_FLAGS)
    left = (pl.col("flags_before") | pl.col("set_rules")) & mask
    flags = (pl.col("flags_after").fill_null(left) & mask) == left
    equal = map(_as_the_rules, (*SUMMED, "decided", "throttle"))
    return passes.with_columns(concurrent=~flags & pl.col("others")).with_columns(
        equal=pl.all_horizontal(*equal, flags | pl.col("concurrent"))
    )


def _first(lists: pl.DataFrame, passes: pl.DataFrame) -> str:
    """Describe the first row that differs."""
    wrong = [frame.filter(~pl.col("equal")).head(1).to_dicts() for frame in (lists, passes)]
    row = min((row for rows in wrong for row in rows), key=lambda each: each["t_ns"])
    kind = "list" if "woken" in row else "pass"
    where = f"the {kind} with seq {row['seq']}, of task {row['pid']} in pass {row['pass']}"
    return mismatch(where, "another sum or decision", sides_of(row))


def sides_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Return in words what a row has of which the rules have a value, that value, and the rest."""
    rules = {
        name.removesuffix(end): value
        for end in _BY_RULES
        for name, value in row.items()
        if name.endswith(end) and name.removesuffix(end) in row
    }
    others = {
        name: value
        for name, value in row.items()
        if name not in (*rules, *_NOT_SHOWN) and not name.endswith((*_BY_RULES, "_differs"))
    }
    sides = {"kernel": {name: row[name] for name in rules}, "rules": rules, "row": others}
    return {side: in_words(values) for side, values in sides.items()}


def in_words(values: Mapping[str, Any]) -> str:
    """Return values by their names as a list of words."""
    texts = {
        name: "+".join(value) or "none" if isinstance(value, list) else value
        for name, value in values.items()
    }
    return ", ".join(f"{name} {text}" for name, text in texts.items())


# What the rules would decide for all of memory.
def root_stalls(trace: Path, rules: Sequence[str] | None = None) -> pl.DataFrame:
    """Return how often reclaim requests a throttle, or would if 7.3's rule held for all of memory.

    A kernel that never flags a node counts no page as immediate. On a node that is flagged by the
    other rules, those under writeback with the reclaim flag are: of files these are ``congested``,
    of anonymous pages nothing is known, so that a pass of kswapd with some ``may_ask``. A throttle
    for congestion is skipped where few pages are under writeback: nothing is known of sleeps.
    """
    for name in rules or ():
        check_choice("rules", name, SUMS_RULES)
    found = _root_stalls(sum_rows(trace)).with_columns(trace=pl.lit(trace.name))
    if rules is not None:
        found = found.filter(pl.col("rules").is_in([*rules]))
    return found.select(pl.col(name).cast(kind) for name, kind in _ROOT_STALLS.items())


def _root_stalls(rows: SumRows) -> pl.DataFrame:
    cgroup = pl.when(pl.col("memcg") > 0).then(pl.lit("cgroup")).otherwise(pl.lit("direct"))
    by = pl.when("kswapd").then(pl.lit("kswapd")).otherwise(cgroup)
    passes = rows.passes.with_columns(reclaimer=by.cast(_ROOT_STALLS["reclaimer"]))
    of_pass = passes.select("pass", "kswapd", "memcg")
    lists = rows.lists.join(of_pass, on="pass", maintain_order="left")
    own = passes.select("pass", "throttle", may=pl.lit(value=False))
    slept = passes.group_by("reclaimer").agg(slept=pl.col("slept_us").count())
    decided = _counted(rows.rules, passes, lists, own)
    parts = [decided.join(slept, on="reclaimer", maintain_order="left")]
    all_memory = pl.col("memcg") == 0
    for rules in SUMS_RULES:
        if rules != rows.rules:
            place, states = ("list", lists) if rules == "each-list" else ("pass", passes)
            decided = _open_loop(states.filter(all_memory), rules, place)
            parts.append(_counted(rules, passes.filter(all_memory), lists, decided))
    return pl.concat(parts, how="diagonal")


def flags_left(states: pl.DataFrame, rules: str, place: str) -> pl.Series:
    """Return the flags that rows of reclaim of all of memory find if rules decided all before.

    What sets a flag does not depend on flags, and kswapd clears all when it balances the node.
    """
    unflagged = states.with_columns(flags=pl.lit(0, pl.UInt8))
    known = states.select("balances").hstack(decide_sums(unflagged, rules, place).select("set"))
    flags = [
        ((pl.col("set") & bit) > 0).cum_max().shift(fill_value=False).over("balances") * bit
        for bit in (1 << number for number in range(len(SUMS_FLAGS)))
    ]
    return known.select(pl.sum_horizontal(flags).cast(pl.UInt8)).to_series()


def _open_loop(states: pl.DataFrame, rules: str, place: str) -> pl.DataFrame:
    """Return ``pass``, ``throttle`` and ``may`` for rows of reclaim of all of memory, in order."""
    known = states.with_columns(flags=flags_left(states, rules, place))
    marked = (pl.col("flags") & WRITEBACK_FLAG > 0) & pl.col("kswapd")
    immediate = pl.min_horizontal("congested", "writeback")
    known = known.with_columns(
        immediate=pl.when(marked).then(immediate).otherwise("immediate"),
        writeback=pl.when(marked).then(pl.col("writeback") - immediate).otherwise("writeback"),
    )
    may = marked & (pl.col("immediate") == 0) & (pl.col("writeback") > 0)
    return known.select("pass", may=may).hstack(decide_sums(known, rules, place).select("throttle"))


def _counted(
    rules: str, passes: pl.DataFrame, lists: pl.DataFrame, decided: pl.DataFrame
) -> pl.DataFrame:
    """Return the rows of one rule set."""
    reasons = ("writeback", "congested")
    of_decisions = decided.group_by("pass").agg(
        pl.col("may").any(),
        *((pl.col("throttle") == name).sum().alias(f"n_{name}") for name in reasons),
    )
    of_lists = lists.group_by("pass").agg(pl.len().alias("lists"), wakes=pl.col("woken").sum())
    joined = (
        passes.select("pass", "reclaimer")
        .join(of_decisions, on="pass", how="left")
        .join(of_lists, on="pass", how="left")
        .fill_null(0)
        .with_columns(pl.col("may").fill_null(value=False))
    )
    asked = pl.any_horizontal(pl.col(f"n_{name}") > 0 for name in reasons)
    may, woken = ~asked & pl.col("may"), pl.col("wakes") > 0
    found = joined.group_by("reclaimer").agg(
        passes=pl.len(),
        lists=pl.col("lists").sum(),
        asked=asked.sum(),
        may_ask=may.sum(),
        woken=(~asked & ~may & woken).sum(),
        neither=(~asked & ~may & ~woken).sum(),
        **{name: pl.col(f"n_{name}").sum() for name in reasons},
        wakes=pl.col("wakes").sum(),
    )
    return found.with_columns(rules=pl.lit(rules)).sort("reclaimer")
