# SPDX-License-Identifier: GPL-2.0-or-later
"""One list led page by page through ``stall.h``, one decision, and the reasons for it in words."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi.codes import check
from swapsim.ffi.facts import STALL_FATES, STALL_LIST_MAX
from swapsim.stall._native_page import page_bits, settings_of
from swapsim.stall._native_words import PROBLEMS, sentence, sleeps_of
from swapsim.stall.config import StallContext
from swapsim.stall.tables import STALL_PAGES, STALL_WAYS

PLACES: Final = {"list": lib.SWS_STALL_AT_LIST, "pass": lib.SWS_STALL_AT_PASS}
"""Where counters decide."""

_COUNTS: Final = tuple(name for name, _ in ffi.typeof("struct sws_stall_counts").fields)


def _counts(counts: Mapping[str, int], settings: Any, place: str) -> Any:
    """Return the struct; counters that no list of this context can have are refused."""
    unknown = [name for name in counts if name not in _COUNTS]
    if unknown:
        raise InputError(f"no such counter: choose of {', '.join(_COUNTS)}", field=unknown[0])
    below = [name for name, value in counts.items() if not 0 <= value < 2**64]
    if below:
        raise InputError(f"{counts[below[0]]} is no count of pages", field=below[0])
    struct = ffi.new("struct sws_stall_counts *", dict(counts))
    problem = lib.sws_stall_check_counts(settings, PLACES[place], struct)
    if problem != lib.SWS_STALL_NO_PROBLEM:
        field, wrong = PROBLEMS[problem]
        raise InputError(wrong, field=field)
    return struct


def decide(context: StallContext, counts: Mapping[str, int], place: str = "list") -> dict[str, Any]:
    """Decide from counters, at the end of a list or of a pass.

    Parameters
    ----------
    context : StallContext
    counts : mapping of str to int
        Pages: dirty, unqueued_dirty, congested, writeback, immediate, taken, file_taken;
        what is missing is 0.
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
    settings = settings_of(context)
    decision = ffi.new("struct sws_stall_decision *")
    counted = _counts(counts, settings, place)
    check(lib.sws_stall_decide(settings, PLACES[place], counted, decision))
    return _decided(context, PLACES[place], decision)


def decide_round(
    context: StallContext, *, scanned: int, reclaimed: int, wanted: int
) -> dict[str, Any]:
    """Decide at the end of a round of direct reclaim: as `decide`, of pages since it began."""
    settings, decision = settings_of(context), ffi.new("struct sws_stall_decision *")
    round_ = ffi.new("struct sws_stall_round *", (scanned, reclaimed, wanted))
    check(lib.sws_stall_decide_round(settings, round_, decision))
    return _decided(context, lib.SWS_STALL_AT_ROUND, decision)


def _decided(context: StallContext, place: int, decision: Any) -> dict[str, Any]:
    return {
        "flags_set": decision.set,
        "flags_after": decision.flags_after,
        "sleeps": sleeps_of(context.rules, place, decision.acts),
    }


def explain(context: StallContext, counts: Mapping[str, int], place: str = "list") -> list[str]:
    """Say of each act of a rule set, in order, why it is done or is not.

    Parameters
    ----------
    context, counts, place
        As `decide` takes them.

    Returns
    -------
    list of str
        One sentence an act: the numbers, and the rule.

    Raises
    ------
    InputError
    """
    settings, reason = settings_of(context), ffi.new("struct sws_stall_reason *")
    counted = _counts(counts, settings, place)
    told: list[str] = []
    while lib.sws_stall_explain(settings, PLACES[place], counted, len(told), reason) == lib.SWS_OK:
        told.append(sentence(reason, context.priority, counted.immediate))
    return told


