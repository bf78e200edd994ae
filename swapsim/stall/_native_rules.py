# SPDX-License-Identifier: GPL-2.0-or-later
"""A row of ``stall_rules.h`` in words: all that distinguishes one set of stall rules."""

from dataclasses import dataclass
from typing import Any, Final

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi.facts import STALL_CLEARS, STALL_FLAGS, STALL_RULES, STALL_SLEEPS

_FLAG: Final = {bit: name for name, bit in STALL_FLAGS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One act of a program: ``struct sws_stall_act``, its numbers as the words of their enums.

    Attributes
    ----------
    place : str
        ``list``, ``pass`` or ``round``: at whose end it is done.
    does : str
        ``set``, ``sleep`` or ``wake``.
    what : str
        The flag, or the sleep; empty for ``wake``.
    scope, test, number, of : str
        Whose reclaim it is for, and what must hold of which numbers.
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
    """``struct sws_stall_rules``.

    Attributes
    ----------
    name : str
        Of `facts.STALL_RULES`.
    counted, case_1, writes, decides : str
        Words of their enums.
    congested_by : frozenset of str
        Which pages count as congested.
    counts_base_pages, asks_buffers, asks_nfs, activates : bool
        As in the header.
    waits_for_legacy, waits_entering_fs, retries : bool
        Case 3, as in the header.
    isolated : str
        How a reclaimer sleeps while too many pages are isolated.
    acts : tuple of Act
        In the order in which they are done.
    clears : dict of str to frozenset of str
        What clears flags, and which.
    """

    name: str
    counted: str
    case_1: str
    writes: str
    decides: str
    congested_by: frozenset[str]
    counts_base_pages: bool
    asks_buffers: bool
    asks_nfs: bool
    activates: bool
    waits_for_legacy: bool
    waits_entering_fs: bool
    retries: bool
    isolated: str
    acts: tuple[Act, ...]
    clears: dict[str, frozenset[str]]


def rules_of(name: str) -> Rules:
    """Read a rule set's row.

    Parameters
    ----------
    name : str
        Of `facts.STALL_RULES`.

    Raises
    ------
    InputError
        There is no such rule set.
    """
    row = lib.sws_stall_rules_of(number_of(name))
    return Rules(
        name=name,
        counted=_word("counted", row.counted),
        case_1=_word("case_1", row.case_1),
        writes=_word("writes", row.writes),
        decides=_word("place", row.decides, "AT_"),
        congested_by=frozenset(
            word for bit, word in _words("congested_by", "BY_").items() if row.congested_by & bit
        ),
        counts_base_pages=row.counts_base_pages,
        asks_buffers=row.asks_buffers,
        asks_nfs=row.asks_nfs,
        activates=row.activates,
        waits_for_legacy=row.waits_for_legacy,
        waits_entering_fs=row.waits_entering_fs,
        retries=row.retries,
        isolated=STALL_SLEEPS[row.isolated],
        acts=tuple(
            _act(_word("place", place, "AT_"), act)
            for place in range(lib.SWS_STALL_PLACES)
            for act in row.acts[place]
            if act.does != lib.SWS_STALL_DOES_NOTHING
        ),
        clears={
            why: frozenset(flag for bit, flag in _FLAG.items() if row.clears[i] & bit)
            for i, why in enumerate(STALL_CLEARS)
        },
    )


def number_of(name: str) -> int:
    """Return a rule set as ``enum sws_stall_set``; InputError if there is no such set."""
    if name not in STALL_RULES:
        raise InputError(f"no rule set {name!r}: take one of {', '.join(STALL_RULES)}")
    return STALL_RULES.index(name)


def _act(place: str, act: Any) -> Act:
    does = _word("does", act.does)
    what = {"set": _FLAG.get(act.what, ""), "sleep": STALL_SLEEPS[act.what]}.get(does, "")
    return Act(
        place=place,
        does=does,
        what=what,
        scope=_word("scope", act.scope, "FOR_"),
        test=_word("test", act.test),
        number=_word("number", act.number, "N_"),
        of=_word("number", act.of, "N_"),
    )


def _words(enum: str, prefix: str | None = None) -> dict[int, str]:
    start = f"SWS_STALL_{f'{enum}_'.upper() if prefix is None else prefix}"
    constants = ffi.typeof(f"enum sws_stall_{enum}").elements
    return {value: name.removeprefix(start).lower() for value, name in constants.items()}


def _word(enum: str, value: int, prefix: str | None = None) -> str:
    return _words(enum, prefix)[value]
