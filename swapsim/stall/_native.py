# SPDX-License-Identifier: GPL-2.0-or-later
"""The stall rules of the C library (``stall_rules.h``, ``stall.h``, ``stall_replay.h``).

This module makes structs of contexts, pages and columns, calls the library, and returns what it
decides: first a row of the rules, then one list, pass or round, then columns of lists and passes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import reduce
from itertools import zip_longest
from operator import or_
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.checks import checked
from swapsim.errors import ConfigError, InputError
from swapsim.ffi import (
    STALL_BRANCHES,
    STALL_CLEARS,
    STALL_COUNTERS,
    STALL_FLAGS,
    STALL_LIST_MAX,
    STALL_RULES,
    STALL_SLEEPS,
    check,
    dtype_of,
    headers,
    structs,
)
from swapsim.frames.files import require_values
from swapsim.stall.config import StallContext
from swapsim.stall.recording import Recording
from swapsim.stall.tables import (
    RECLAIM_FOLIOS,
    RECLAIM_LISTS,
    RECLAIM_PASSES,
    RECLAIM_ROUNDS,
    STALL_BRANCH,
    STALL_PAGES,
    THROTTLE,
    THROTTLES,
)

CHUNK_ROWS: Final = 1 << 20
"""Rows that one call of C processes, in complete lists; Ctrl-C is noticed between two calls."""

Numbers = np.ndarray[Any, np.dtype[Any]]

_PLACES: Final = {
    "list": lib.SWS_STALL_AT_LIST,
    "pass": lib.SWS_STALL_AT_PASS,
    "round": lib.SWS_STALL_AT_ROUND,
}
_FLAG_NAMES: Final = {bit: name for name, bit in STALL_FLAGS.items()}
_SUMS: Final = (*STALL_COUNTERS, "taken", "file_taken")
_DECISION: Final = dtype_of("struct sws_stall_decision")
_RESULT: Final = dtype_of("struct sws_stall_result")


def _refuse(problem: int, where: str = "") -> None:
    """Raise an InputError for what C has a problem with; do nothing if it has none."""
    if problem != lib.SWS_STALL_NO_PROBLEM:
        raise InputError(f"{where}{headers.problem('enum sws_stall_problem', problem)}")


# A row of the rules.


def number_of(rules: str) -> int:
    """Return a rule set as ``enum sws_stall_set``; ConfigError if there is no such set."""
    if rules not in STALL_RULES:
        known = ", ".join(STALL_RULES)
        raise ConfigError(f"rules={rules!r}: choose one of {known}")
    return STALL_RULES.index(rules)


_WORDS_OF: Final = {"place": "AT_", "scope": "FOR_", "congested_by": "BY_", "number": "N_"}
"""Prefixes of enums that are not the name of the enum."""


def _words(enum: str) -> dict[int, str]:
    """Return the words of ``enum sws_stall_ENUM`` by their values."""
    start = f"SWS_STALL_{_WORDS_OF.get(enum, f'{enum.upper()}_')}"
    constants = ffi.typeof(f"enum sws_stall_{enum}").elements
    return {value: name.removeprefix(start).lower() for value, name in constants.items()}


def rules_row(rules: str) -> dict[str, Any]:
    """Return ``struct sws_stall_rules`` with words instead of numbers; acts as a list of dicts."""
    row = lib.sws_stall_rules_of(number_of(rules))
    causes = _words("congested_by").items()
    return {name: getattr(row, name) for name, _ in ffi.typeof(row[0]).fields} | {
        **{name: _words(name)[getattr(row, name)] for name in ("counted", "case_1", "writes")},
        "decides": _words("place")[row.decides],
        "congested_by": frozenset(word for bit, word in causes if row.congested_by & bit),
        "isolated": STALL_SLEEPS[row.isolated],
        "clears": {why: row.clears[place] for place, why in enumerate(STALL_CLEARS)},
        "acts": [_act(name, act) for name, place in _PLACES.items() for act in _acts(rules, place)],
    }


def _act(place: str, act: Any) -> dict[str, str]:
    found = {field: _words(field)[getattr(act, field)] for field in ("does", "scope", "test")}
    found |= {field: _words("number")[getattr(act, field)] for field in ("number", "of")}
    what = {"set": _FLAG_NAMES.get(act.what, ""), "sleep": STALL_SLEEPS[act.what]}
    return {"place": place, **found, "what": what.get(found["does"], "")}


def _acts(rules: str, place: int) -> list[Any]:
    """Return the acts at a place in order: ``struct sws_stall_act``."""
    acts = lib.sws_stall_rules_of(number_of(rules)).acts[place]
    return [act for act in acts if act.does != lib.SWS_STALL_DOES_NOTHING]


def _sleeps_of(rules: str, place: int, done: int) -> list[str]:
    """Return in order the sleeps that are requested by those acts whose bits are in ``done``."""
    return [
        STALL_SLEEPS[act.what]
        for i, act in enumerate(_acts(rules, place))
        if act.does == lib.SWS_STALL_DOES_SLEEP and done >> i & 1
    ]


# Contexts and pages as bits.


_CALLER: Final = {
    "kswapd": lib.SWS_STALL_KSWAPD,
    "memcg": lib.SWS_STALL_MEMCG,
    "hibernation": lib.SWS_STALL_HIBERNATION,
    "io": lib.SWS_STALL_IO,
    "fs": lib.SWS_STALL_FS,
}
_CALLER_WITHOUT: Final = {
    "sane": lib.SWS_STALL_LEGACY,
    "may_throttle": lib.SWS_STALL_LOCAL_THROTTLE,
}
"""Bits of ``enum sws_stall_caller`` by what is true of a caller, and by what is false."""


def _caller(known: Mapping[str, Any]) -> Any:
    """Return ``enum sws_stall_caller`` of booleans, or of arrays of them."""
    bits = [bit * known[name] for name, bit in _CALLER.items() if name in known]
    return sum(
        bits + [b * (1 - known[name]) for name, b in _CALLER_WITHOUT.items() if name in known]
    )


def _struct_of(context: StallContext) -> Any:
    """Return a new ``struct sws_stall_context``."""
    fields = (number_of(context.rules), _caller(asdict(context)), context.priority, context.flags)
    return ffi.new("struct sws_stall_context *", fields)


_COLUMNS: Final = {"device_congested": "congested", "came_back": "clean"}
_PAGE: Final = {_COLUMNS.get(word, word): bit for bit, word in _words("page").items()}
"""The bits of ``enum sws_stall_page`` by the columns of RECLAIM_FOLIOS; null stands for False."""


_NO_BIT: Final = pl.lit(0, dtype=pl.UInt16)


def page_bits(pages: pl.DataFrame) -> Numbers:
    """Return ``enum sws_stall_page`` for rows of RECLAIM_FOLIOS or of STALL_PAGES.

    The latter have no columns for the tests after the accounting: these find what it found.
    """
    if "marked" in pages.columns:
        # A test that the recording kernel did not make may exist by other rules.
        pages = pages.with_columns(pl.col("marked").fill_null(pl.col("reclaim")))
    else:
        pages = pages.with_columns(under_writeback="writeback", marked="reclaim")
    pages = pages.with_columns(
        nfs=pl.col("fs_dirty").is_not_null() & ~pl.col("buffers").fill_null(value=True)
    )
    bits = [
        pl.when(name).then(pl.lit(_PAGE[name], dtype=pl.UInt16)).otherwise(_NO_BIT)
        for name in pages.columns
        if name in _PAGE
    ]
    return _array(pages.select(reduce(or_, bits)).to_series())


def _array(column: pl.Series) -> Numbers:
    return np.ascontiguousarray(column.to_numpy())


# One list, pass or round.


def _counts_of(counts: Mapping[str, int], settings: Any, place: str) -> Any:
    """Return ``struct sws_stall_counts``; InputError for counters that contradict each other."""
    unknown = [name for name in counts if name not in _SUMS]
    if unknown:
        raise InputError(f"no such counter: choose of {', '.join(_SUMS)}", field=unknown[0])
    outside = [name for name, value in counts.items() if not 0 <= value < 2**64]
    if outside:
        raise InputError(f"{counts[outside[0]]} is not a number of pages", field=outside[0])
    struct = ffi.new("struct sws_stall_counts *", dict(counts))
    _refuse(lib.sws_stall_check_counts(settings, _PLACES[place], struct))
    return struct


def _decided(context: StallContext, place: str, decision: Any) -> dict[str, Any]:
    return {
        "flags_set": decision.set,
        "flags_after": decision.flags_after,
        "sleeps": _sleeps_of(context.rules, _PLACES[place], decision.acts),
    }


@checked
def decide(context: StallContext, counts: Mapping[str, int], place: str = "list") -> dict[str, Any]:
    """Decide from counters, at the end of a list or of a pass.

    Parameters
    ----------
    context : StallContext
    counts : mapping of str to int
        Pages by counter: STALL_COUNTERS, taken and file_taken; a missing one is 0.
    place : {"list", "pass"}

    Returns
    -------
    dict
        flags_set, flags_after (sums of STALL_FLAGS), sleeps (names, in order).

    Raises
    ------
    InputError
        Naming the counter that contradicts another.
    """
    settings, decision = _struct_of(context), ffi.new("struct sws_stall_decision *")
    counted = _counts_of(counts, settings, place)
    check(lib.sws_stall_decide(settings, _PLACES[place], counted, decision))
    return _decided(context, place, decision)


def reasons(context: StallContext, counts: Mapping[str, int], place: str) -> list[Any]:
    """Return ``struct sws_stall_reason`` for each act at the end of a list or a pass."""
    settings, found = _struct_of(context), list[Any]()
    counted, reason = _counts_of(counts, settings, place), ffi.new("struct sws_stall_reason *")
    while not lib.sws_stall_explain(settings, _PLACES[place], counted, len(found), reason):
        found.append(reason)
        reason = ffi.new("struct sws_stall_reason *")
    return found


# One list, page by page.


def _begin(context: StallContext, *, file: bool, taken: int) -> Any:
    """Return a new ``struct sws_stall_list``, whose state changes from step to step."""
    new = ffi.new("struct sws_stall_list *")
    check(lib.sws_stall_begin(_struct_of(context), file, taken, new))
    return new


def _meet(of_list: Any, bits: int, pages: int) -> str:
    """Account for the next page and run its writeback test; return a word of STALL_BRANCH."""
    if lib.sws_stall_meet(of_list, bits, pages) != lib.SWS_OK:
        raise InputError(f"a folio has 1 to {STALL_LIST_MAX} pages", field="pages")
    return STALL_BRANCHES[int(of_list.branch)]


_PAGE_RESULTS: Final = {
    "branch": STALL_BRANCH.dtype,
    **dict.fromkeys(("activated", "marked", "slept", "waited", "freed"), pl.Boolean()),
    "freed_under_writeback": pl.Boolean(),
}


@checked
def process_pages(
    context: StallContext, pages: pl.DataFrame, *, file: bool = True, unseen: int = 0
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Process a list page by page, to its end.

    Parameters
    ----------
    context : StallContext
    pages : polars.DataFrame
        Schema STALL_PAGES, in the order in which reclaim meets them.
    file : bool
        Whether it is a list of file pages.
    unseen : int
        Pages that were taken but are locked, not evictable or not to be unmapped.

    Returns
    -------
    results : polars.DataFrame
        A row per page: its ``branch`` (STALL_BRANCH), and whether it is ``activated``, ``marked``,
        ``slept`` for in case 1, ``waited`` for in case 3, ``freed``, or ``freed_under_writeback``,
        mmotm's bug.
    end : dict
        The counters; flags_set, flags_cleared, flags_after; sleeps at the end, in order; slept,
        the number of sleeps of case 1 before the end.

    Raises
    ------
    InputError
        No page was taken, or too many.
    """
    STALL_PAGES.check(pages)
    taken = int(pages["pages"].sum()) + unseen
    if not 1 <= taken <= STALL_LIST_MAX:
        raise InputError(f"{taken} pages taken: give 1 to {STALL_LIST_MAX}", field="pages")
    of_list = _begin(context, file=file, taken=taken)
    rows = zip(pages.iter_rows(named=True), page_bits(pages).tolist(), strict=True)
    results = [_process(of_list, page, bits) for page, bits in rows]
    decision = ffi.new("struct sws_stall_decision *")
    check(lib.sws_stall_end(of_list, decision))
    end = {name: getattr(of_list.counts, name) for name in _SUMS}
    end |= {"flags_cleared": decision.cleared, "slept": of_list.slept}
    end |= _decided(context, "list", decision)
    return pl.DataFrame(results, schema=_PAGE_RESULTS, orient="row"), end


