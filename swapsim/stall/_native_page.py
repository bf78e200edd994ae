# SPDX-License-Identifier: GPL-2.0-or-later
"""One page under ``stall.h``: its bits, and in words what the rules make of it, and why."""

from collections.abc import Mapping
from typing import Any

from swapsim._core import ffi, lib
from swapsim.ffi.codes import check
from swapsim.ffi.facts import STALL_FLAGS
from swapsim.stall._native_rules import Rules, number_of, rules_of
from swapsim.stall.config import StallContext

_COUNTERS = ("dirty", "unqueued_dirty", "congested", "writeback", "immediate")


def page_bits(page: Mapping[str, Any]) -> int:
    """Return a row of STALL_PAGES, or of RECLAIM_FOLIOS, as ``enum sws_stall_page``."""
    asked = page["fs_dirty"] is not None and page["buffers"] is not None
    under, marked = page.get("under_writeback"), page.get("marked")
    bits = {
        lib.SWS_STALL_PAGE_FILE: page["file"],
        lib.SWS_STALL_PAGE_LAZYFREE: page.get("lazyfree"),
        lib.SWS_STALL_PAGE_DIRTY: page["dirty"],
        lib.SWS_STALL_PAGE_WRITEBACK: page["writeback"],
        lib.SWS_STALL_PAGE_RECLAIM: page["reclaim"],
        lib.SWS_STALL_PAGE_UNDER_WRITEBACK: page["writeback"] if under is None else under,
        lib.SWS_STALL_PAGE_MARKED: page["reclaim"] if marked is None else marked,
        lib.SWS_STALL_PAGE_DEVICE_CONGESTED: page["congested"],
        lib.SWS_STALL_PAGE_BUFFERS: asked and page["buffers"],
        lib.SWS_STALL_PAGE_NFS: asked and not page["buffers"],
        lib.SWS_STALL_PAGE_FS_DIRTY: asked and page["fs_dirty"],
        lib.SWS_STALL_PAGE_FS_WRITEBACK: asked and page["fs_writeback"],
    }
    return sum(bit for bit, holds in bits.items() if holds)


def settings_of(context: StallContext) -> Any:
    """Return a new ``struct sws_stall_context``."""
    bits = {
        lib.SWS_STALL_KSWAPD: context.kswapd,
        lib.SWS_STALL_MEMCG: context.memcg,
        lib.SWS_STALL_LEGACY: not context.sane,
        lib.SWS_STALL_HIBERNATION: context.hibernation,
        lib.SWS_STALL_LOCAL_THROTTLE: not context.may_throttle,
        lib.SWS_STALL_IO: context.io,
        lib.SWS_STALL_FS: context.fs,
    }
    settings = ffi.new("struct sws_stall_context *")
    settings.set = number_of(context.rules)
    settings.caller = sum(bit for bit, holds in bits.items() if holds)
    settings.priority, settings.flags = context.priority, context.flags
    return settings


def explain_page(context: StallContext, page: Mapping[str, Any]) -> list[str]:
    """Say what the rules make of a page at each of their tests, and why.

    Parameters
    ----------
    context : StallContext
        Its flags are those that the page's tests see.
    page : mapping
        A row of STALL_PAGES or of RECLAIM_FOLIOS.

    Returns
    -------
    list of str
        What it counts as; what the writeback test says; where that lets it go on, what the dirty
        test would say of it if it came there dirty.
    """
    led = ffi.new("struct sws_stall_list *")
    rules, bits = rules_of(context.rules), page_bits(page)
    check(lib.sws_stall_begin(settings_of(context), page["file"], 1, led))
    check(lib.sws_stall_meet(led, bits, 1))
    counted = [name for name in _COUNTERS if getattr(led.counts, name)]
    marked = bool(bits & lib.SWS_STALL_PAGE_MARKED)
    told = [f"counts as {', '.join(counted) or 'nothing'}"]
    if led.fate != lib.SWS_STALL_FATE_GOES_ON:
        return [*told, _case(led.fate, rules, context, file=page["file"], marked=marked)]
    check(lib.sws_stall_dirty(led))
    writes = led.fate == lib.SWS_STALL_FATE_WRITE
    late = "" if rules.counted == "at_top" else "counts, and "
    why = _why_not_written(rules, context, marked=marked) if page["file"] else []
    verdict = "is written" if writes else f"is not written: {', '.join(why)}"
    return [*told, "not under writeback: goes on", f"if dirty, it {late}{verdict}"]


def _case(fate: int, rules: Rules, context: StallContext, *, file: bool, marked: bool) -> str:
    """Say which case of writeback a page is, and for case 2 why none of the others."""
    no_1 = _why_not_1(rules, context, marked=marked)
    no_3 = _why_not_3(rules, context, file=file, marked=marked)
    return {
        lib.SWS_STALL_FATE_CASE_1: "case 1: kswapd, marked, and the zone is flagged writeback",
        lib.SWS_STALL_FATE_CASE_2: (
            f"case 2: no case 1 ({', '.join(no_1)}), no case 3 ({', '.join(no_3)})"
        ),
        lib.SWS_STALL_FATE_CASE_3: (
            f"case 3: a memory cgroup{' of v1' if rules.waits_for_legacy else ''}, marked; no case "
            f"1 ({', '.join(no_1)})"
        ),
    }[fate]


def _why_not_1(rules: Rules, context: StallContext, *, marked: bool) -> list[str]:
    if rules.case_1 == "none":
        return [f"{rules.name} has none"]
    missing = {
        "not kswapd": not context.kswapd,
        "not marked": not marked,
        "the zone is not flagged writeback": not context.flags & STALL_FLAGS["writeback"],
    }
    return [why for why, holds in missing.items() if holds]


def _why_not_3(rules: Rules, context: StallContext, *, file: bool, marked: bool) -> list[str]:
    enters = context.fs or (context.io and not file)
    missing = {
        "global reclaim": not context.memcg,
        "cgroup v2": rules.waits_for_legacy and context.memcg and context.sane,
        "not marked": not marked,
        "may not enter the filesystem": rules.waits_entering_fs and not enters,
        "no IO": not rules.waits_entering_fs and not context.io,
    }
    return [why for why, holds in missing.items() if holds]


def _why_not_written(rules: Rules, context: StallContext, *, marked: bool) -> list[str]:
    by_flag = rules.writes != "below_10"
    missing = {
        "not kswapd": not context.kswapd,
        f"priority {context.priority}": not by_flag and context.priority >= lib.SWS_STALL_TROUBLE,
        "the zone is not flagged tail_lru_dirty": (
            by_flag and not context.flags & STALL_FLAGS["tail_lru_dirty"]
        ),
        "not marked": rules.writes == "flagged_and_marked" and not marked,
    }
    return [why for why, holds in missing.items() if holds]
