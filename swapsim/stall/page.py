# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages under the rules: what becomes of each page of a list, and why."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi import STALL_FLAGS, STALL_LIST_MAX, STALL_TROUBLE
from swapsim.stall import _native
from swapsim.stall.config import StallContext
from swapsim.stall.rules import Rules, rules_of
from swapsim.stall.tables import STALL_PAGE_RESULTS, STALL_PAGES


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
    ways : polars.DataFrame
        Schema STALL_PAGE_RESULTS: what became of each page.
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
    ways, end = _native.process_pages(context, pages, file=file, taken=taken)
    return pl.DataFrame(ways, schema=STALL_PAGE_RESULTS.schema, orient="row"), end


def explain_page(context: StallContext, page: pl.DataFrame) -> list[str]:
    """Return what the rules make of one row of STALL_PAGES or of RECLAIM_FOLIOS, and why.

    The first line says what the page counts as, the second the result of the writeback test, the
    third that of the dirty test, if the page gets there. The context has the flags that they see.
    """
    rules, file = rules_of(context.rules), page["file"].item()
    mark = page["marked"] if "marked" in page.columns else page["reclaim"]
    marked = bool(mark.fill_null(page["reclaim"]).item())
    counted, branch, written = _native.tests_of_page(context, page)
    found = [f"counts as {', '.join(counted) or 'nothing'}"]
    if branch != "goes-on":
        return [*found, _case(branch, rules, context, file=file, marked=marked)]
    late = "" if rules.counted == "at_top" else "counts, and "
    why = _why_not_written(rules, context, marked=marked) if file else []
    verdict = "is written" if written else f"is not written: {', '.join(why)}"
    return [*found, "not under writeback: goes on", f"if dirty, it {late}{verdict}"]


def _case(branch: str, rules: Rules, context: StallContext, *, file: bool, marked: bool) -> str:
    """Return the case of writeback of a page, and why it is none of the others."""
    no_1 = ", ".join(_why_not_1(rules, context, marked=marked))
    no_3 = ", ".join(_why_not_3(rules, context, file=file, marked=marked))
    of_v1 = " of v1" if rules.waits_for_legacy else ""
    return {
        "case-1": "case 1: kswapd, marked, and the zone is flagged writeback",
        "case-2": f"case 2: no case 1 ({no_1}), no case 3 ({no_3})",
        "case-3": f"case 3: a memory cgroup{of_v1}, marked; no case 1 ({no_1})",
    }[branch]


def _holding(reasons: Mapping[str, bool]) -> list[str]:
    return [why for why, holds in reasons.items() if holds]


def _why_not_1(rules: Rules, context: StallContext, *, marked: bool) -> list[str]:
    if rules.case_1 == "none":
        return [f"{rules.name} has none"]
    flagged = bool(context.flags & STALL_FLAGS["writeback"])
    return _holding(
        {
            "not kswapd": not context.kswapd,
            "not marked": not marked,
            "the zone is not flagged writeback": not flagged,
        }
    )


def _why_not_3(rules: Rules, context: StallContext, *, file: bool, marked: bool) -> list[str]:
    enters = context.fs or (context.io and not file)
    return _holding(
        {
            "global reclaim": not context.memcg,
            "cgroup v2": rules.waits_for_legacy and context.memcg and context.sane,
            "not marked": not marked,
            "may not enter the filesystem": rules.waits_entering_fs and not enters,
            "no IO": not rules.waits_entering_fs and not context.io,
        }
    )


def _why_not_written(rules: Rules, context: StallContext, *, marked: bool) -> list[str]:
    flagged = rules.writes == "below_10" or bool(context.flags & STALL_FLAGS["tail_lru_dirty"])
    in_trouble = rules.writes != "below_10" or context.priority < STALL_TROUBLE
    return _holding(
        {
            "not kswapd": not context.kswapd,
            f"priority {context.priority}": not in_trouble,
            "the zone is not flagged tail_lru_dirty": not flagged,
            "not marked": rules.writes == "flagged_and_marked" and not marked,
        }
    )
