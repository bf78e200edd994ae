# SPDX-License-Identifier: GPL-2.0-or-later
"""Columns of lists, passes and rounds, decided by the C library (``stall_replay.h``)."""

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import STALL_BRANCHES, STALL_COUNTERS, check
from swapsim.stall._native import (
    CALLER,
    PLACES,
    Numbers,
    acts_of,
    caller_bits,
    number_of,
    page_bits,
    refuse_problem,
    sleeps_of,
    summed,
)
from swapsim.stall.tables import (
    RECLAIM_FOLIOS,
    RECLAIM_LISTS,
    RECLAIM_PASSES,
    RECLAIM_ROUNDS,
    STALL_BRANCH,
    THROTTLE,
    THROTTLES,
)
from swapsim.tables import require_values

CHUNK_ROWS: Final = 1 << 20
"""Rows that one call of C processes, in complete lists; Ctrl-C is noticed between two calls."""


# Lists.


def decide_lists(
    folios: pl.DataFrame,
    lists: pl.DataFrame,
    rules: str,
    *,
    history: pl.DataFrame | None = None,
    tick: Callable[[int], object] = lambda _rows: None,
) -> tuple[pl.DataFrame, pl.Series]:
    """Count and decide complete lists; return a row for each, and the STALL_BRANCH of each folio.

    A row has the counters, flags and ``sleeps`` at the list's end; ``wakes`` if the flushers are
    woken; ``slept``, the sleeps of case 1; ``writes``, pages given to pageout; and ``unrecorded``.
    Rows of RECLAIM_FOLIOS lie together by list, in the order of the rows of RECLAIM_LISTS. The
    flags are those of the recording, or with a history those that these rules leave: it has for
    each list ``node`` (UInt32, from 0), whose flags the list sees, and ``clears`` (UInt8), what
    cleared them since the last list, bits 1 << the place in STALL_CLEARS. ``tick`` takes the number
    of folios that were processed.
    """
    RECLAIM_FOLIOS.check(folios)
    require_values(folios, ["step", "pages"])
    RECLAIM_LISTS.check(lists)
    require_values(lists, lists.columns)
    ends = _ends(folios, lists)
    of_folios = {
        "page": page_bits(folios),
        "step": folios["step"].to_physical().to_numpy(),
        "base_pages": folios["pages"].to_numpy(),
    }
    flags = pl.DataFrame({"flags": lists["flags_before"]}) if history is None else history
    of_lists = _caller_columns(lists, "target") | {
        **{name: lists[name].to_numpy() for name in ("file", "taken")},
        **{name: flags[name].to_numpy() for name in flags.columns},
    }
    if history is None:
        of_folios["flags"] = folios["node_flags"].fill_null(0).to_numpy()
    nodes = 0 if history is None or not lists.height else int(of_lists["node"].max()) + 1
    node_flags = np.zeros(nodes, dtype=np.uint8)
    found, _ = core.records("struct sws_stall_result", lists.height)
    branches = np.zeros(folios.height, dtype=np.uint8)
    config = core.config(lib.sws_stall_replay_config_init, None, set=number_of(rules))
    replay = core.new(lib.sws_stall_replay_new, config, free=lib.sws_stall_replay_free)
    for some, part in core.chunks(ends, CHUNK_ROWS):
        given = core.pointers("struct sws_stall_rows", _part(of_folios, part))
        own_ends = ends[some] - np.uint64(part.start)
        others = {"ends": own_ends, "node_flags": node_flags}
        given_lists = core.pointers("struct sws_stall_lists", _part(of_lists, some) | others)
        given_lists.n_nodes = nodes
        outputs = {"lists": found[some], "branches": branches[part]}
        results = core.pointers("struct sws_stall_results", outputs)
        code = lib.sws_stall_replay_lists(replay, given, len(own_ends), given_lists, results)
        if results.problem != lib.SWS_STALL_NO_PROBLEM:
            begin = int(own_ends[results.list - 1]) if results.list else 0
            name = lists["list"][some.start + results.list]
            refuse_problem(results.problem, f"list {name}, row {results.row - begin}: ")
        check(code)
        tick(part.stop - part.start)
    words = pl.Series("branch", STALL_BRANCHES, dtype=STALL_BRANCH.dtype)
    return _lists(found, lists["list"], rules), words[pl.Series(branches)]


def _ends(folios: pl.DataFrame, lists: pl.DataFrame) -> Numbers:
    """Return where each list ends; refuse lists and folios that do not belong together."""
    runs = folios["list"].rle().struct.unnest()
    if not runs["value"].equals(lists["list"]):
        pairs = enumerate(zip_longest(lists["list"], runs["value"], fillvalue="missing"))
        at, ours, theirs = next((at, *pair) for at, pair in pairs if pair[0] != pair[1])
        raise InputError(
            f"row {at} of the lists is list {ours}, and the folios have list {theirs} there: sort "
            "both in the same order, the folios of a list together",
            field="list",
        )
    return runs["len"].cast(pl.UInt64).cum_sum().to_numpy()


def _lists(found: Numbers, names: pl.Series, rules: str) -> pl.DataFrame:
    """Return results as columns, with the names of the fields of C or of DECIDED_LISTS."""
    acts = enumerate(acts_of(rules, "list"))
    wakes = sum(1 << i for i, act in acts if act.does == lib.SWS_STALL_DOES_WAKE)
    return core.frame_of(found).select(
        names.alias("list"),
        pl.col(STALL_COUNTERS).cast(pl.UInt32),
        *("flags_before", "slept", "writes", "unrecorded", "flags_after"),
        flags_set="set",
        flags_cleared="cleared",
        wakes=pl.col("acts") & wakes != 0,
        sleeps=_sleeps(found["decision"]["acts"], rules, "list"),
    )


