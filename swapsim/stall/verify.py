# SPDX-License-Identifier: GPL-2.0-or-later
"""A real kernel's reclaim compared with the rules by which it should have decided.

From folios come the counters of each list, from lists the sums, flags and sleeps of each pass, from
rounds their sleeps; each call that requests a sleep decides again whether it sleeps. Each table
gets the rules' values next to the kernel's, in columns that end in ``_rules``.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.errors import InputError, errors_of
from swapsim.ffi import STALL_BRANCHES, STALL_COUNTERS, STALL_RULES, STALL_STEPS
from swapsim.progress import bar
from swapsim.stall import _native
from swapsim.stall._native import Numbers
from swapsim.stall.flags import CONCURRENT, CONTRADICTED, EXACT, judge_flags
from swapsim.stall.recording import OUTCOME_COUNTERS, ReclaimRows, Recording, gather, reclaim_rows
from swapsim.stall.sums import in_words, is_of_sums, sides_of, verify_sums
from swapsim.stall.tables import OUTCOME, THROTTLE
from swapsim.traces.folder import Trace, provenance
from swapsim.traces.verification import Verdict, mismatch

_DEFAULT_RULES: Final = "6.1"
"""Rules of a recording whose trace.toml names none."""

TICKS: Final = 250  # timer ticks a second of a kernel whose trace.toml does not say

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

_OUTCOMES: Final = tuple(OUTCOME.categories)
_ACTIVATED: Final[tuple[str, ...]] = ("activated", "culled")
_KEPT: Final[tuple[str, ...]] = ("kept",)
_OUTCOMES_BY_STEP: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("evictable", "reference_activate", "unmap", "pinned"), _ACTIVATED),
    **dict.fromkeys(("pageout_activate", "release"), _ACTIVATED),
    "demote": _OUTCOMES,
    "swap": (*_ACTIVATED, *_KEPT, "split"),
    "written": ("written",),
    "freed": ("reclaimed",),
}
"""Outcomes of a folio by the step at which it ends; at all other steps it is kept."""

_SUMS: Final = {
    **{name: pl.col(name).sum() for name in (*STALL_COUNTERS, "taken", "scanned", "reclaimed")},
    "file_taken": pl.col("taken").filter("file").sum(),
}
"""The sums of a pass by the names of its counters, over the rows of its lists."""

_REQUEST: Final = ("pass", "list", "reason")
_JUDGED: Final = ("seq", "pass", "pid", "raced", "fault")
_FOLIO_FLAGS: Final = (
    *("file", "lazyfree", "dirty", "writeback", "reclaim", "marked", "swap"),
    *("fs_dirty", "fs_writeback"),
)
_MOST_ROWS: Final = 64
_NAMES: Final = {
    "reclaim_lists": "list {list} in pass {pass}",
    "reclaim_passes": "pass {pass}",
    "throttles": "the call {reason} of pass {pass}, list {list}",
    "reclaim_rounds": "the round of pass {pass}",
    "reclaim_clears": "the clear of flags ({why})",
}
"""What a row of each table is called in a first mismatch."""
_RESULT: Final = (
    "decided {passes} passes as the kernel did ({lists} lists' counters, {throttles} throttles)"
)


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
            *(_differs(name, "_added") for name in _SUMS if name != "reclaimed"),
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


def verify(
    trace: Trace | Path | str, rules: str | None = None, *, progress: bool = False
) -> Verdict:
    """Compare all that a kernel's reclaim counted and decided with a set of rules.

    A patched 6.1 records each folio: from these come the counters of each list, from lists the
    sums, flags and sleeps of each pass, and each call that requests a sleep decides again whether
    it sleeps; flags that were read must be those that the rows before left. Why too many pages were
    isolated, how long a task was left asleep, and which lazyfree folios became anonymous ones is
    not recorded. A stock 7.3 records the counts of lists and passes alone: see `verify_sums`.

    Parameters
    ----------
    trace : Trace, Path or str
        A recording of either kind, as `swapsim.open` takes it.
    rules : str
        Those of RULES that a patched 6.1 was switched to; by default ``kernel.reclaim_rules`` of
        its trace.toml, or "6.1" without it. Timer ticks a second are its ``kernel.hz``, or 250.
    progress : bool
        Whether a terminal shows a bar.

    Returns
    -------
    Verdict
        Counts of ``passes``, of ``lists`` (their counters) and of ``throttles``. Its tables
        ``lists``, ``passes`` and ``throttles`` have a row for each that the recording contains
        completely: ``raced`` says that the order of rows allows another flag, ``fault`` is the
        first difference, null for none; ``faults`` has all rows that differ, also of rounds and
        clears. Its figures are the numbers ``raced`` and ``folios``, and what is not judged, by
        kind.

    Raises
    ------
    InputError
        A table is missing or damaged, a row is none that a kernel writes, rows contradict each
        other, or there is no such rule set.

    Source
    ------
    mm/vmscan.c: shrink_folio_list, shrink_inactive_list, shrink_node, consider_reclaim_throttle,
    reclaim_throttle (6.1).

    Examples
    --------
    >>> from swapsim import stall
    >>> verdict = stall.verify("stalls-cgroup-1")
    >>> verdict.agrees, verdict.matched, verdict.of, verdict.counts["throttles"]
    (True, 4241, 4241, (1376, 1376))
    """
    path = Path(trace)
    if is_of_sums(path):
        if rules is not None:
            raise InputError(f"rules={rules!r}: a stock 7.3 has rules of its own: drop it")
        return verify_sums(path)
    rows = reclaim_rows(path)
    with errors_of(path):
        about = provenance(path).get("kernel", {})
        recorded = about.get("reclaim_rules")
        if recorded is not None and recorded not in STALL_RULES:
            why = (
                f"{recorded!r} in trace.toml is none of {', '.join(STALL_RULES)}: write one of them"
            )
            raise InputError(why, field="kernel.reclaim_rules")
        name = rules or recorded or _DEFAULT_RULES
        verdict = verify_rows(rows, name, hz=about.get("hz", TICKS), progress=progress)
    says = "names none" if recorded is None else f"says {recorded}"
    why = "as trace.toml says" if name == recorded else f"trace.toml {says}"
    first = verdict.first
    if first and recorded not in (None, name):
        first += f"\n  recorded with the rules {recorded}, replayed with {name}"
    return replace(verdict, first=first, notes=(f"rules: {name} ({why})", *verdict.notes))


def verify_rows(
    rows: ReclaimRows, rules: str = _DEFAULT_RULES, *, hz: int = TICKS, progress: bool = False
) -> Verdict:
    """Compare the rows of a patched 6.1 with a set of rules, as `verify` says."""
    recording, by_rules = gather(rows), _native.rules_of(rules)
    # The flags need nothing of the rest, and most of both is work of numpy, which frees Python.
    with ThreadPoolExecutor(1) as pool:
        flags = pool.submit(judge_flags, recording, by_pass=by_rules.by_pass)
        lists, folios = _compare_lists(recording, by_rules, progress=progress)
        rounds = rows.rounds.with_columns(throttle_rules=_native.decide_rounds(rows.rounds, rules))
        passes = _compare_passes(recording, rounds, rules)
        requested = _requested(lists, passes, rounds)
        throttles = _compare_throttles(recording, requested, by_rules, hz=hz)
        missing = _missing(throttles, requested)
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
                flags_rules=pl.col("why").replace_strict(by_rules.clears, return_dtype=pl.UInt8)
            ),
        }
        judged = {name: _judge(name, frame, flags.result()) for name, frame in tables.items()}
    return _verdict(recording, judged, folios, missing=int(missing["calls"].sum()))


def _verdict(
    recording: Recording, judged: Mapping[str, pl.DataFrame], folios: pl.DataFrame, *, missing: int
) -> Verdict:
    """Return the counts and notes; ``missing`` calls are requested by the rules alone."""
    faults = pl.concat(
        frame.drop_nulls("fault").select("seq", pl.lit(name).alias("table"), "fault")
        for name, frame in judged.items()
    ).sort("seq")
    tables = {
        "lists": judged["reclaim_lists"].select(*_JUDGED, "list", "folios"),
        "passes": _add_faults_of_lists(judged).select(*_JUDGED, "lists"),
        "throttles": judged["throttles"].select(*_JUDGED, "list", "reason", "timeout_us"),
    }
    equal = {name: table["fault"].null_count() for name, table in tables.items()}
    equal["lists"] = tables["lists"].filter(pl.col("fault").ne_missing("counters")).height
    compared = {name: table.height for name, table in tables.items()}
    compared["throttles"] += missing
    raced = sum(int(table["raced"].sum()) for table in tables.values())
    by_length = judged["throttles"].group_by("kind").len().drop_nulls().sort("kind")
    notes = [f"{faults.height} rows differ"] if faults.height > 1 else []
    notes += [f"not judged: {n} {kind}" for kind, n in recording.left_out.items() if n]
    notes += [f"judged by their length alone: {n} {kind}" for kind, n in by_length.iter_rows()]
    if raced:
        notes.append(
            f"explained by a concurrent change: {raced} lists, passes and throttles read a flag "
            "that another task was changing, so that either value is right"
        )
    return Verdict(
        agrees=faults.is_empty(),
        counts={name: (equal[name], compared[name]) for name in ("passes", "lists", "throttles")},
        result=_RESULT,
        figures={
            "folios": int(tables["lists"]["folios"].sum()),
            "raced": raced,
            "left_out": sum(recording.left_out.values()),
            **recording.left_out,
        },
        notes=tuple(notes),
        first=_first(faults, recording, judged, folios) if faults.height else None,
        tables={**tables, "faults": faults},
    )


def _judge(table: str, frame: pl.DataFrame, flags: pl.DataFrame) -> pl.DataFrame:
    """Add the first fault of each row, and whether it read a flag during a concurrent change."""
    verdict = pl.col("verdict").fill_null(EXACT)
    faults = _FAULTS[table].items()
    fault = pl.coalesce(pl.when(test).then(pl.lit(name)) for name, test in faults)
    joined = frame.join(flags, on="seq", how="left", maintain_order="left")
    return joined.with_columns(verdict).with_columns(raced=verdict == CONCURRENT, fault=fault)


def _add_faults_of_lists(judged: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the passes; one without a fault has that of its first list that decided otherwise."""
    lists = judged["reclaim_lists"].filter(pl.col("fault") != "counters")
    of_list = lists.group_by("pass", maintain_order=True).agg(of_list=pl.col("fault").first())
    passes = judged["reclaim_passes"].join(of_list, on="pass", how="left", maintain_order="left")
    return passes.with_columns(fault=pl.coalesce("fault", "of_list"))