def _process(of_list: Any, page: Mapping[str, Any], bits: int) -> tuple[Any, ...]:
    """Process one row of STALL_PAGES through its tests; return its results."""
    branch = _meet(of_list, bits, page["pages"])
    slept = of_list.state == lib.SWS_STALL_STATE_ASLEEP
    waited = of_list.state == lib.SWS_STALL_STATE_WAITING
    if slept:
        check(lib.sws_stall_slept(of_list, page["still"]))
    elif waited:
        check(lib.sws_stall_waited(of_list))
        if of_list.state == lib.SWS_STALL_STATE_PAGE:
            # It is written by now: the page is met again as what it is without writeback.
            writeback = lib.SWS_STALL_PAGE_WRITEBACK | lib.SWS_STALL_PAGE_UNDER_WRITEBACK
            _meet(of_list, bits & ~writeback & ~lib.SWS_STALL_PAGE_FS_WRITEBACK, page["pages"])
    goes_on = of_list.state == lib.SWS_STALL_STATE_GOES_ON
    under_writeback = bool(of_list.under_writeback)
    if goes_on and page["arrives"] and page["dirty_late"]:
        check(lib.sws_stall_dirty(of_list))
        branch = STALL_BRANCHES[of_list.branch] if branch == "goes-on" else branch
        if of_list.state == lib.SWS_STALL_STATE_PAGEOUT:
            check(lib.sws_stall_paged_out(of_list, page["kept"]))
    elif goes_on:
        check(lib.sws_stall_left(of_list))
    freed = bool(goes_on and page["arrives"] and not page["dirty_late"])
    outcome = bool(of_list.activates), bool(of_list.marks), slept, waited
    return branch, *outcome, freed, freed and under_writeback


