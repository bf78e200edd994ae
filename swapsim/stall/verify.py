# SPDX-License-Identifier: GPL-2.0-or-later
"""A real kernel's reclaim compared with the rules by which it should have decided.

From folios come the counters of each list, from lists the sums, flags and sleeps of each pass, from
rounds their sleeps; each call that requests a sleep decides again whether it sleeps. Each table
gets the rules' values next to the kernel's, in columns that end in ``_rules``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import interrupt
from swapsim.checks import checked
from swapsim.errors import InputError
from swapsim.ffi import STALL_BRANCHES, STALL_COUNTERS, STALL_STEPS
from swapsim.progress import bar, over
from swapsim.stall._native import decide_lists, decide_passes, decide_rounds, sleep_lengths
from swapsim.stall.flags import CONCURRENT, CONTRADICTED, EXACT, judge_flags
from swapsim.stall.mismatch import describe_first
from swapsim.stall.recording import (
    OUTCOME_COUNTERS,
    ReclaimLists,
    ReclaimRows,
    check_reclaim_rows,
    gather,
    reclaim_rows,
)
from swapsim.stall.rules import Rules, rules_of
from swapsim.stall.tables import (
    FOLIO_OUTCOME,
    JUDGED_LISTS,
    JUDGED_PASSES,
    JUDGED_THROTTLES,
    RECLAIM_LISTS,
    RECLAIM_PASSES,
    STALL_FAULT,
    STALL_FAULTS,
    THROTTLE,
    VERIFIED_STALLS,
)
from swapsim.traces.folder import provenance
from swapsim.traces.tables import MATCHED

TICKS: Final = 250
"""Timer ticks a second of a kernel whose trace.toml does not say."""

_STEPS_BY_BRANCH: Final[Mapping[str, tuple[str, ...]]] = {
    "unmet": ("lock", "evictable", "mapped"),
    "goes-on": (
        *("reference_activate", "reference_keep", "demote", "swap", "unmap", "pinned"),
        *("release", "remove", "freed"),
    ),
    "case-1": ("writeback_1",),
    "case-2": ("writeback_2",),
    "case-3": ("writeback_3",),
    "not-written": ("dirty",),
    "no-write": ("no_write",),
    "write": ("pageout_keep", "pageout_activate", "written", "release", "remove", "freed"),
}
"""Steps at which a folio can end, by its branch in the rules; a written one may go on."""

_ACTIVATED: Final[tuple[str, ...]] = ("activated", "culled")
_KEPT: Final[tuple[str, ...]] = ("kept",)
_OUTCOMES_BY_STEP: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("evictable", "reference_activate", "unmap", "pinned"), _ACTIVATED),
    **dict.fromkeys(("pageout_activate", "release"), _ACTIVATED),
    "demote": FOLIO_OUTCOME.words,
    "swap": (*_ACTIVATED, *_KEPT, "split"),
    "written": ("written",),
    "freed": ("reclaimed",),
}
"""Outcomes of a folio by the step at which it ends; at all other steps it is kept."""

_BY_RULES: Final = ("writeback_1", "writeback_2", "dirty")
"""Steps at which the rules say whether a folio is kept or activated."""

_SUMS: Final = (*STALL_COUNTERS, "taken", "scanned")
_REQUEST: Final = ("pass", "list", "reason")

Numbers = np.ndarray[Any, np.dtype[Any]]


def _differs(name: str, suffix: str = "_rules") -> pl.Expr:
    return pl.col(name) != pl.col(name + suffix)


_FLAGS_SEEN: Final = pl.col("verdict") == CONTRADICTED
_OTHER_THROTTLE: Final = pl.col("throttle_rules").ne_missing(pl.col("throttle"))
_FAULTS: Final[Mapping[str, Mapping[str, pl.Expr]]] = {
    "reclaim_lists": {
        "counters": pl.any_horizontal(map(_differs, (*STALL_COUNTERS, *OUTCOME_COUNTERS))),
        "step": pl.col("step_differs"),
        "outcome": pl.col("outcome_differs"),
        "flags set": _differs("flags_set"),
        "flags seen": _FLAGS_SEEN,
        "sleeps": pl.col("not_called"),
    },
    "reclaim_passes": {
        # Shrinkers reclaim pages, too.
        "sums": pl.any_horizontal(
            *(_differs(name, "_added") for name in (*_SUMS, "file_taken")),
            pl.col("reclaimed") < pl.col("reclaimed_added"),
        ),
        "flags set": _differs("flags_set"),
        "flags seen": _FLAGS_SEEN,
        "sleeps": _OTHER_THROTTLE | pl.col("not_called") | pl.col("round_differs"),
    },
    "throttles": {
        "request": pl.col("not_requested"),
        "length": _differs("timeout_us"),
        "flags seen": _FLAGS_SEEN,
    },
    "reclaim_rounds": {"sleeps": _OTHER_THROTTLE},
    "reclaim_clears": {"cleared": _differs("flags")},
}
"""The faults that a row of each table can have, the first one first, and when it has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StallVerdict:
    """What a kernel's reclaim decided, compared with what a set of rules decides.

    Attributes
    ----------
    rules : str
        One of STALL_RULES.
    lists, passes, throttles : polars.DataFrame
        Schemas JUDGED_LISTS, JUDGED_PASSES and JUDGED_THROTTLES.
    faults : polars.DataFrame
        Schema STALL_FAULTS: every row that differs, also of rounds and clears.
    left_out : dict of str to int
        Lists and passes that the recording's ends cut, by kind: they are not judged.
    length_only : dict of str to int
        Calls that request a sleep for a reason that no row has, by kind: only their lengths are
        judged.
    missing : int
        Sleeps that the rules request and for which there is no call.
    first : tuple of str
        A description of the first row that differs, as lines; empty if all agree.
    """

    rules: str
    lists: pl.DataFrame
    passes: pl.DataFrame
    throttles: pl.DataFrame
    faults: pl.DataFrame
    left_out: dict[str, int]
    length_only: dict[str, int]
    missing: int
    first: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return self.faults.is_empty()

    @property
    def counted(self) -> int:
        """Number of lists whose counters agree."""
        return self.lists.height - int((self.lists["fault"] == "counters").sum())

    @property
    def decided(self) -> int:
        """Number of passes that decided as the rules do."""
        return self.passes["fault"].null_count()

    @property
    def held(self) -> int:
        """Number of calls that the rules make, too, with a sleep of the same length."""
        return self.throttles["fault"].null_count()

    @property
    def raced(self) -> int:
        """Number of lists, passes and calls that read a flag during a concurrent change."""
        return sum(int(table["raced"].sum()) for table in (self.lists, self.passes, self.throttles))

    @property
    def matched(self) -> pl.DataFrame:
        """The counts (MATCHED): passes, lists' counters and throttles."""
        rows = [
            ("passes", self.decided, self.passes.height),
            ("lists", self.counted, self.lists.height),
            ("throttles", self.held, self.throttles.height + self.missing),
        ]
        return pl.DataFrame(rows, schema=MATCHED.schema, orient="row")

    def describe(self) -> list[str]:
        """Return lines for the terminal: the first difference, what is open, the counts."""
        lines = list(self.first)
        if self.faults.height > 1:
            lines.append(f"{self.faults.height} rows differ")
        lines += [f"not judged: {n} {kind}" for kind, n in self.left_out.items() if n]
        lines += [
            f"judged by their length alone: {n} {kind}" for kind, n in self.length_only.items()
        ]
        if self.raced:
            lines.append(
                f"explained by a concurrent change: {self.raced} lists, passes and throttles read "
                "a flag that another task was changing, so that either value is right"
            )
        return [
            *lines,
            f"decided {self.decided} of {self.passes.height} passes as the kernel did "
            f"({self.counted} of {self.lists.height} lists' counters, "
            f"{self.held} of {self.throttles.height + self.missing} throttles)",
        ]


