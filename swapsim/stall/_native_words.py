# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions of ``stall.h`` in words: why one was taken, and what is wrong with its numbers."""

from typing import Any, Final

from swapsim._core import lib
from swapsim.ffi.facts import (
    STALL_FLAGS,
    STALL_LIST_MAX,
    STALL_PRIORITY_MAX,
    STALL_RULES,
    STALL_SLEEPS,
)
from swapsim.stall._native_rules import number_of

FLAG_NAMES: Final = {bit: name for name, bit in STALL_FLAGS.items()}

_SCOPES: Final = {
    lib.SWS_STALL_FOR_ANY: "all reclaim",
    lib.SWS_STALL_FOR_GLOBAL: "global reclaim",
    lib.SWS_STALL_FOR_KSWAPD: "kswapd",
    lib.SWS_STALL_FOR_KSWAPD_OR_SANE_MEMCG: "kswapd, or a memory cgroup of v2",
    lib.SWS_STALL_FOR_DIRECT: "direct reclaim that does not hibernate",
    lib.SWS_STALL_FOR_THROTTLED_DIRECT: "direct reclaim that may be stalled",
    lib.SWS_STALL_FOR_LEGACY_MEMCG: "a memory cgroup of v1",
    lib.SWS_STALL_FOR_GLOBAL_DIRECT: "global direct reclaim",
}

_NUMBERS: Final = {
    lib.SWS_STALL_N_DIRTY: "dirty",
    lib.SWS_STALL_N_UNQUEUED_DIRTY: "unqueued dirty",
    lib.SWS_STALL_N_CONGESTED: "congested",
    lib.SWS_STALL_N_WRITEBACK: "under writeback",
    lib.SWS_STALL_N_IMMEDIATE: "marked for immediate reclaim",
    lib.SWS_STALL_N_TAKEN: "taken",
    lib.SWS_STALL_N_FILE_TAKEN: "taken of files",
}

PROBLEMS: Final = {
    getattr(lib, f"SWS_STALL_{name}"): (field, wrong)
    for name, field, wrong in (
        ("UNKNOWN_SET", "rules", f"no such rule set: choose one of {', '.join(STALL_RULES)}"),
        ("BAD_PRIORITY", "priority", f"a priority is 0 to {STALL_PRIORITY_MAX}"),
        ("UNKNOWN_FLAGS", "flags", "an unknown flag: they are a sum of 1, 2 and 4"),
        ("UNKNOWN_CALLER", "caller", "an unknown bit of who reclaims"),
        ("LEGACY_WITHOUT_MEMCG", "sane", "global reclaim is always sane: drop one of the two"),
        ("UNKNOWN_PAGE_BITS", "page", "an unknown bit of a page"),
        ("TWO_CALLBACKS", "buffers", "a page has one file system that answers for it"),
        ("UNKNOWN_STEP", "step", "an unknown step"),
        (
            "STEP_WITHOUT_WRITEBACK",
            "step",
            "a case of writeback, and the page is not under writeback",
        ),
        ("NO_PAGES", "pages", f"a folio has 1 to {STALL_LIST_MAX} pages"),
        ("EMPTY_LIST", "taken", "nothing was taken: such a list decides nothing, drop it"),
        ("LIST_TOO_LONG", "taken", f"a list has at most {STALL_LIST_MAX} pages"),
        ("UNQUEUED_ABOVE_DIRTY", "unqueued_dirty", "more pages unqueued than dirty"),
        ("DIRTY_ABOVE_TAKEN", "dirty", "more pages dirty than taken"),
        ("CONGESTED_ABOVE_DIRTY", "congested", "more pages congested than can be"),
        ("WRITEBACK_ABOVE_TAKEN", "writeback", "more pages in cases 1 and 2 than taken"),
        ("FILE_ABOVE_TAKEN", "file_taken", "more pages of files taken than pages"),
        ("UNKNOWN_NODE", "node", "no such node"),
        ("UNKNOWN_CLEARS", "clears", "flags are cleared by something unknown"),
    )
}
"""Per problem of stall.h: the field at fault, and what is wrong with it."""


def acts_of(rules: str, place: int) -> list[Any]:
    """Return the acts of a program, in order: borrowed ``struct sws_stall_act``."""
    row = lib.sws_stall_rules_of(number_of(rules))
    acts = [row.acts[place][i] for i in range(lib.SWS_STALL_ACTS_MAX)]
    return [act for act in acts if act.does != lib.SWS_STALL_DOES_NOTHING]