# Columns of lists, passes and rounds.


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
    rows = _folio_columns(folios, own_flags=history is None)
    of_lists = _list_columns(lists, history)
    nodes = 0 if history is None or not lists.height else int(of_lists["node"].max()) + 1
    node_flags = np.zeros(nodes, dtype=np.uint8)
    found, branches = np.zeros(lists.height, dtype=_RESULT), np.zeros(folios.height, dtype=np.uint8)
    config = structs.config(lib.sws_stall_replay_config_init, None, set=number_of(rules))
    replay = structs.new(lib.sws_stall_replay_new, config, free=lib.sws_stall_replay_free)
    for some, part in _chunks(ends):
        given, owners = _pointers("struct sws_stall_rows *", rows, part)
        given_lists, list_owners = _pointers("struct sws_stall_lists *", of_lists, some)
        own_ends = ends[some] - np.uint64(part.start)
        given_lists.ends = ffi.from_buffer("uint64_t[]", own_ends)
        given_lists.node_flags = ffi.from_buffer("uint8_t[]", node_flags, require_writable=True)
        given_lists.n_nodes = nodes
        results = ffi.new("struct sws_stall_results *")
        results.lists = ffi.from_buffer("struct sws_stall_result[]", found[some])
        results.branches = ffi.from_buffer("uint8_t[]", branches[part])
        code = lib.sws_stall_replay_lists(replay, given, len(own_ends), given_lists, results)
        del owners, list_owners
        if results.problem != lib.SWS_STALL_NO_PROBLEM:
            begin = int(own_ends[results.list - 1]) if results.list else 0
            name = lists["list"][some.start + results.list]
            _refuse(results.problem, f"list {name}, row {results.row - begin}: ")
        check(code)
        tick(part.stop - part.start)
    words = pl.Series("branch", STALL_BRANCHES, dtype=STALL_BRANCH.dtype)
    return _lists(found, lists["list"], rules), words[pl.Series(branches)]