# Passes, rounds and calls.


def decide_passes(passes: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Decide passes; they have the columns of RECLAIM_PASSES, and may have more.

    Returns ``flags_set`` and the requested ``throttle`` of each, or null. The counters decide the
    flags. The sleep depends on the flags that its test read, so that counters by which a pass only
    sets flags are left out for it.
    """
    known = RECLAIM_PASSES.check(passes.select(RECLAIM_PASSES.names()))
    require_values(known, [name for name in known.columns if name != "throttle"])
    callers = _caller_columns(known, "memcg")
    unset = known.drop("dirty", "unqueued_dirty", "congested")
    acts = _decide_passes(unset, rules, flags=known["flags_after"], **callers)["acts"]
    flags_set = _decide_passes(known, rules, flags=known["flags_before"], **callers)["set"]
    throttle = _sleeps(acts, rules, "pass").list.first()
    return pl.DataFrame({"flags_set": np.ascontiguousarray(flags_set), "throttle": throttle})


def _decide_passes(passes: pl.DataFrame, rules: str, **others: Any) -> Numbers:
    """Return ``struct sws_stall_decision`` for each pass; a counter without a column is 0."""
    found, decisions = core.records("struct sws_stall_decision", passes.height)
    row, problem = ffi.new("uint64_t *"), ffi.new("enum sws_stall_problem *")
    by_rules = number_of(rules), PLACES["pass"], passes.height
    lib.sws_stall_replay_counts(*by_rules, summed(passes, **others), decisions, row, problem)
    if problem[0] != lib.SWS_STALL_NO_PROBLEM:
        refuse_problem(problem[0], f"pass {passes['pass'][row[0]]}: ")
    return found


def decide_rounds(rounds: pl.DataFrame, rules: str) -> pl.Series:
    """Return the sleep that each row of RECLAIM_ROUNDS requests by the rules of a set, or null."""
    RECLAIM_ROUNDS.check(rounds)
    require_values(rounds, [name for name in rounds.columns if name != "throttle"])
    number, decision = number_of(rules), ffi.new("struct sws_stall_decision *")
    columns = _caller_columns(rounds, "memcg")
    callers = zip(columns["caller"].tolist(), columns["priority"].tolist(), strict=True)
    acts = np.zeros(rounds.height, dtype=np.uint32)
    for n, (row, caller) in enumerate(zip(rounds.iter_rows(named=True), callers, strict=True)):
        context = ffi.new("struct sws_stall_context *", (number, *caller, 0))
        refuse_problem(lib.sws_stall_check(context), f"the round of pass {row['pass']}: ")
        pages = ffi.new("struct sws_stall_round *")
        pages.scanned, pages.reclaimed = row["scanned"], row["reclaimed"]
        # Memory that can be compacted ends reclaim as enough reclaimed pages do.
        pages.wanted = 0 if row["ready"] else row["wanted"]
        check(lib.sws_stall_decide_round(context, pages, decision))
        acts[n] = decision.acts
    return _sleeps(acts, rules, "round").list.first().rename("throttle")


def sleep_lengths(throttles: pl.DataFrame, *, hz: int) -> pl.Series:
    """Return how long each row of THROTTLES may sleep, in us, or 0 if it skips the sleep."""
    THROTTLES.check(throttles)
    of_2013 = ("congested_devices", "flags")
    require_values(throttles, [name for name in throttles.columns if name not in of_2013])
    known = throttles.with_columns(pl.col(of_2013).fill_null(0))
    sleepers, given = core.records("struct sws_stall_sleeper", throttles.height)
    sleepers["hz"] = hz
    for name in ("kthread", "failures", "reclaimable", "write_pending", *of_2013):
        sleepers[name] = known[name].to_numpy()
    timeout, skipped = ffi.new("uint64_t *"), ffi.new("enum sws_stall_skip *")
    found = []
    for number, reason in enumerate(throttles["reason"].to_physical()):
        if lib.sws_stall_sleep_length(reason, given + number, timeout, skipped) != lib.SWS_OK:
            flags = throttles["flags"][number]
            raise InputError(f"row {number}: flags {flags} at {hz} ticks a second cannot be")
        found.append(timeout[0])
    return pl.Series("timeout_us", found, dtype=pl.UInt32)


# What they share.


def _caller_columns(rows: pl.DataFrame, target: str) -> dict[str, Numbers]:
    """Return callers and their priorities; one below 0 becomes one that C refuses."""
    known = {name: rows[name].to_numpy() for name in CALLER if name in rows.columns}
    caller = caller_bits({**known, "memcg": rows[target].to_numpy() != 0})
    priority = rows["priority"].to_numpy()
    return {
        "caller": caller.astype(np.uint8),
        "priority": np.where(priority < 0, 255, priority).astype(np.uint8),
    }


def _part(columns: Mapping[str, Numbers], rows: slice) -> dict[str, Numbers]:
    return {name: column[rows] for name, column in columns.items()}


def _sleeps(acts: Numbers, rules: str, place: str) -> pl.Series:
    """Return in order the sleeps that acts requested."""
    known = [sleeps_of(rules, place, done) for done in range(int(acts.max(initial=0)) + 1)]
    return pl.Series(known, dtype=pl.List(THROTTLE.dtype)).gather(acts)