# Lists: their counters, and where their folios end.


def _compare_lists(
    recording: Recording, rules: _native.Rules, *, progress: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the lists with the rules' values, and the folios with what contradicts the rules."""
    with bar(recording.folios.height, "verify", "folios", shown=progress) as counter:
        rows = recording.folios, recording.lists
        decided, branches = _native.decide_lists(*rows, rules.name, tick=counter.update)
    ours = decided.drop("list").with_columns(**_outcome_counters(recording))
    lists = recording.lists.hstack(ours.rename({name: f"{name}_rules" for name in ours.columns}))
    branch, step, outcome = (
        column.to_physical().cast(pl.UInt8).to_numpy()
        for column in (branches, recording.folios["step"], recording.folios["outcome"])
    )
    steps, outcomes = _possible(rules)
    folios, of_lists = {}, {}
    for name, differs in (
        ("step_differs", ~_pick(steps, branch, step)),
        ("outcome_differs", ~_pick(outcomes, step, outcome)),
    ):
        found = np.zeros(lists.height, dtype=bool)
        found[np.searchsorted(recording.ends, np.flatnonzero(differs), side="right")] = True
        folios[name], of_lists[name] = pl.Series(differs), pl.Series(found)
    lists = lists.with_columns(folios=pl.col("rows").cast(pl.UInt32), **of_lists)
    return lists, recording.folios.with_columns(branches.alias("branch"), **folios)


def _pick(table: Numbers, rows: Numbers, columns: Numbers) -> Numbers:
    """Return ``table[rows, columns]`` of numbers of 8 bits, by one index instead of two."""
    found: Numbers = np.take(table, rows * np.uint16(table.shape[1]) + columns)
    return found


def _outcome_counters(recording: Recording) -> dict[str, pl.Series]:
    """Count what became of each list's folios: OUTCOME_COUNTERS."""
    folios = recording.folios
    pages, file = (folios[name].to_numpy() for name in ("pages_end", "file"))
    step, outcome = (folios[name].to_physical().to_numpy() for name in ("step", "outcome"))
    activated = outcome == _OUTCOMES.index("activated")
    starts = recording.starts

    def at(name: str) -> Numbers:
        found: Numbers = step == STALL_STEPS.index(name)
        return found

    def pages_of(those: Numbers) -> Numbers:
        # A product has no branch, which the processor could not predict.
        if not len(pages):
            return np.zeros(0)
        found: Numbers = np.add.reduceat(pages * those, starts, dtype=pages.dtype)
        return found

    # A folio that is no longer lazyfree is anonymous when it is activated. Of those whose
    # unmapping failed, only the list's own counter says how many are.
    lazyfree = pages_of(folios["lazyfree"].to_numpy() & at("unmap"))
    failed = np.minimum(recording.lists["lazyfree_fail"].to_numpy(), lazyfree)
    counted = {
        "pageout": pages_of(folios["clean"].is_not_null().to_numpy()),
        "activate_anon": pages_of(activated & ~file) + failed,
        "activate_file": pages_of(activated & file) - failed,
        "ref_keep": pages_of(at("reference_keep")),
        "unmap_fail": pages_of(at("unmap")),
        "lazyfree_fail": failed,
        "scanned": pages_of(~at("lock")),
        "reclaimed": pages_of(outcome == _OUTCOMES.index("reclaimed")),
    }
    return {name: pl.Series(counted[name]).cast(pl.UInt32) for name in OUTCOME_COUNTERS}


def _possible(rules: _native.Rules) -> tuple[Numbers, Numbers]:
    """Return which step can go with which branch, and which outcome with which step."""
    later = STALL_STEPS[STALL_STEPS.index("writeback_3") + 1 :]
    goes_on = {case: (*_STEPS_BY_BRANCH[case], *later) for case in rules.goes_on_after}
    by_rules = dict.fromkeys(
        ("writeback_1", "writeback_2", "dirty"), _ACTIVATED if rules.activates else _KEPT
    )
    steps, outcomes = {**_STEPS_BY_BRANCH, **goes_on}, {**_OUTCOMES_BY_STEP, **by_rules}
    of_step = [outcomes.get(step, _KEPT) for step in STALL_STEPS]
    return (
        np.array([[step in steps[branch] for step in STALL_STEPS] for branch in STALL_BRANCHES]),
        np.array([[outcome in known for outcome in _OUTCOMES] for known in of_step]),
    )


# Passes: the sums of their lists, their flags and sleeps.


def _compare_passes(recording: Recording, rounds: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Return the passes with the sums of their lists and the decisions of the rules."""
    added = recording.rows.lists.group_by("pass").agg(
        pl.len().alias("lists"),
        *(value.cast(pl.UInt64).alias(f"{name}_added") for name, value in _SUMS.items()),
    )
    differs = rounds.filter(_OTHER_THROTTLE)["pass"]
    ours = _native.decide_passes(recording.passes, rules).select(pl.all().name.suffix("_rules"))
    passes = recording.passes.hstack(ours)
    return passes.join(added, on="pass", how="left", maintain_order="left").with_columns(
        pl.col("lists", *(f"{name}_added" for name in _SUMS)).fill_null(0),
        round_differs=pl.col("pass").is_in(differs.implode()),
    )


# Calls that request a sleep.


def _compare_throttles(
    recording: Recording, requested: pl.DataFrame, rules: _native.Rules, *, hz: int
) -> pl.DataFrame:
    """Return the calls with the length by the rules, and ``kind``, of a call without a request."""
    calls = recording.rows.throttles
    unexplained = pl.col("nth") > pl.col("calls").fill_null(0)
    return (
        calls.with_columns(
            timeout_us_rules=_native.sleep_lengths(calls, hz=hz),
            kind=_kind(recording, rules),
            nth=pl.int_range(1, pl.len() + 1).over(_REQUEST),
        )
        .join(requested, on=_REQUEST, how="left", maintain_order="left")
        .with_columns(not_requested=pl.col("kind").is_null() & unexplained)
        .drop("nth", "calls")
    )


def _missing(throttles: pl.DataFrame, requested: pl.DataFrame) -> pl.DataFrame:
    """Return the requests of the rules for which there is no call."""
    called = throttles.group_by(_REQUEST).agg(called=pl.len().cast(pl.Int64))
    left = pl.col("calls") - pl.col("called").fill_null(0)
    return (
        requested.join(called, on=_REQUEST, how="left")
        .with_columns(calls=left)
        .filter(pl.col("calls") > 0)
    )


def _requested(lists: pl.DataFrame, passes: pl.DataFrame, rounds: pl.DataFrame) -> pl.DataFrame:
    """Return how many sleeps the rules request for each list, pass or round, by reason."""
    one, none = pl.lit(1, dtype=pl.Int64), pl.lit(0, dtype=pl.UInt64)
    case_1 = pl.lit("congestion_wait", dtype=THROTTLE)
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


def _kind(recording: Recording, rules: _native.Rules) -> pl.Expr:
    """Return the kind of a call that no row explains, null for all others."""
    isolated = pl.col("reason").is_in(["isolated", rules.isolated])
    rows = recording.moments.filter(pl.col("kind") != "clear")
    ends = rows.group_by("pid").agg(pl.col("seq").max())["seq"]

    def among(column: str, known: pl.Series) -> pl.Expr:
        return pl.col(column).is_in(known.implode())

    alone = pl.col("list") == 0
    kinds = {
        "requested outside of passes": alone & (pl.col("pass") == 0),
        "requested because too many pages were isolated": alone & isolated,
        "of passes that are not complete in the recording": alone
        & ~among("pass", recording.passes["pass"]),
        "of rounds that do not end in the recording": alone & among("seq", ends),
        "of lists that are not complete in the recording": ~alone
        & ~among("list", recording.lists["list"]),
    }
    return pl.coalesce(pl.when(test).then(pl.lit(kind)) for kind, test in kinds.items())


# The first row that differs, with all that it rests on.


def _first(
    faults: pl.DataFrame,
    recording: Recording,
    judged: Mapping[str, pl.DataFrame],
    folios: pl.DataFrame,
) -> str:
    """Describe where a trace first differs: the kernel's row, the rules' values, its folios."""
    seq, table, fault = faults.row(0)
    row = judged[table].row(by_predicate=pl.col("seq") == seq, named=True)
    more: list[str] = []
    if table == "reclaim_lists":
        calls = recording.rows.throttles.filter(list=row["list"])
        row["sleeps"] = calls["reason"].to_list()
        row["sleeps_rules"] = ["congestion_wait"] * row["slept_rules"] + row["sleeps_rules"]
        own = folios.filter(list=row["list"])
        more = [_folio(each) for each in own.head(_MOST_ROWS).iter_rows(named=True)]
        more += ["    and more"] * (own.height > _MOST_ROWS)
    elif table == "reclaim_passes":
        counters = ("taken", *STALL_COUNTERS)
        lists = recording.rows.lists.filter(pl.col("pass") == row["pass"])
        more = [
            f"    list {each['list']} at seq {each['seq']}: "
            f"{in_words({name: each[name] for name in counters})}"
            for each in lists.iter_rows(named=True)
        ]
    where = f"{_NAMES[table].format(**row)} at seq {seq} of task {row['pid']}"
    return mismatch(where, f"differs in {fault}", sides_of(row), *more)


def _folio(row: Mapping[str, Any]) -> str:
    """Return a folio of a list, and what the rules decide for one at fault."""
    flags = " ".join(name for name in _FOLIO_FLAGS if row[name])
    saw = "" if row["node_flags"] is None else f" saw {row['node_flags']}"
    at_fault = row["step_differs"] or row["outcome_differs"]
    here = f"  <- here; by the rules {row['branch']}" if at_fault else ""
    return f"    folio at seq {row['seq']}: {row['step']}, {row['outcome']}: {flags}{saw}{here}"