def _pointers(
    struct: str, columns: Mapping[str, Numbers], part: slice
) -> tuple[Any, list[tuple[str, Any]]]:
    """Return a struct of pointers to a part of the columns, and the owners of that memory."""
    kinds = {1: "uint8_t[]", 2: "uint16_t[]", 4: "uint32_t[]"}
    pointers = ffi.new(struct)
    owners = [
        (name, ffi.from_buffer(kinds[column.itemsize], column[part]))
        for name, column in columns.items()
    ]
    for name, pointer in owners:
        setattr(pointers, name, pointer)
    return pointers, owners


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
    return _array(runs["len"].cast(pl.UInt64).cum_sum())


def _chunks(ends: Numbers) -> Iterator[tuple[slice, slice]]:
    """Yield runs of lists of about CHUNK_ROWS rows, and the rows of each run."""
    first, begin = 0, 0
    while first < len(ends):
        last = int(np.searchsorted(ends, begin + CHUNK_ROWS, side="right"))
        last = max(last, first + 1)
        end = int(ends[last - 1])
        yield slice(first, last), slice(begin, end)
        first, begin = last, end


def _folio_columns(folios: pl.DataFrame, *, own_flags: bool) -> dict[str, Numbers]:
    columns = {
        "page": page_bits(folios),
        "step": _array(folios["step"].to_physical().cast(pl.UInt8)),
        "base_pages": _array(folios["pages"]),
    }
    flags = {"flags": _array(folios["node_flags"].fill_null(0))} if own_flags else {}
    return columns | flags


