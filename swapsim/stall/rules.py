# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules by which reclaim stalls: a row of ``stall_rules.h`` in words, and what it decides.

A decision at the end of a list, of a pass or of a round is a program of acts: each sets a flag,
requests a sleep or wakes the flushers, if its test holds for this caller.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from swapsim.ffi import STALL_PRIORITY_MAX
from swapsim.stall._native import rules_row
from swapsim.stall._native_list import reasons
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


def rules_of(name: str) -> Rules:
    """Return the rules of a name of STALL_RULES; InputError if there is no such set."""
    row = rules_row(name)
    acts = tuple(Act(**act) for act in row.pop("acts"))
    return Rules(name=name, acts=acts, **row)


def explain(context: StallContext, counts: Mapping[str, int], place: str = "list") -> list[str]:
    """Return one sentence for each act of a rule set: whether `decide` does it, and why.

    Examples
    --------
    >>> from swapsim import stall
    >>> kswapd = stall.StallContext(rules="3.11", kswapd=True)
    >>> for line in stall.explain(kswapd, {"taken": 32, "writeback": 8, "immediate": 1}):
    ...     print(line)
    flag writeback is not set: 8 under writeback, not the 32 taken
    flag congested is not set: 0 dirty
    flag tail_lru_dirty is not set: 0 unqueued dirty, not the 32 taken
    sleep congestion_wait is requested: 0 unqueued dirty, not the 32 taken;
    1 marked for immediate reclaim
    sleep wait_iff_congested is not requested: that is for direct reclaim that does not hibernate
    """
    found = reasons(context, counts, place)
    acts = rules_of(context.rules).at(place)
    immediate = counts.get("immediate", 0)
    return [
        _sentence(act, reason, context.priority, immediate)
        for act, reason in zip(acts, found, strict=True)
    ]


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
