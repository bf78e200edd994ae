# SPDX-License-Identifier: GPL-2.0-or-later
"""The stall rules of ``stall.h``, ``stall_replay.h`` (columns) and ``stall_sums.h`` (7.3)."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import reduce
from operator import or_
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.errors import InputError, check_choice, check_number
from swapsim.stall.tables import BRANCH, THROTTLE

Numbers = np.ndarray[Any, np.dtype[Any]]

CHUNK_ROWS: Final = 1 << 20  # that one call of C processes, in complete lists
SUMS: Final = (*core.STALL_COUNTERS, "taken", "file_taken")
WRITEBACK_FLAG: Final[int] = lib.SWS_SUMS_WRITEBACK  # by 7.3: the flag of the node
CONGESTED_FLAGS: Final[int] = lib.SWS_SUMS_FLAGS - WRITEBACK_FLAG  # and those of an lruvec
PLACES: Final = {
    "list": lib.SWS_STALL_AT_LIST,
    "pass": lib.SWS_STALL_AT_PASS,
    "round": lib.SWS_STALL_AT_ROUND,
}


def _refuse_problem(problem: int, where: str = "") -> None:
    if problem != lib.SWS_STALL_NO_PROBLEM:
        raise InputError(f"{where}{core.problem('enum sws_stall_problem', problem)}")


# A row of the rules.


class Rules(NamedTuple):
    """What verification needs of ``struct sws_stall_rules``."""

    name: str
    by_pass: bool  # passes set flags, not lists, and a cgroup has its own congestion
    goes_on_after: tuple[str, ...]  # cases after which a page goes on to the next test
    activates: bool  # where it goes otherwise
    clears: dict[str, int]  # which flags each of STALL_CLEARS clears
    isolated: str  # the sleep of a task while too many pages are isolated


def rules_of(name: str) -> Rules:
    """Return the rules of a name of STALL_RULES."""
    row = lib.sws_stall_rules_of(_number_of(name))
    goes_on = {"case-1": row.case_1 == lib.SWS_STALL_CASE_1_SLEEP_LOCKED, "case-3": not row.retries}
    return Rules(
        name=name,
        by_pass=row.decides == lib.SWS_STALL_AT_PASS,
        goes_on_after=tuple(case for case, on in goes_on.items() if on),
        activates=row.activates,
        clears={why: row.clears[place] for place, why in enumerate(core.STALL_CLEARS)},
        isolated=core.STALL_SLEEPS[row.isolated],
    )


def _number_of(rules: str) -> int:
    check_choice("rules", rules, core.STALL_RULES)
    return core.STALL_RULES.index(rules)


def _acts_of(rules: str, place: str) -> list[Any]:
    """Return the acts at a place in order: ``struct sws_stall_act``."""
    acts = lib.sws_stall_rules_of(_number_of(rules)).acts[PLACES[place]]
    return [act for act in acts if act.does != lib.SWS_STALL_DOES_NOTHING]


def _sleeps_of(rules: str, place: str, done: int) -> list[str]:
    """Return in order the sleeps that are requested by those acts whose bits are in ``done``."""
    return [
        core.STALL_SLEEPS[act.what]
        for i, act in enumerate(_acts_of(rules, place))
        if act.does == lib.SWS_STALL_DOES_SLEEP and done >> i & 1
    ]


# Callers, counters and pages as C takes them.

_CALLER: Final = {
    "kswapd": (lib.SWS_STALL_KSWAPD, True),
    "memcg": (lib.SWS_STALL_MEMCG, True),
    "hibernation": (lib.SWS_STALL_HIBERNATION, True),
    "io": (lib.SWS_STALL_IO, True),
    "fs": (lib.SWS_STALL_FS, True),
    "sane": (lib.SWS_STALL_LEGACY, False),
    "may_throttle": (lib.SWS_STALL_LOCAL_THROTTLE, False),
}
"""The bits of ``enum sws_stall_caller``, and the value of a field that sets each."""


def _caller_bits(known: Mapping[str, Any]) -> Any:
    """Return ``enum sws_stall_caller`` of booleans, or of arrays of them."""
    return sum(
        bit * (known[name] == sets) for name, (bit, sets) in _CALLER.items() if name in known
    )


def _caller_columns(rows: pl.DataFrame, target: str) -> dict[str, Numbers]:
    """Return callers and their priorities; one below 0 becomes one that C refuses."""
    known = {name: rows[name].to_numpy() for name in _CALLER if name in rows.columns}
    caller = _caller_bits({**known, "memcg": rows[target].to_numpy() != 0})
    priority = rows["priority"].to_numpy()
    return {
        "caller": caller.astype(np.uint8),
        "priority": np.where(priority < 0, 255, priority).astype(np.uint8),
    }


def _summed(rows: pl.DataFrame, **others: Any) -> Any:
    """Return the counters of rows as ``struct sws_stall_summed *``; a missing one is 0."""
    counts = np.zeros(rows.height, dtype=core.dtype_of("struct sws_stall_counts"))
    for name in SUMS:
        if name in rows.columns:
            counts[name] = rows[name].to_numpy()
    return core.pointers("struct sws_stall_summed", {**others, "counts": counts})


_COLUMNS: Final = {"device_congested": "congested", "came_back": "clean"}
_WORDS: Final = {
    bit: name.removeprefix("SWS_STALL_PAGE_").lower()
    for bit, name in ffi.typeof("enum sws_stall_page").elements.items()
}
_PAGE: Final = {_COLUMNS.get(word, word): bit for bit, word in _WORDS.items()}
"""The bits of ``enum sws_stall_page`` by the columns of RECLAIM_FOLIOS; null stands for False."""
_NO_BIT: Final = pl.lit(0, dtype=pl.UInt16)


def _page_bits(pages: pl.DataFrame) -> Numbers:
    """Return ``enum sws_stall_page`` for rows of RECLAIM_FOLIOS or pages of a list."""
    if "marked" in pages.columns:
        # A test that the recording kernel did not make may exist by other rules.
        pages = pages.with_columns(pl.col("marked").fill_null(pl.col("reclaim")))
    else:  # the tests after the accounting find what it found
        pages = pages.with_columns(under_writeback="writeback", marked="reclaim")
    pages = pages.with_columns(
        nfs=pl.col("fs_dirty").is_not_null() & ~pl.col("buffers").fill_null(value=True)
    )
    bits = [
        pl.when(name).then(pl.lit(_PAGE[name], dtype=pl.UInt16)).otherwise(_NO_BIT)
        for name in pages.columns
        if name in _PAGE
    ]
    return pages.select(reduce(or_, bits)).to_series().to_numpy()


# A list, by its counters or page by page.


@dataclass(frozen=True, slots=True, kw_only=True)
class StallContext:
    """The context of a list or pass of reclaim: its caller, and the flags of its zone or node.

    ``sane`` says that writers of a cgroup are throttled (v2); ``may_throttle`` is false for a task
    that writes for others (PF_LOCAL_THROTTLE); ``flags`` are a sum of STALL_FLAGS.
    """

    rules: str = "6.1"
    priority: int = core.STALL_PRIORITY_MAX
    kswapd: bool = False
    memcg: bool = False
    sane: bool = True
    hibernation: bool = False
    may_throttle: bool = True
    io: bool = True
    fs: bool = True
    flags: int = 0

    def __post_init__(self) -> None:
        """Check each field."""
        check_choice("rules", self.rules, core.STALL_RULES)
        check_number("priority", self.priority, 0, core.STALL_PRIORITY_MAX)
        check_number("flags", self.flags, 0, core.STALL_FLAGS_ALL)
        if not self.sane and not self.memcg:
            raise InputError("sane=False: set memcg=True, too")


def decide_counts(
    context: StallContext, counts: Mapping[str, int], place: str = "list"
) -> dict[str, Any]:
    """Decide from counters (SUMS; a missing one is 0) at the end of a "list" or of a "pass"."""
    settings, decision = _settings(context), ffi.new("struct sws_stall_decision *")
    for name, value in counts.items():
        check_choice("counter", name, SUMS)
        check_number(name, value, 0, 2**64 - 1)
    counted = ffi.new("struct sws_stall_counts *", dict(counts))
    _refuse_problem(lib.sws_stall_check_counts(settings, PLACES[place], counted))
    core.check(lib.sws_stall_decide(settings, PLACES[place], counted, decision))
    return _decided(context, place, decision)


def _settings(context: StallContext) -> Any:
    caller = _caller_bits(asdict(context))
    fields = (_number_of(context.rules), caller, context.priority, context.flags)
    return ffi.new("struct sws_stall_context *", fields)


def _decided(context: StallContext, place: str, decision: Any) -> dict[str, Any]:
    return {
        "flags_set": decision.set,
        "flags_after": decision.flags_after,
        "sleeps": _sleeps_of(context.rules, place, decision.acts),
    }


def process_pages(
    context: StallContext, pages: pl.DataFrame, *, file: bool = True, unseen: int = 0
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Process a list of file pages, or of anonymous ones, page by page to its end.

    ``pages`` have the columns of `decide`. The first result has a row per page: its ``branch``,
    whether it is ``slept`` for in case 1, ``waited`` for in case 3, ``freed_under_writeback``
    (mmotm's bug) and so on. The second one has the counters, flags, the sleeps at the end in order,
    and slept, the number of sleeps of case 1 before the end.
    """
    taken = int(pages["pages"].sum()) + unseen
    if not 1 <= taken <= core.STALL_LIST_MAX:
        raise InputError(f"{taken} pages taken: give 1 to {core.STALL_LIST_MAX}", field="pages")
    of_list = ffi.new("struct sws_stall_list *")
    core.check(lib.sws_stall_begin(_settings(context), file, taken, of_list))
    rows = zip(pages.iter_rows(named=True), _page_bits(pages).tolist(), strict=True)
    results = [_process(of_list, page, bits) for page, bits in rows]
    decision = ffi.new("struct sws_stall_decision *")
    core.check(lib.sws_stall_end(of_list, decision))
    end = {name: getattr(of_list.counts, name) for name in SUMS}
    end |= {"flags_cleared": decision.cleared, "slept": of_list.slept}
    end |= _decided(context, "list", decision)
    outcomes = ("activated", "marked", "slept", "waited", "freed", "freed_under_writeback")
    schema = {"branch": BRANCH} | dict.fromkeys(outcomes, pl.Boolean())
    return pl.DataFrame(results, schema=schema, orient="row"), end


