# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules by which reclaim stalls: a row of ``stall_rules.h`` in words, and what it decides.

A decision at the end of a list, of a pass or of a round is a program of acts: each sets a flag,
requests a sleep or wakes the flushers, if its test holds for this caller.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from swapsim.checks import checked
from swapsim.ffi import STALL_FLAGS, STALL_PRIORITY_MAX, STALL_TROUBLE
from swapsim.stall import _native
from swapsim.stall.config import StallContext

_SCOPES: Final = {
    "any": "all reclaim",
    "global": "global reclaim",
    "kswapd": "kswapd",
    "kswapd_or_sane_memcg": "kswapd, or a memory cgroup of v2",
    "direct": "direct reclaim that does not hibernate",
    "throttled_direct": "direct reclaim that may be stalled",
    "legacy_memcg": "a memory cgroup of v1",
    "global_direct": "global direct reclaim",
}
_NUMBERS: Final = {
    "dirty": "dirty",
    "unqueued_dirty": "unqueued dirty",
    "congested": "congested",
    "writeback": "under writeback",
    "immediate": "marked for immediate reclaim",
    "taken": "taken",
    "file_taken": "taken of files",
}
_CONDITIONS: Final = {
    "always": "always",
    "flagged": "the flag congested is set",
    "in_trouble": "priority < 10, some were scanned and too few reclaimed",
    "no_progress": "priority == 1 and none were reclaimed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One act of a program: ``struct sws_stall_act``, its numbers as the words of their enums.

    It is done at the end of its place, a list, pass or round: it sets a flag, requests a sleep
    (``what``) or wakes the flushers, for callers of its scope and if its test holds.
    """

    place: str
    does: str
    what: str
    scope: str
    test: str
    number: str
    of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One set of rules: ``struct sws_stall_rules``, which explains each field.

    Enums are their words, acts are in the order in which they are done, and ``clears`` has the
    flags that each of STALL_CLEARS clears.
    """

    name: str
    counted: str
    congested_by: frozenset[str]
    counts_base_pages: bool
    asks_buffers: bool
    asks_nfs: bool
    case_1: str
    activates: bool
    waits_for_legacy: bool
    waits_entering_fs: bool
    retries: bool
    writes: str
    decides: str
    acts: tuple[Act, ...]
    clears: dict[str, int]
    isolated: str

    def at(self, place: str) -> tuple[Act, ...]:
        """Return the acts at the end of a list, a pass or a round."""
        return tuple(act for act in self.acts if act.place == place)

    @property
    def by_pass(self) -> bool:
        """Return whether passes set the flags, not lists; a cgroup has its own congestion then."""
        return self.decides == "pass"

    @property
    def goes_on_after(self) -> tuple[str, ...]:
        """Return the cases of writeback after which a page goes on to the next test."""
        cases = {"case-1": self.case_1 == "sleep_locked", "case-3": not self.retries}
        return tuple(case for case, goes_on in cases.items() if goes_on)


@checked
def rules_of(name: str) -> Rules:
    """Return a set of rules.

    Parameters
    ----------
    name : str
        One of STALL_RULES.

    Raises
    ------
    ConfigError
        There is no such rule set.
    """
    row = _native.rules_row(name)
    acts = tuple(Act(**act) for act in row.pop("acts"))
    return Rules(name=name, acts=acts, **row)


@checked
def explain(context: StallContext, counts: Mapping[str, int], place: str = "list") -> list[str]:
    """Return one sentence for each act of a rule set: whether it is done, and why.

    Parameters
    ----------
    context, counts, place
        As for `decide`.

    Raises
    ------
    InputError
        As for `decide`.
    """
    found = _native.reasons(context, counts, place)
    acts = rules_of(context.rules).at(place)
    immediate = counts.get("immediate", 0)
    return [
        _sentence(act, reason, context.priority, immediate)
        for act, reason in zip(acts, found, strict=True)
    ]


def explain_round(context: StallContext, pages: Mapping[str, int]) -> list[str]:
    """Return the reason of the only act at the end of a round; empty if the rules have none."""
    reason = _native.round_reason(context, pages)
    if reason is None:
        return []
    return [_sentence(rules_of(context.rules).at("round")[0], reason, context.priority, 0)]


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


def _sentence(act: Act, reason: Any, priority: int, immediate: int) -> str:
    """Return whether an act is done, and why: ``struct sws_stall_reason`` in words."""
    subject = {"set": f"flag {act.what}", "sleep": f"sleep {act.what}", "wake": "the flushers"}
    verb = {"set": "is {}set", "sleep": "is {}requested", "wake": "are {}woken"}[act.does]
    done = reason.in_scope and reason.holds
    why = (
        _comparison(act, reason, priority, immediate)
        if reason.in_scope
        else f"that is for {_SCOPES[act.scope]}"
    )
    return f"{subject[act.does]} {verb.format('' if done else 'not ')}: {why}"


def _comparison(act: Act, reason: Any, priority: int, immediate: int) -> str:
    """Return what a test compared, and its result."""
    found = f"{reason.number} {_NUMBERS.get(act.number)}"
    limit = f"the {reason.of} {_NUMBERS.get(act.of)}"
    share = f"{reason.of} (taken / {1 << (STALL_PRIORITY_MAX - priority)})"
    compared = f"{found}, {'as many as' if reason.number == reason.of else 'not'} {limit}"
    at_least = f"{found}, {'at least' if reason.holds else 'fewer than'} {share}"
    words = {
        "some": found,
        "some_at_least": at_least if reason.number else found,
        "some_equal": compared if reason.number else found,
        "equal": compared,
        "equal_or_immediate": f"{compared}; {immediate} {_NUMBERS['immediate']}",
    }
    held = "" if reason.holds else "it is not true that "
    return words.get(act.test) or f"{held}{_CONDITIONS[act.test]}"