@checked
@interrupt.recording()
def verify_stalls(
    source: ReclaimRows | Path | str,
    *,
    rules: str = "6.1",
    hz: int | None = None,
    progress: bool = False,
) -> StallVerdict:
    """Compare all that a kernel's reclaim counted and decided with a set of rules.

    Flags that were read must be those that the rows before left.

    **Not recorded**: why too many pages were isolated, how long a task was left asleep, and which
    lazyfree folios became anonymous ones.

    Parameters
    ----------
    source : ReclaimRows, Path or str
        The tables, or the trace folder of them.
    rules : str
        One of STALL_RULES: those that the kernel was switched to.
    hz : int, optional
        Timer ticks a second; by default ``kernel.hz`` of trace.toml, or 250.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    StallVerdict

    Raises
    ------
    ConfigError
        There is no such rule set.
    InputError
        As for `reclaim_rows`; a list or a pass is not as a recording can hold it; or counters of a
        pass contradict each other.

    Source
    ------
    mm/vmscan.c: shrink_folio_list, shrink_inactive_list, shrink_node, consider_reclaim_throttle,
    reclaim_throttle.
    """
    by_rules = rules_of(rules)
    if isinstance(source, ReclaimRows):
        return _verify(check_reclaim_rows(source), by_rules, hz=hz or TICKS, progress=progress)
    known = provenance(source).get("kernel", {}).get("hz", TICKS)
    try:
        return _verify(reclaim_rows(source), by_rules, hz=hz or known, progress=progress)
    except InputError as error:
        raise error.of(source) from None