def _process(of_list: Any, page: Mapping[str, Any], bits: int) -> tuple[Any, ...]:
    """Process a page through its tests; return its results."""
    branch = _meet(of_list, bits, page["pages"])
    slept = of_list.state == lib.SWS_STALL_STATE_ASLEEP
    waited = of_list.state == lib.SWS_STALL_STATE_WAITING
    if slept:
        core.check(lib.sws_stall_slept(of_list, page["still"]))
    elif waited:
        core.check(lib.sws_stall_waited(of_list))
        if of_list.state == lib.SWS_STALL_STATE_PAGE:
            # It is written by now: the page is met again as what it is without writeback.
            writeback = lib.SWS_STALL_PAGE_WRITEBACK | lib.SWS_STALL_PAGE_UNDER_WRITEBACK
            _meet(of_list, bits & ~writeback & ~lib.SWS_STALL_PAGE_FS_WRITEBACK, page["pages"])
    goes_on = of_list.state == lib.SWS_STALL_STATE_GOES_ON
    under_writeback = bool(of_list.under_writeback)
    if goes_on and page["arrives"] and page["dirty_late"]:
        core.check(lib.sws_stall_dirty(of_list))
        branch = core.STALL_BRANCHES[of_list.branch] if branch == "goes-on" else branch
        if of_list.state == lib.SWS_STALL_STATE_PAGEOUT:
            core.check(lib.sws_stall_paged_out(of_list, page["kept"]))
    elif goes_on:
        core.check(lib.sws_stall_left(of_list))
    freed = bool(goes_on and page["arrives"] and not page["dirty_late"])
    outcome = bool(of_list.activates), bool(of_list.marks), slept, waited
    return branch, *outcome, freed, freed and under_writeback