def sleeps_of(rules: str, place: int, done: int) -> list[str]:
    """Return the sleeps that those acts asked for whose bits are in done, in order."""
    return [
        STALL_SLEEPS[act.what]
        for i, act in enumerate(acts_of(rules, place))
        if act.does == lib.SWS_STALL_DOES_SLEEP and done >> i & 1
    ]


def wakes(rules: str, place: int) -> int:
    """Return the bits of the acts that wake the flushers."""
    acts = enumerate(acts_of(rules, place))
    return sum(1 << i for i, act in acts if act.does == lib.SWS_STALL_DOES_WAKE)


def _subject(act: Any) -> str:
    if act.does == lib.SWS_STALL_DOES_SET:
        return f"flag {FLAG_NAMES[act.what]}"
    if act.does == lib.SWS_STALL_DOES_SLEEP:
        return f"sleep {STALL_SLEEPS[act.what]}"
    return "the flushers"


_LETTERS: Final = dict(zip(_NUMBERS, ("D", "U", "C", "W", "I", "T", "file T"), strict=True)) | {
    lib.SWS_STALL_N_SHARE: "T >> (12 - priority)"
}


def _condition(act: Any) -> str:
    number, of = _LETTERS.get(act.number, ""), _LETTERS.get(act.of, "")
    return {
        lib.SWS_STALL_TEST_ALWAYS: "always",
        lib.SWS_STALL_TEST_SOME: f"{number} > 0",
        lib.SWS_STALL_TEST_SOME_AT_LEAST: f"{number} > 0 and {number} >= {of}",
        lib.SWS_STALL_TEST_SOME_EQUAL: f"{number} > 0 and {number} == {of}",
        lib.SWS_STALL_TEST_EQUAL: f"{number} == {of}",
        lib.SWS_STALL_TEST_EQUAL_OR_IMMEDIATE: f"{number} == {of} or I > 0",
        lib.SWS_STALL_TEST_FLAGGED: "the flag congested is set",
        lib.SWS_STALL_TEST_IN_TROUBLE: (
            f"priority < {lib.SWS_STALL_TROUBLE}, some were scanned and too few reclaimed"
        ),
        lib.SWS_STALL_TEST_NO_PROGRESS: "priority == 1 and none were reclaimed",
    }[act.test]


def sentence(reason: Any, priority: int, immediate: int) -> str:
    """Say of one act whether it is done, and why: ``struct sws_stall_reason``."""
    act = reason.act
    done = reason.in_scope and reason.holds
    verb = {
        lib.SWS_STALL_DOES_SET: ("is set", "is not set"),
        lib.SWS_STALL_DOES_SLEEP: ("is asked for", "is not asked for"),
        lib.SWS_STALL_DOES_WAKE: ("are woken", "are not woken"),
    }[act.does][not done]
    why = (
        _numbers(reason, priority, immediate)
        if reason.in_scope
        else f"that is for {_SCOPES[act.scope]}"
    )
    return f"{_subject(act)} {verb}: {why}"


def _numbers(reason: Any, priority: int, immediate: int) -> str:
    """Say what a test compared, and how it came out."""
    act, holds, equal = reason.act, bool(reason.holds), reason.number == reason.of
    told = f"{reason.number} {_NUMBERS.get(act.number, '')}"
    limit = f"the {reason.of} {_NUMBERS.get(act.of, '')}"
    share = f"{reason.of} (T >> {STALL_PRIORITY_MAX - priority})"
    compared = f"{told}, {'as many as' if equal else 'not'} {limit}"
    return {
        lib.SWS_STALL_TEST_SOME: told,
        lib.SWS_STALL_TEST_SOME_AT_LEAST: (
            f"{told}, {'at least' if holds else 'fewer than'} {share}" if reason.number else told
        ),
        lib.SWS_STALL_TEST_SOME_EQUAL: compared if reason.number else told,
        lib.SWS_STALL_TEST_EQUAL: compared,
        lib.SWS_STALL_TEST_EQUAL_OR_IMMEDIATE: (
            f"{compared}; {immediate} {_NUMBERS[lib.SWS_STALL_N_IMMEDIATE]}"
        ),
    }.get(act.test, f"{'' if holds else 'it is not so that '}{_condition(act)}")