@checked
def verified_stalls(folders: Mapping[str, Path]) -> pl.DataFrame:
    """Verify several traces of reclaim, each by the rules that its kernel was switched to.

    Parameters
    ----------
    folders : mapping of str to Path
        Name of a trace -> its folder; ``kernel.reclaim_rules`` of its trace.toml names the rules;
        the default is 6.1.

    Returns
    -------
    polars.DataFrame
        Schema VERIFIED_STALLS, one row per trace.

    Raises
    ------
    InputError
        As for `verify_stalls`.
    """
    rows = []
    counts = ("counted", "decided", "held", "raced")
    for name, folder in over(folders.items(), "verify", "traces"):
        about = provenance(folder)
        rules = about.get("kernel", {}).get("reclaim_rules", "6.1")
        verdict = verify_stalls(folder, rules=rules)
        row = {
            "trace": name,
            "rules": rules,
            "cpus": about.get("guest", {}).get("cpus"),
            "folios": int(verdict.lists["folios"].sum()),
            "lists": verdict.lists.height,
            "passes": verdict.passes.height,
            "throttles": verdict.throttles.height + verdict.missing,
            "left_out": sum(verdict.left_out.values()),
        }
        rows.append(row | {count: getattr(verdict, count) for count in counts})
    return pl.DataFrame(rows, schema=VERIFIED_STALLS.schema)


def _verify(rows: ReclaimRows, rules: Rules, *, hz: int, progress: bool) -> StallVerdict:
    complete = gather(rows)
    with bar(complete.folios.height, "verify", "folios", shown=progress) as counter:
        lists, folios = _compare_lists(complete, rules, tick=counter.update)
    rounds = rows.rounds.with_columns(throttle_rules=decide_rounds(rows.rounds, rules.name))
    passes = _compare_passes(rows, complete, rounds, rules)
    throttles, missing = _compare_throttles(rows, lists, passes, rounds, rules, hz=hz)
    of_list = pl.col("list") > 0
    tables = {
        "reclaim_lists": lists.with_columns(
            not_called=pl.col("list").is_in(missing.filter(of_list)["list"].implode())
        ),
        "reclaim_passes": passes.with_columns(
            not_called=pl.col("pass").is_in(missing.filter(~of_list)["pass"].implode())
        ),
        "throttles": throttles,
        "reclaim_rounds": rounds,
        "reclaim_clears": rows.clears.with_columns(
            flags_rules=pl.col("why").replace_strict(rules.clears, return_dtype=pl.UInt8)
        ),
    }
    verdicts = judge_flags(rows, complete, by_pass=rules.by_pass)
    judged = {name: _judge(frame, verdicts, _FAULTS[name]) for name, frame in tables.items()}
    faults = pl.concat(
        frame.drop_nulls("fault").select("seq", pl.lit(name).alias("table"), "fault")
        for name, frame in judged.items()
    )
    faults = STALL_FAULTS.check(faults.sort("seq"))
    first = describe_first(faults, rows, judged, folios, rules.name) if faults.height else ()
    kinds = throttles.group_by("kind").len().drop_nulls().sort("kind")
    return StallVerdict(
        rules=rules.name,
        lists=JUDGED_LISTS.check(judged["reclaim_lists"].select(JUDGED_LISTS.names())),
        passes=JUDGED_PASSES.check(_add_faults_of_lists(judged).select(JUDGED_PASSES.names())),
        throttles=JUDGED_THROTTLES.check(judged["throttles"].select(JUDGED_THROTTLES.names())),
        faults=faults,
        left_out=complete.left_out,
        length_only=dict(kinds.iter_rows()),
        missing=int(missing["calls"].sum()),
        first=first,
    )


