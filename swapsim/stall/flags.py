# SPDX-License-Identifier: GPL-2.0-or-later
"""What reclaimers saw of flags, held against who set and cleared them.

A row takes its place after what it tells of: a task saw, set or cleared a flag between its row
before and this one, and tasks on other CPUs may have come in between. So each value that was seen,
set or cleared is a fact with a stretch of time, and a value that was seen needs a fact of the same
value before it with none of the other value in between::

    task 1   ---(set writeback)---------------.      row 9 of task 2 sees it clear: a set between
    task 2   ------------------(sees)---.            4 and 10 may have come before or after: raced
    seq      4       6         8        9    10

One thing is read later: what flags a list or a pass left, the row reads while it is filled in, and
a CPU may stand still meanwhile. It was read before the CPU, or the task, wrote its next row.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

BEFORE_ALL: Final = -2
"""Where a stretch begins that no row of its task precedes: maybe before the recording."""

_BEGUN: Final = -1
_NEVER: Final = -3

EXACT: Final = 0
"""The rows' order leaves one value, and it was seen."""
RACED: Final = 1
"""The rows' order leaves both."""
OTHER: Final = 2
"""The rows' order leaves only the other value."""

FACTS: Final = pl.Schema(
    {
        "row": pl.UInt64,
        "key": pl.UInt64,
        "after": pl.Int64,
        "seq": pl.Int64,
        "mask": pl.UInt8,
        "flags": pl.UInt8,
        "sure": pl.UInt8,
        "told": pl.Boolean,
    }
)
"""One row per fact: between ``after`` and ``seq`` a task saw, or wrote, the ``flags`` under
``mask`` of the node or lruvec ``key``, as its ``row`` of this seq tells. ``sure`` are those that it
had set itself before it saw them. It is ``told`` where nothing else of its row has the same
stretch: what a row saw and then wrote in one says nothing of later rows."""

Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts of one value of one flag, for questions that take the time of a search.

    Where there is no such fact, the answer is _NEVER.
    """

    after: Numbers
    latest_end: Numbers
    end_before: Numbers
    seq: Numbers
    latest_begin: Numbers

    def end_of_begun(self, before: Numbers, *, but: Numbers) -> Numbers:
        """Return the latest end, but for a row's own, of the facts that begin before."""
        begun = np.searchsorted(self.after, before, side="left")
        latest = self.latest_end[begun]
        return np.where(latest == but, self.end_before[begun], latest)

    def end_of_ended(self, until: Numbers) -> Numbers:
        """Return the latest end of the facts that end no later."""
        ends = np.concatenate([[_NEVER], self.seq])
        return ends[np.searchsorted(self.seq, until, side="right")]

    def begins_between(self, row: Numbers, until: Numbers) -> Numbers:
        """Return whether a fact begins later than a row, and no later than the other one.

        What begins with the row itself is of its own task, and came after it.
        """
        begun = np.searchsorted(self.after, until, side="right")
        return begun > np.searchsorted(self.after, row, side="right")

    def begin_of_ended(self, until: Numbers) -> Numbers:
        """Return the latest beginning of the facts that end no later."""
        return self.latest_begin[np.searchsorted(self.seq, until, side="right")]


def judge_flags(reads: pl.DataFrame, writes: pl.DataFrame) -> Numbers:
    """Hold the flags that were seen against those that were written.

    What the flags were before the first row is not known: they may have been either.

    Parameters
    ----------
    reads, writes : polars.DataFrame
        Schema FACTS.

    Returns
    -------
    numpy.ndarray
        EXACT, RACED or OTHER for each read: the worst of its flags.
    """
    verdict = np.full(reads.height, EXACT, dtype=np.uint8)
    for (key,), of_key in reads.with_row_index("nth").group_by("key", maintain_order=True):
        written = writes.filter(pl.col("key") == key)
        for flag in (1, 2, 4):
            seen = of_key.filter(_tells(flag))
            nth = seen["nth"].to_numpy()
            judged = _judge_flag(seen, written.filter(_tells(flag)), flag)
            verdict[nth] = np.maximum(verdict[nth], judged)
    return verdict


def _tells(flag: int) -> pl.Expr:
    return (pl.col("mask") & flag) != 0


def _judge_flag(reads: pl.DataFrame, writes: pl.DataFrame, flag: int) -> Numbers:
    """Judge what was seen of one flag of one node or lruvec."""
    if reads.is_empty():
        return np.zeros(0, dtype=np.uint8)
    after, seq, value = _columns(reads, flag)
    sure = (reads["sure"].to_numpy() & flag) != 0
    row = reads["row"].to_numpy().astype(np.int64)
    # What a task saw before its first row, it may have seen before the recording began.
    told = reads.filter(pl.col("told") & (pl.col("after") > BEFORE_ALL))
    seen = [_facts_of(told, flag, value=kind) for kind in (False, True)]
    written = [_facts_of(writes, flag, value=kind) for kind in (False, True)]
    can_be = {}
    for wanted in (False, True):
        saw, wrote = seen[wanted], written[wanted]
        unseen, unwritten = seen[not wanted], written[not wanted]
        # What overlaps a read may come before it if it writes; seeing changes nothing. What its own
        # row wrote came after it, unless it is sure.
        support = wrote.end_of_begun(np.minimum(seq, row), but=np.where(sure, _NEVER, row))
        support = np.where(wrote.begins_between(row, seq), seq, support)
        support = np.maximum(support, saw.end_of_ended(after))
        support = np.maximum(support, _BEGUN)
        against = np.maximum(unwritten.begin_of_ended(after), unseen.begin_of_ended(after))
        if not wanted:
            against = np.where(sure, np.maximum(against, after), against)
        can_be[wanted] = (support > against) | (sure & wanted)
    agrees = np.where(value, can_be[True], can_be[False])
    raced = can_be[True] & can_be[False]
    return np.where(agrees, np.where(raced, RACED, EXACT), OTHER).astype(np.uint8)


def _columns(facts: pl.DataFrame, flag: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return where facts begin and end, and their values."""
    after, seq = (facts[name].to_numpy() for name in ("after", "seq"))
    return after, seq, (facts["flags"].to_numpy() & flag) != 0


def _facts_of(facts: pl.DataFrame, flag: int, *, value: bool) -> _Facts:
    """Bring the facts of one value in order, by their beginnings and by their ends."""
    after, seq, values = _columns(facts, flag)
    after, seq = after[values == value], seq[values == value]
    by_begin, by_end = np.argsort(after, kind="stable"), np.argsort(seq, kind="stable")
    ends = np.concatenate([[_NEVER], seq[by_begin]])
    latest = np.maximum.accumulate(ends)
    # The latest but one: what comes new, or what it comes after.
    beaten = np.minimum(ends[1:], latest[:-1])
    return _Facts(
        after=after[by_begin],
        latest_end=latest,
        end_before=np.maximum.accumulate(np.concatenate([[_NEVER], beaten])),
        seq=seq[by_end],
        latest_begin=np.maximum.accumulate(np.concatenate([[_NEVER], after[by_end]])),
    )