def _list_columns(lists: pl.DataFrame, history: pl.DataFrame | None) -> dict[str, Numbers]:
    flags = pl.DataFrame({"flags": lists["flags_before"]}) if history is None else history
    columns = _caller_columns(lists, "target") | {
        "file": _array(lists["file"].cast(pl.UInt8)),
        "taken": _array(lists["taken"]),
    }
    return columns | {name: _array(flags[name]) for name in flags.columns}


def _caller_columns(rows: pl.DataFrame, target: str) -> dict[str, Numbers]:
    """Return callers and their priorities; one below 0 becomes one that C refuses."""
    known = {"memcg": rows[target].to_numpy() != 0}
    names = (name for name in (*_CALLER, *_CALLER_WITHOUT) if name in rows.columns)
    caller = _caller({name: rows[name].to_numpy() for name in names if name != "memcg"} | known)
    priority = rows["priority"].to_numpy()
    return {
        "caller": np.asarray(caller, dtype=np.uint8),
        "priority": np.where(priority < 0, 255, priority).astype(np.uint8),
    }


def _lists(found: Numbers, names: pl.Series, rules: str) -> pl.DataFrame:
    """Return results as columns, with the names of the fields of C or of DECIDED_LISTS."""
    acts = enumerate(_acts(rules, _PLACES["list"]))
    wakes = sum(1 << i for i, act in acts if act.does == lib.SWS_STALL_DOES_WAKE)
    return structs.frame_of(found).select(
        names.alias("list"),
        pl.col(STALL_COUNTERS).cast(pl.UInt32),
        *("flags_before", "slept", "writes", "unrecorded", "flags_after"),
        flags_set="set",
        flags_cleared="cleared",
        wakes=pl.col("acts") & wakes != 0,
        sleeps=_sleeps(found["decision"]["acts"], rules, "list"),
    )


def _sleeps(acts: Numbers, rules: str, place: str) -> pl.Series:
    """Return in order the sleeps that acts requested."""
    known = [_sleeps_of(rules, _PLACES[place], done) for done in range(1 << lib.SWS_STALL_ACTS_MAX)]
    return pl.Series(known, dtype=pl.List(THROTTLE.dtype)).gather(acts)