def _judge(
    frame: pl.DataFrame, verdicts: pl.DataFrame, tests: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Add the first fault of each row, and whether it read a flag during a concurrent change."""
    verdict = pl.col("verdict").fill_null(EXACT)
    fault = pl.coalesce(
        pl.when(test).then(pl.lit(name, dtype=STALL_FAULT.dtype)) for name, test in tests.items()
    )
    joined = frame.join(verdicts, on="seq", how="left", maintain_order="left")
    return joined.with_columns(verdict).with_columns(raced=verdict == CONCURRENT, fault=fault)


def _add_faults_of_lists(judged: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the passes; one without a fault has that of its first list that decided otherwise."""
    lists = judged["reclaim_lists"].filter(pl.col("fault") != "counters")
    of_list = lists.group_by("pass", maintain_order=True).agg(of_list=pl.col("fault").first())
    passes = judged["reclaim_passes"].join(of_list, on="pass", how="left", maintain_order="left")
    return passes.with_columns(fault=pl.coalesce("fault", "of_list"))


# Lists: their counters, and where their folios end.


def _compare_lists(
    complete: ReclaimLists, rules: Rules, *, tick: Callable[[int], object]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the lists with the rules' values, and the folios with what contradicts the rules.

    ``step_differs`` says that the rules end a folio, or one of a list, at another step;
    ``outcome_differs`` that it has another outcome than a folio has at its step.
    """
    known = complete.lists.select(RECLAIM_LISTS.names())
    decided, branches = decide_lists(complete.folios, known, rules.name, tick=tick)
    ours = decided.drop("list").with_columns(**_outcome_counters(complete))
    lists = complete.lists.hstack(ours.rename({name: f"{name}_rules" for name in ours.columns}))
    branch, step, outcome = (
        column.to_physical().cast(pl.UInt8).to_numpy()
        for column in (branches, complete.folios["step"], complete.folios["outcome"])
    )
    steps, outcomes = _possible(rules)
    folios, of_lists = {}, {}
    for name, differs in (
        ("step_differs", ~_pick(steps, branch, step)),
        ("outcome_differs", ~_pick(outcomes, step, outcome)),
    ):
        found = np.zeros(lists.height, dtype=bool)
        found[np.searchsorted(complete.ends, np.flatnonzero(differs), side="right")] = True
        folios[name], of_lists[name] = pl.Series(differs), pl.Series(found)
    lists = lists.with_columns(folios=pl.col("rows").cast(pl.UInt32), **of_lists)
    return lists, complete.folios.with_columns(**folios)


def _pick(table: Numbers, rows: Numbers, columns: Numbers) -> Numbers:
    """Return ``table[rows, columns]`` of numbers of 8 bits, by one index instead of two."""
    found: Numbers = np.take(table, rows * np.uint16(table.shape[1]) + columns)
    return found


def _outcome_counters(lists: ReclaimLists) -> dict[str, pl.Series]:
    """Count what became of each list's folios: OUTCOME_COUNTERS."""
    folios = lists.folios
    pages, file = (folios[name].to_numpy() for name in ("pages_end", "file"))
    step, outcome = (folios[name].to_physical().to_numpy() for name in ("step", "outcome"))
    activated = outcome == FOLIO_OUTCOME.words.index("activated")
    starts = lists.starts

    def at(name: str) -> Numbers:
        found: Numbers = step == STALL_STEPS.index(name)
        return found

    def pages_of(those: Numbers) -> Numbers:
        # A product has no branch, which the processor could not predict.
        found: Numbers = np.add.reduceat(pages * those, starts) if len(pages) else np.zeros(0)
        return found

    # A folio that is no longer lazyfree is anonymous when it is activated. Of those whose
    # unmapping failed, only the list's own counter says how many are.
    lazyfree = pages_of(folios["lazyfree"].to_numpy() & at("unmap"))
    failed = np.minimum(lists.lists["lazyfree_fail"].to_numpy(), lazyfree)
    counted = {
        "pageout": pages_of(folios["clean"].is_not_null().to_numpy()),
        "activate_anon": pages_of(activated & ~file) + failed,
        "activate_file": pages_of(activated & file) - failed,
        "ref_keep": pages_of(at("reference_keep")),
        "unmap_fail": pages_of(at("unmap")),
        "lazyfree_fail": failed,
        "scanned": pages_of(~at("lock")),
        "reclaimed": pages_of(outcome == FOLIO_OUTCOME.words.index("reclaimed")),
    }
    return {name: pl.Series(counted[name]).cast(pl.UInt32) for name in OUTCOME_COUNTERS}


def _possible(rules: Rules) -> tuple[Numbers, Numbers]:
    """Return which step can go with which branch, and which outcome with which step."""
    later = STALL_STEPS[STALL_STEPS.index("writeback_3") + 1 :]
    goes_on = {case: (*_STEPS_BY_BRANCH[case], *later) for case in rules.goes_on_after}
    by_rules = dict.fromkeys(_BY_RULES, _ACTIVATED if rules.activates else _KEPT)
    steps, outcomes = {**_STEPS_BY_BRANCH, **goes_on}, {**_OUTCOMES_BY_STEP, **by_rules}
    return (
        np.array([[step in steps[branch] for step in STALL_STEPS] for branch in STALL_BRANCHES]),
        np.array(
            [
                [outcome in outcomes.get(step, _KEPT) for outcome in FOLIO_OUTCOME.words]
                for step in STALL_STEPS
            ]
        ),
    )


# Passes: the sums of their lists, their flags and sleeps.


def _compare_passes(
    rows: ReclaimRows, complete: ReclaimLists, rounds: pl.DataFrame, rules: Rules
) -> pl.DataFrame:
    """Return the passes with the sums of their lists and the decisions of the rules."""
    sums = {name: pl.col(name).sum() for name in (*_SUMS, "reclaimed")}
    sums["file_taken"] = pl.col("taken").filter("file").sum()
    added = rows.lists.group_by("pass").agg(
        pl.len().alias("lists"),
        *(value.cast(pl.UInt64).alias(f"{name}_added") for name, value in sums.items()),
    )
    differs = rounds.filter(_OTHER_THROTTLE)["pass"]
    passes = complete.passes.join(added, on="pass", how="left", maintain_order="left").with_columns(
        pl.col("lists", *(f"{name}_added" for name in sums)).fill_null(0),
        round_differs=pl.col("pass").is_in(differs.implode()),
    )
    return with_decisions(passes, rules.name)


def with_decisions(passes: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Add ``flags_set_rules`` and ``throttle_rules`` to rows of RECLAIM_PASSES with more columns.

    The counters decide the flags. The sleep depends on the flags that its test read, so that
    counters by which a pass only sets flags are left out for it.
    """
    known = passes.select(RECLAIM_PASSES.names())
    no_pages = pl.lit(0, dtype=pl.UInt32)
    unset = dict.fromkeys(("dirty", "unqueued_dirty", "congested"), no_pages)
    at_test = known.with_columns(flags_before="flags_after", **unset)
    return passes.with_columns(
        flags_set_rules=decide_passes(known, rules)["flags_set"],
        throttle_rules=decide_passes(at_test, rules)["throttle"],
    )


# Calls that request a sleep.


def _compare_throttles(
    rows: ReclaimRows,
    lists: pl.DataFrame,
    passes: pl.DataFrame,
    rounds: pl.DataFrame,
    rules: Rules,
    *,
    hz: int,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compare each call that requests a sleep with the requests of the rules, and its length.

    Returns the calls with ``kind``, of a call that no row explains, and the sleeps that the rules
    request and for which there is no call.
    """
    requested = _requested(lists, passes, rounds)
    unexplained = pl.col("nth") > pl.col("calls").fill_null(0)
    throttles = (
        rows.throttles.with_columns(
            timeout_us_rules=sleep_lengths(rows.throttles, hz=hz),
            kind=_kind(rows, lists, passes, rules),
            nth=pl.int_range(1, pl.len() + 1).over(_REQUEST),
        )
        .join(requested, on=_REQUEST, how="left", maintain_order="left")
        .with_columns(not_requested=pl.col("kind").is_null() & unexplained)
    )
    called = rows.throttles.group_by(_REQUEST).agg(called=pl.len().cast(pl.Int64))
    missing = (
        requested.join(called, on=_REQUEST, how="left")
        .with_columns(calls=pl.col("calls") - pl.col("called").fill_null(0))
        .filter(pl.col("calls") > 0)
    )
    return throttles.drop("nth", "calls"), missing


def _requested(lists: pl.DataFrame, passes: pl.DataFrame, rounds: pl.DataFrame) -> pl.DataFrame:
    """Return how many sleeps the rules request for each list, pass or round, by reason."""
    one, none = pl.lit(1, dtype=pl.Int64), pl.lit(0, dtype=pl.UInt64)
    case_1 = pl.lit("congestion_wait", dtype=THROTTLE.dtype)
    at_end = lists.explode("sleeps_rules").select("pass", "list", reason="sleeps_rules", calls=one)
    in_case_1 = lists.filter(pl.col("slept_rules") > 0).select(
        "pass", "list", reason=case_1, calls=pl.col("slept_rules").cast(pl.Int64)
    )
    of_rounds = rounds.filter(pl.col("pass").is_in(passes["pass"].implode()))
    others = [
        frame.select("pass", list=none, reason="throttle_rules", calls=one)
        for frame in (passes, of_rounds)
    ]
    requests = pl.concat([at_end, in_case_1, *others]).drop_nulls("reason")
    return requests.group_by(_REQUEST).agg(pl.col("calls").sum())


def _kind(rows: ReclaimRows, lists: pl.DataFrame, passes: pl.DataFrame, rules: Rules) -> pl.Expr:
    """Return the kind of a call that no row explains, null for all others."""
    isolated = pl.col("reason").is_in(["isolated", rules.isolated])
    alone = pl.col("list") == 0
    others = (rows.lists, rows.passes, rows.throttles, rows.rounds, rows.folios)
    # The last rows of runs of a task are enough, and few.
    last = (pl.col("pid") != pl.col("pid").shift(-1)).fill_null(value=True)
    known = pl.concat([part.select("pid", "seq").filter(last) for part in others])
    ends = known.group_by("pid").agg(pl.col("seq").max())["seq"]
    return (
        pl.when(alone & (pl.col("pass") == 0))
        .then(pl.lit("requested outside of passes"))
        .when(alone & isolated)
        .then(pl.lit("requested because too many pages were isolated"))
        .when(alone & ~pl.col("pass").is_in(passes["pass"].implode()))
        .then(pl.lit("of passes that are not complete in the recording"))
        .when(alone & pl.col("seq").is_in(ends.implode()))
        .then(pl.lit("of rounds that do not end in the recording"))
        .when(~alone & ~pl.col("list").is_in(lists["list"].implode()))
        .then(pl.lit("of lists that are not complete in the recording"))
    )
