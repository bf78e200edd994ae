# SPDX-License-Identifier: GPL-2.0-or-later
"""What a real kernel's reclaim counted and decided, beside the rules by which it should have."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim.checks import check_choice
from swapsim.errors import InputError
from swapsim.ffi.facts import STALL_RULES
from swapsim.progress import bar, over
from swapsim.stall.counters import count_lists
from swapsim.stall.judged import (
    all_faults,
    decided_passes,
    judge_lists,
    judge_passes,
    judge_seen,
    judge_throttles,
)
from swapsim.stall.lists import gather
from swapsim.stall.mismatch import describe_first
from swapsim.stall.recording import ReclaimRows, check_reclaim_rows, reclaim_rows
from swapsim.stall.sleeps import judge_sleeps
from swapsim.stall.tables import JUDGED_PASSES, VERIFIED_STALLS
from swapsim.stall.verdict import StallVerdict
from swapsim.traces import provenance

TICKS: Final = 250
"""Timer ticks a second of a kernel whose trace.toml does not tell."""


def verify_stalls(
    source: ReclaimRows | Path | str,
    *,
    rules: str = "6.1",
    hz: int | None = None,
    progress: bool = False,
) -> StallVerdict:
    """Count a kernel's lists anew from their folios and decide all that it decided.

    From folios come the counters of each list, from lists the sums, flags and sleeps of each pass,
    from rounds theirs; each call for a sleep decides anew whether it sleeps. Flags that were seen
    must be those that the rows before left.

    **Not seen**: why too many pages were isolated, how long a sleeper was left asleep, and which
    lazyfree folios became anonymous ones.

    Parameters
    ----------
    source : ReclaimRows, Path or str
        The tables, or the trace folder of them.
    rules : str
        One of STALL_RULES: those that the kernel was switched to.
    hz : int, optional
        Timer ticks a second; else as trace.toml tells in ``kernel.hz``, else 250.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    StallVerdict

    Raises
    ------
    ConfigError
        There are no such rules.
    InputError
        As for `traces.reclaim_rows` and `stall_lists.gather`; or counters of a pass contradict
        each other.

    Source
    ------
    mm/vmscan.c: shrink_folio_list, shrink_inactive_list, shrink_node, consider_reclaim_throttle,
    reclaim_throttle.
    """
    check_choice("rules", rules, STALL_RULES)
    if isinstance(source, ReclaimRows):
        return _judged(check_reclaim_rows(source), rules, hz=hz or TICKS, progress=progress)
    told = provenance(source).get("kernel", {}).get("hz", TICKS)
    try:
        return _judged(reclaim_rows(source), rules, hz=hz or told, progress=progress)
    except InputError as error:
        raise error.of(source) from None


def _judged(rows: ReclaimRows, rules: str, *, hz: int, progress: bool) -> StallVerdict:
    lists = gather(rows)
    total = lists.folios.height
    with bar(total, "verify", "folios", shown=progress) as counter:
        counted = count_lists(lists, rules, tick=counter.update)
    decided = decided_passes(rows, lists, rules)
    ours = counted.ours.with_columns(lists.lists["pass"])
    sleeps = judge_sleeps(rows, ours, decided, rules, hz=hz)
    seen = judge_seen(rows, lists, rules)
    of_lists = judge_lists(lists, counted, sleeps, seen["lists"])
    passes = judge_passes(decided, of_lists, sleeps, seen["passes"])
    throttles = judge_throttles(sleeps, seen["throttles"])
    judged = {
        "reclaim_lists": of_lists,
        "reclaim_passes": passes.with_columns(fault="own"),
        "throttles": throttles,
    }
    faults = all_faults(rows, judged, sleeps, rules)
    return StallVerdict(
        rules=rules,
        lists=of_lists,
        passes=JUDGED_PASSES.check(passes.drop("own")),
        throttles=throttles,
        faults=faults,
        left_out=lists.left_out,
        unasked=sleeps.unasked,
        missing=int(sleeps.missing["calls"].sum()),
        first=describe_first(faults, rows, lists, counted, decided, sleeps, rules),
    )


def verified_stalls(folders: Mapping[str, Path]) -> pl.DataFrame:
    """Hold the rules against each trace of reclaim, by those that its kernel was switched to.

    Parameters
    ----------
    folders : mapping of str to Path
        Name of a trace -> its folder; ``kernel.reclaim_rules`` of its trace.toml names the rules,
        6.1 where it does not.

    Returns
    -------
    polars.DataFrame
        Schema VERIFIED_STALLS, one row per trace.

    Raises
    ------
    InputError
        As for `verify_stalls`.
    """
    frame = pl.DataFrame(
        [_verified(*each) for each in over(folders.items(), "verify", "traces")],
        schema=VERIFIED_STALLS.schema,
        orient="row",
    )
    return VERIFIED_STALLS.check(frame)


def _verified(name: str, folder: Path) -> tuple[Any, ...]:
    told = provenance(folder)
    rules = told.get("kernel", {}).get("reclaim_rules", "6.1")
    verdict = verify_stalls(folder, rules=rules)
    return (
        name,
        rules,
        told.get("guest", {}).get("cpus"),
        int(verdict.lists["folios"].sum()),
        verdict.lists.height,
        verdict.counted,
        verdict.passes.height,
        verdict.decided,
        verdict.throttles.height + verdict.missing,
        verdict.held,
        verdict.raced,
        sum(verdict.left_out.values()),
    )