def decide_passes(passes: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Decide passes; they have the columns of RECLAIM_PASSES, and may have more.

    Returns ``flags_set`` and the requested ``throttle`` of each, or null. The counters decide the
    flags. The sleep depends on the flags that its test read, so that counters by which a pass only
    sets flags are left out for it.
    """
    known = passes.select(RECLAIM_PASSES.names())
    no_pages = pl.lit(0, dtype=pl.UInt32)
    unset = dict.fromkeys(("dirty", "unqueued_dirty", "congested"), no_pages)
    at_test = known.with_columns(flags_before="flags_after", **unset)
    sleeps = _sleeps(_decide_passes(at_test, rules)["acts"], rules, "pass")
    flags_set = np.ascontiguousarray(_decide_passes(known, rules)["set"])
    return pl.DataFrame({"flags_set": flags_set, "throttle": sleeps.list.first()})


def _decide_passes(passes: pl.DataFrame, rules: str) -> Numbers:
    """Return ``struct sws_stall_decision`` for each row of RECLAIM_PASSES."""
    RECLAIM_PASSES.check(passes)
    require_values(passes, [name for name in passes.columns if name != "throttle"])
    columns = _caller_columns(passes, "memcg")
    columns["flags"] = _array(passes["flags_before"])
    counts = np.zeros(passes.height, dtype=[(name, "u8") for name in _SUMS])
    for name in _SUMS:
        counts[name] = passes[name].to_numpy()
    found = np.zeros(passes.height, dtype=_DECISION)
    given, owners = _pointers("struct sws_stall_summed *", columns, slice(None))
    given.counts = ffi.from_buffer("struct sws_stall_counts[]", counts)
    decisions = ffi.from_buffer("struct sws_stall_decision[]", found)
    row, problem = ffi.new("uint64_t *"), ffi.new("enum sws_stall_problem *")
    found_at = decisions, row, problem
    lib.sws_stall_replay_counts(number_of(rules), _PLACES["pass"], passes.height, given, *found_at)
    del owners
    if problem[0] != lib.SWS_STALL_NO_PROBLEM:
        _refuse(problem[0], f"pass {passes['pass'][row[0]]}: ")
    return found


def decide_rounds(rounds: pl.DataFrame, rules: str) -> pl.Series:
    """Return the sleep that each row of RECLAIM_ROUNDS requests by the rules of a set, or null."""
    RECLAIM_ROUNDS.check(rounds)
    require_values(rounds, [name for name in rounds.columns if name != "throttle"])
    number, decision = number_of(rules), ffi.new("struct sws_stall_decision *")
    acts = np.zeros(rounds.height, dtype=np.uint32)
    for n, row in enumerate(rounds.iter_rows(named=True)):
        caller = _caller({**row, "memcg": row["memcg"] != 0})
        context = ffi.new("struct sws_stall_context *", (number, caller, row["priority"], 0))
        _refuse(lib.sws_stall_check(context), f"the round of pass {row['pass']}: ")
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
    sleeper, timeout = ffi.new("struct sws_stall_sleeper *"), ffi.new("uint64_t *")
    skipped = ffi.new("enum sws_stall_skip *")
    sleeper.hz = hz
    found = []
    for number, row in enumerate(throttles.iter_rows(named=True)):
        for name in ("kthread", "failures", "reclaimable", "write_pending", *of_2013):
            setattr(sleeper, name, row[name] or 0)
        reason = STALL_SLEEPS.index(row["reason"])
        if lib.sws_stall_sleep_length(reason, sleeper, timeout, skipped) != lib.SWS_OK:
            raise InputError(f"row {number}: flags {row['flags']} at {hz} ticks a second cannot be")
        found.append(timeout[0])
    return pl.Series("timeout_us", found, dtype=pl.UInt32)


class Decided(NamedTuple):
    """What the rules of a set decide of a recording, row by row in its order.

    ``lists`` and ``branches`` are those of `decide_lists`, ``passes`` those of `decide_passes`,
    ``rounds`` are the requested sleeps, ``timeouts_us`` the lengths of the recorded calls.
    """

    lists: pl.DataFrame
    branches: pl.Series
    passes: pl.DataFrame
    rounds: pl.Series
    timeouts_us: pl.Series


def decide_recording(
    recording: Recording, rules: str, *, hz: int, tick: Callable[[int], object]
) -> Decided:
    """Decide all of a recording by the rules of a set, with the flags that its kernel read."""
    lists = recording.lists.select(RECLAIM_LISTS.names())
    return Decided(
        *decide_lists(recording.folios, lists, rules, tick=tick),
        passes=decide_passes(recording.passes, rules),
        rounds=decide_rounds(recording.rows.rounds, rules),
        timeouts_us=sleep_lengths(recording.rows.throttles, hz=hz),
    )