def explain_round(context: StallContext, *, scanned: int, reclaimed: int, wanted: int) -> list[str]:
    """Say the same of the end of a round; no sentence where rules have no act there."""
    settings, reason = settings_of(context), ffi.new("struct sws_stall_reason *")
    round_ = ffi.new("struct sws_stall_round *", (scanned, reclaimed, wanted))
    found = lib.sws_stall_explain_round(settings, round_, reason)
    return [sentence(reason, context.priority, 0)] if found == lib.SWS_OK else []


def lead(
    context: StallContext, pages: pl.DataFrame, *, file: bool = True, unseen: int = 0
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Lead a list page by page to its end.

    Parameters
    ----------
    context : StallContext
    pages : polars.DataFrame
        Schema STALL_PAGES, in the order in which reclaim meets them.
    file : bool
        Whether it is a list of file pages.
    unseen : int
        Pages that were taken besides, but locked, or not to be evicted or unmapped.

    Returns
    -------
    ways : polars.DataFrame
        Schema STALL_WAYS: what became of each page.
    end : dict
        The counters; flags_set, flags_cleared, flags_after; sleeps at the end, in order; slept,
        the sleeps of case 1 before.

    Raises
    ------
    InputError
        Nothing was taken, or too much.
    """
    STALL_PAGES.check(pages)
    taken = int(pages["pages"].sum()) + unseen
    if not 1 <= taken <= STALL_LIST_MAX:
        raise InputError(f"{taken} pages taken: give 1 to {STALL_LIST_MAX}", field="pages")
    led = ffi.new("struct sws_stall_list *")
    check(lib.sws_stall_begin(settings_of(context), file, taken, led))
    ways = [_way(led, page) for page in pages.iter_rows(named=True)]
    decision = ffi.new("struct sws_stall_decision *")
    check(lib.sws_stall_end(led, decision))
    end = _decided(context, lib.SWS_STALL_AT_LIST, decision)
    counts = {name: getattr(led.counts, name) for name in _COUNTS}
    cleared = {"flags_cleared": decision.cleared, "slept": led.slept}
    return pl.DataFrame(ways, schema=STALL_WAYS.schema, orient="row"), counts | end | cleared


def _way(led: Any, page: Mapping[str, Any]) -> tuple[Any, ...]:
    """Lead one page through its tests, as far as it comes."""
    slept = waited = written = False
    bits = page_bits(page)
    _meet(led, bits, page["pages"])
    fate = led.fate
    if led.state == lib.SWS_STALL_STATE_ASLEEP:
        slept = True
        check(lib.sws_stall_slept(led, page["still"]))
    elif led.state == lib.SWS_STALL_STATE_WAITING:
        waited = True
        check(lib.sws_stall_waited(led))
        if led.state == lib.SWS_STALL_STATE_PAGE:
            # Written by now, so no case is left: it is met as what it is without writeback.
            writeback = lib.SWS_STALL_PAGE_WRITEBACK | lib.SWS_STALL_PAGE_UNDER_WRITEBACK
            _meet(led, bits & ~writeback & ~lib.SWS_STALL_PAGE_FS_WRITEBACK, page["pages"])
    goes_on = led.state == lib.SWS_STALL_STATE_GOES_ON
    under_writeback = bool(led.under_writeback)
    if goes_on and page["arrives"] and page["dirty_late"]:
        check(lib.sws_stall_dirty(led))
        fate = led.fate if fate == lib.SWS_STALL_FATE_GOES_ON else fate
        written = led.state == lib.SWS_STALL_STATE_PAGEOUT
        if written:
            check(lib.sws_stall_paged_out(led, page["kept"]))
    elif goes_on:
        check(lib.sws_stall_left(led))
    freed = bool(goes_on and page["arrives"] and not page["dirty_late"])
    return (
        STALL_FATES[fate],
        bool(led.activates),
        bool(led.marks),
        slept,
        waited,
        freed,
        freed and under_writeback,
    )


def _meet(led: Any, bits: int, pages: int) -> None:
    if lib.sws_stall_meet(led, bits, pages) != lib.SWS_OK:
        raise InputError("a page of no 4 KiB, or of too many", field="pages")
