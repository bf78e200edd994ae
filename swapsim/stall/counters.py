# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of a trace of reclaim, counted anew from their folios and decided by a set of rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.ffi.facts import STALL_ACTIVATES, STALL_FATES, STALL_GOES_ON, STALL_STEPS
from swapsim.stall._native_replay import decide_lists
from swapsim.stall.lists import ReclaimLists
from swapsim.stall.tables import FOLIO_OUTCOME, RECLAIM_LISTS

DECIDING: Final = ("dirty", "unqueued_dirty", "congested", "writeback", "immediate")
"""Counters that the rules make."""

TELLING: Final = (
    "pageout",
    "activate_anon",
    "activate_file",
    "ref_keep",
    "unmap_fail",
    "lazyfree_fail",
    "scanned",
    "reclaimed",
)
"""Counters that only tell what became of the folios."""

_STEPS_BY_FATE: Final = {
    "unmet": ("lock", "evictable", "mapped"),
    "goes-on": (
        "reference_activate",
        "reference_keep",
        "demote",
        "swap",
        "unmap",
        "pinned",
        "release",
        "remove",
        "freed",
    ),
    "case-1": ("writeback_1",),
    "case-2": ("writeback_2",),
    "case-3": ("writeback_3",),
    "not-written": ("dirty",),
    "no-write": ("no_write",),
    "write": ("pageout_keep", "pageout_activate", "written", "release", "remove", "freed"),
}
"""Where a folio's way ends by what the rules make of it; one that was written may go on."""

_OUTCOMES: Final = FOLIO_OUTCOME.dtype.categories.to_list()
_TURNED: Final = ("activated", "culled")
_STAYS: Final = ("kept",)

_OUTCOMES_BY_STEP: Final = {
    "evictable": _TURNED,
    "writeback_3": _STAYS,
    "reference_activate": _TURNED,
    "demote": _OUTCOMES,
    "swap": (*_TURNED, *_STAYS, "split"),
    "unmap": _TURNED,
    "pinned": _TURNED,
    "pageout_activate": _TURNED,
    "written": ("written",),
    "release": _TURNED,
    "freed": ("reclaimed",),
}
"""What becomes of a folio whose way ends there, where it is not kept."""

_BY_RULES: Final = ("writeback_1", "writeback_2", "dirty")
"""Where the rules say whether it is kept or activated."""

Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedLists:
    """What the rules make of whole lists.

    Attributes
    ----------
    ours : polars.DataFrame
        Schema STALL_LISTS, and the counters of TELLING, in the order of the lists.
    wrong_way : numpy.ndarray
        For each folio: the rules end its way elsewhere.
    wrong_outcome : numpy.ndarray
        For each folio: where its way ended, something else becomes of it.
    """

    ours: pl.DataFrame
    wrong_way: Numbers
    wrong_outcome: Numbers


def count_lists(
    lists: ReclaimLists, rules: str, *, tick: Callable[[int], object] = lambda _rows: None
) -> CountedLists:
    """Count whole lists from their folios, and decide them by the flags that the kernel saw.

    Parameters
    ----------
    lists : ReclaimLists
    rules : str
        One of STALL_RULES.
    tick : callable
        Takes the number of folios that were fed, after each chunk.

    Raises
    ------
    InputError
        Naming the list, the row and the field that cannot be.
    """
    known = lists.lists.select(RECLAIM_LISTS.names())
    decided = decide_lists(lists.folios, known, rules, tick=tick)
    ours = decided.lists.with_columns(**_tell(lists))
    fates, steps = (
        column.to_physical().cast(pl.UInt8).to_numpy()
        for column in (decided.fates, lists.folios["step"])
    )
    outcomes = lists.folios["outcome"].to_physical().cast(pl.UInt8).to_numpy()
    return CountedLists(
        ours=ours,
        wrong_way=~_ways(rules)[fates, steps],
        wrong_outcome=~_outcomes(rules)[steps, outcomes],
    )


def _tell(lists: ReclaimLists) -> dict[str, pl.Series]:
    """Count what became of each list's folios."""
    folios = lists.folios
    pages = folios["pages_end"].to_numpy()
    step, outcome = (folios[name].to_physical().to_numpy() for name in ("step", "outcome"))
    file = folios["file"].to_numpy()
    activated = outcome == _OUTCOMES.index("activated")
    starts = np.concatenate([[0], lists.ends[:-1]]).astype(np.int64)

    def added(of: Numbers) -> Numbers:
        return np.add.reduceat(np.where(of, pages, 0), starts) if len(pages) else np.zeros(0)

    # A folio that gives up being lazyfree is anonymous by the time it is activated; which of
    # those whose unmapping failed did, only its list's counter tells.
    failed = lists.lists["lazyfree_fail"].to_numpy()
    could = added(folios["lazyfree"].to_numpy() & (step == STALL_STEPS.index("unmap")))
    failed = np.minimum(failed, could)
    counted = {
        "pageout": added(folios["clean"].is_not_null().to_numpy()),
        "activate_anon": added(activated & ~file) + failed,
        "activate_file": added(activated & file) - failed,
        "ref_keep": added(step == STALL_STEPS.index("reference_keep")),
        "unmap_fail": added(step == STALL_STEPS.index("unmap")),
        "lazyfree_fail": failed,
        "scanned": added(step != STALL_STEPS.index("lock")),
        "reclaimed": added(outcome == _OUTCOMES.index("reclaimed")),
    }
    return {name: pl.Series(counts).cast(pl.UInt32) for name, counts in counted.items()}


def _table(
    rows: Sequence[str], columns: Sequence[str], holds: Mapping[str, Sequence[str]]
) -> Numbers:
    """Return which column goes with which row."""
    return np.array([[column in holds.get(row, _STAYS) for column in columns] for row in rows])


def _ways(rules: str) -> Numbers:
    """Return where a way may end, by what the rules make of the folio."""
    later = STALL_STEPS[STALL_STEPS.index("writeback_3") + 1 :]
    goes_on = {case: (*_STEPS_BY_FATE[case], *later) for case in STALL_GOES_ON[rules]}
    return _table(STALL_FATES, STALL_STEPS, _STEPS_BY_FATE | goes_on)


def _outcomes(rules: str) -> Numbers:
    """Return what may become of a folio, by where its way ended."""
    by_rules = _TURNED if rules in STALL_ACTIVATES else _STAYS
    return _table(STALL_STEPS, _OUTCOMES, _OUTCOMES_BY_STEP | dict.fromkeys(_BY_RULES, by_rules))