def _meet(of_list: Any, bits: int, pages: int) -> str:
    """Account for the next page and run its writeback test; return a word of BRANCH."""
    if lib.sws_stall_meet(of_list, bits, pages) != lib.SWS_OK:
        raise InputError(f"a folio has 1 to {core.STALL_LIST_MAX} pages", field="pages")
    return core.STALL_BRANCHES[int(of_list.branch)]


# Columns of lists, passes, rounds and calls.


def decide_lists(
    folios: pl.DataFrame,
    lists: pl.DataFrame,
    rules: str,
    *,
    history: pl.DataFrame | None = None,
    tick: Callable[[int], object] = lambda _rows: None,
) -> tuple[pl.DataFrame, pl.Series]:
    """Count and decide complete lists; return a row for each, and the BRANCH of each folio.

    Folios lie together by list, in the order of the lists. Flags are those of the recording, or
    with a history those that these rules leave: it has for each list ``node`` (from 0), whose flags
    it sees, and ``clears``, what cleared them since the last list, bits 1 << its place in
    STALL_CLEARS.
    """
    ends = folios["list"].rle().struct.field("len").cast(pl.UInt64).cum_sum().to_numpy()
    of_folios = {
        "page": _page_bits(folios),
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
    config = core.config(lib.sws_stall_replay_config_init, None, set=_number_of(rules))
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
            _refuse_problem(results.problem, f"list {name}, row {results.row - begin}: ")
        core.check(code)
        tick(part.stop - part.start)
    wakes = sum(
        1 << i
        for i, act in enumerate(_acts_of(rules, "list"))
        if act.does == lib.SWS_STALL_DOES_WAKE
    )
    decided = core.frame_of(found).select(
        lists["list"],
        pl.col(core.STALL_COUNTERS).cast(pl.UInt32),
        *("flags_before", "slept", "writes", "unrecorded", "flags_after"),
        flags_set="set",
        flags_cleared="cleared",
        wakes=pl.col("acts") & wakes != 0,
        sleeps=_sleeps(found["decision"]["acts"], rules, "list"),
    )
    words = pl.Series("branch", core.STALL_BRANCHES, dtype=BRANCH)
    return decided, words[pl.Series(branches)]


def _part(columns: Mapping[str, Numbers], rows: slice) -> dict[str, Numbers]:
    return {name: column[rows] for name, column in columns.items()}


def _sleeps(acts: Numbers, rules: str, place: str) -> pl.Series:
    """Return in order the sleeps that acts requested."""
    known = [_sleeps_of(rules, place, done) for done in range(int(acts.max(initial=0)) + 1)]
    return pl.Series(known, dtype=pl.List(THROTTLE)).gather(acts)


def decide_passes(passes: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Return ``flags_set`` of RECLAIM_PASSES, and the ``throttle`` that each requests, or null."""
    callers = _caller_columns(passes, "memcg")
    # A sleep depends on the flags that its test read, not on counters that only set flags.
    unset = passes.drop("dirty", "unqueued_dirty", "congested")
    acts = _decide_passes(unset, rules, flags=passes["flags_after"], **callers)["acts"]
    flags_set = _decide_passes(passes, rules, flags=passes["flags_before"], **callers)["set"]
    throttle = _sleeps(acts, rules, "pass").list.first()
    return pl.DataFrame({"flags_set": np.ascontiguousarray(flags_set), "throttle": throttle})


def _decide_passes(passes: pl.DataFrame, rules: str, **others: Any) -> Numbers:
    """Return ``struct sws_stall_decision`` for each pass; a counter without a column is 0."""
    found, decisions = core.records("struct sws_stall_decision", passes.height)
    row, problem = ffi.new("uint64_t *"), ffi.new("enum sws_stall_problem *")
    by_rules = _number_of(rules), PLACES["pass"], passes.height
    lib.sws_stall_replay_counts(*by_rules, _summed(passes, **others), decisions, row, problem)
    if problem[0] != lib.SWS_STALL_NO_PROBLEM:
        _refuse_problem(problem[0], f"pass {passes['pass'][row[0]]}: ")
    return found


def decide_rounds(rounds: pl.DataFrame, rules: str) -> pl.Series:
    """Return the sleep that each row of RECLAIM_ROUNDS requests by the rules of a set, or null."""
    number, decision = _number_of(rules), ffi.new("struct sws_stall_decision *")
    columns = _caller_columns(rounds, "memcg")
    callers = zip(columns["caller"].tolist(), columns["priority"].tolist(), strict=True)
    acts = np.zeros(rounds.height, dtype=np.uint32)
    for n, (row, caller) in enumerate(zip(rounds.iter_rows(named=True), callers, strict=True)):
        context = ffi.new("struct sws_stall_context *", (number, *caller, 0))
        _refuse_problem(lib.sws_stall_check(context), f"the round of pass {row['pass']}: ")
        # Memory that can be compacted ends reclaim as enough reclaimed pages do.
        wanted = 0 if row["ready"] else row["wanted"]
        fields = {"scanned": row["scanned"], "reclaimed": row["reclaimed"], "wanted": wanted}
        core.check(
            lib.sws_stall_decide_round(
                context, ffi.new("struct sws_stall_round *", fields), decision
            )
        )
        acts[n] = decision.acts
    return _sleeps(acts, rules, "round").list.first().rename("throttle")


def sleep_lengths(throttles: pl.DataFrame, *, hz: int) -> pl.Series:
    """Return how long each row of THROTTLES may sleep, in us, or 0 if it skips the sleep."""
    of_2013 = ("congested_devices", "flags")
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


# Lists and passes of 7.3.


def decide_sums(rows: pl.DataFrame, rules: str, place: str) -> pl.DataFrame:
    """Decide rows after a list or a pass: columns ``decides``, ``wakes``, ``set``, ``throttle``."""
    memcg = (rows["memcg"] > 0).to_numpy()
    caller = _caller_bits({"kswapd": rows["kswapd"].to_numpy(), "memcg": memcg}).astype(np.uint8)
    given = _summed(rows, caller=caller, flags=rows["flags"].cast(pl.UInt8))
    found, out = core.records("struct sws_sums_decision", rows.height)
    at = ffi.new("uint64_t *")
    by_rules = core.SUMS_RULES.index(rules), PLACES[place], rows.height
    code = lib.sws_sums_decide(*by_rules, given, out, at)
    if code == lib.SWS_ERROR_BAD_ARGUMENT:
        raise InputError(
            f"the row with seq {rows['seq'][at[0]]} has counts or flags that cannot be, more pages "
            "than were taken, or an unknown flag: capture the trace again"
        )
    core.check(code)
    sleeps = {0: None} | {1 << number: name for number, name in enumerate(core.STALL_SLEEPS)}
    return core.frame_of(found).select(
        pl.col("decides", "wakes").cast(pl.Boolean),
        "set",
        throttle=pl.col("sleeps").replace_strict(sleeps, return_dtype=THROTTLE),
    )
