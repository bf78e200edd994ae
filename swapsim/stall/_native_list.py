# SPDX-License-Identifier: GPL-2.0-or-later
"""One list, decided page by page or by its counters in the C library (``stall.h``)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import STALL_BRANCHES, STALL_LIST_MAX, check
from swapsim.stall._native import (
    PLACES,
    SUMS,
    caller_bits,
    number_of,
    page_bits,
    refuse_problem,
    sleeps_of,
)
from swapsim.stall.config import StallContext
from swapsim.stall.tables import STALL_BRANCH, STALL_PAGES

_PAGE_RESULTS: Final = {
    "branch": STALL_BRANCH.dtype,
    **dict.fromkeys(("activated", "marked", "slept", "waited", "freed"), pl.Boolean()),
    "freed_under_writeback": pl.Boolean(),
}


# By counters.
def decide(context: StallContext, counts: Mapping[str, int], place: str = "list") -> dict[str, Any]:
    """Decide from counters, at the end of a "list" or of a "pass".

    ``counts`` are pages by counter: STALL_COUNTERS, taken and file_taken; a missing one is 0. The
    result has flags_set and flags_after (sums of STALL_FLAGS), and sleeps (names, in order).
    InputError names a counter that contradicts another.

    Examples
    --------
    >>> from swapsim import stall
    >>> kswapd = stall.StallContext(rules="3.11", kswapd=True)
    >>> decided = stall.decide(kswapd, {"taken": 32, "dirty": 32, "unqueued_dirty": 32})
    >>> sorted(name for name, value in decided.items() if value)
    ['flags_after', 'flags_set', 'sleeps']
    """
    settings, decision = _struct_of(context), ffi.new("struct sws_stall_decision *")
    counted = _counts_of(counts, settings, place)
    check(lib.sws_stall_decide(settings, PLACES[place], counted, decision))
    return _decided(context, place, decision)


def reasons(context: StallContext, counts: Mapping[str, int], place: str) -> list[Any]:
    """Return ``struct sws_stall_reason`` for each act at the end of a list or a pass."""
    settings, found = _struct_of(context), list[Any]()
    counted, reason = _counts_of(counts, settings, place), ffi.new("struct sws_stall_reason *")
    while not lib.sws_stall_explain(settings, PLACES[place], counted, len(found), reason):
        found.append(reason)
        reason = ffi.new("struct sws_stall_reason *")
    return found


def _struct_of(context: StallContext) -> Any:
    caller = caller_bits(asdict(context))
    fields = (number_of(context.rules), caller, context.priority, context.flags)
    return ffi.new("struct sws_stall_context *", fields)


def _counts_of(counts: Mapping[str, int], settings: Any, place: str) -> Any:
    """Return ``struct sws_stall_counts``; InputError for counters that contradict each other."""
    for name, value in counts.items():
        if name not in SUMS:
            raise InputError(f"no such counter: choose of {', '.join(SUMS)}", field=name)
        if not 0 <= value < 2**64:
            raise InputError(f"{value} is not a number of pages", field=name)
    struct = ffi.new("struct sws_stall_counts *", dict(counts))
    refuse_problem(lib.sws_stall_check_counts(settings, PLACES[place], struct))
    return struct


def _decided(context: StallContext, place: str, decision: Any) -> dict[str, Any]:
    return {
        "flags_set": decision.set,
        "flags_after": decision.flags_after,
        "sleeps": sleeps_of(context.rules, place, decision.acts),
    }


# Page by page.
def process_pages(
    context: StallContext, pages: pl.DataFrame, *, file: bool = True, unseen: int = 0
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Process a list of file pages, or of anonymous ones, page by page to its end.

    ``pages`` are STALL_PAGES in the order in which reclaim meets them; ``unseen`` pages were taken
    as well, but are locked, not evictable or not to be unmapped. InputError if none or too many
    were taken.

    The first result has a row per page: its ``branch`` (STALL_BRANCH), and whether it is
    ``activated``, ``marked``, ``slept`` for in case 1, ``waited`` for in case 3, ``freed``, or
    ``freed_under_writeback``, mmotm's bug. The second one has the counters, flags_set,
    flags_cleared, flags_after, the sleeps at the end in order, and slept, the number of sleeps of
    case 1 before the end.
    """
    STALL_PAGES.check(pages)
    taken = int(pages["pages"].sum()) + unseen
    if not 1 <= taken <= STALL_LIST_MAX:
        raise InputError(f"{taken} pages taken: give 1 to {STALL_LIST_MAX}", field="pages")
    of_list = ffi.new("struct sws_stall_list *")
    check(lib.sws_stall_begin(_struct_of(context), file, taken, of_list))
    rows = zip(pages.iter_rows(named=True), page_bits(pages).tolist(), strict=True)
    results = [_process(of_list, page, bits) for page, bits in rows]
    decision = ffi.new("struct sws_stall_decision *")
    check(lib.sws_stall_end(of_list, decision))
    end = {name: getattr(of_list.counts, name) for name in SUMS}
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


def _meet(of_list: Any, bits: int, pages: int) -> str:
    """Account for the next page and run its writeback test; return a word of STALL_BRANCH."""
    if lib.sws_stall_meet(of_list, bits, pages) != lib.SWS_OK:
        raise InputError(f"a folio has 1 to {STALL_LIST_MAX} pages", field="pages")
    return STALL_BRANCHES[int(of_list.branch)]
