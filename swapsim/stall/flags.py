# SPDX-License-Identifier: GPL-2.0-or-later
"""Flags of nodes and lruvecs in a recording: whether each value that was read was possible.

A row is written after what it reports: a task read, set or cleared a flag at some moment between
its previous row and this one, and tasks on other CPUs may have run in between. So each value that
was read or written has an interval of seq, and a value that was read needs the same value before
it, with no other value in between::

    task 1   ---(set writeback)---------------.      row 9 of task 2 reads it clear; the set between
    task 2   ------------------(reads)--.            4 and 10 may have come before or after, so
    seq      4       6         8        9    10      a concurrent change explains either value

There is one exception: the flags that a list or a pass left are read while its row is filled in,
and the CPU may stop meanwhile. They were read before this CPU, or this task, wrote its next row.
"""

from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.ffi import STALL_FLAGS, STALL_FLAGS_ALL
from swapsim.stall.recording import BEFORE_ALL, Recording
from swapsim.stall.rows import ReclaimRows

EXACT: Final = 0  # the order of the rows leaves one value, which was read
CONCURRENT: Final = 1  # the order of the rows leaves both values, because of a concurrent change
CONTRADICTED: Final = 2  # the order of the rows leaves only the other value

_CONGESTED: Final = STALL_FLAGS["congested"]
"""The flag of the node by the rules of 2013, of the lruvec that reclaim aims at in 6.1."""
_NODE: Final = STALL_FLAGS_ALL & ~_CONGESTED  # the flags of the node by all rules
_GROUPS: Final = 1 << 16  # keys below are nodes; keys from here on are a node and a cgroup
_NO_FLAGS: Final = pl.lit(0, dtype=pl.UInt8)
_ALL_FLAGS: Final = pl.lit(STALL_FLAGS_ALL, dtype=pl.UInt8)
_START: Final = -1
_NEVER: Final = -3
_END: Final = (1 << 63) - 1

_INTERVALS: Final = pl.Schema(
    {
        "row": pl.UInt64(),
        "key": pl.UInt64(),
        "after": pl.Int64(),
        "seq": pl.Int64(),
        "mask": pl.UInt8(),
        "flags": pl.UInt8(),
        "own": pl.UInt8(),
        "alone": pl.Boolean(),
    }
)
"""One row per value: between ``after`` and ``seq`` a task read or wrote the ``flags`` under
``mask`` of the node or lruvec ``key``, as its ``row`` of this seq says. ``own`` are flags that the
task itself had set before it read them. It is ``alone`` unless its row also wrote flags in this
interval: what a row read and then wrote proves nothing about later rows."""

Numbers = np.ndarray[Any, np.dtype[Any]]


def judge_flags(recording: Recording, *, by_pass: bool) -> pl.DataFrame:
    """Compare the flags that were read with those that were written.

    Returns the ``seq`` of each row that read flags which are not EXACT, and the worst ``verdict``
    on them. ``by_pass`` says that passes decide and each cgroup has its own congestion, as in 6.1.
    """
    reads, writes = (
        pl.concat(_intervals(part, by_pass=by_pass) for part in parts)
        for parts in (_reads(recording, by_pass=by_pass), _writes(recording))
    )
    judged = reads.select(seq="row", verdict=pl.Series(compare(reads, writes)))
    differs = judged.filter(pl.col("verdict") != EXACT)
    return differs.group_by("seq").agg(pl.col("verdict").max())


# The reads and writes of flags, and the rows between which they lie.


def _reads(recording: Recording, *, by_pass: bool) -> list[pl.DataFrame]:
    """Return the values that were read."""
    passes = recording.passes.rename({"memcg": "target"}).with_columns(last="decides")
    filled_in, parts = _filled_in(recording.rows), []
    for frame in (passes, recording.lists):
        alone = pl.col("first") < pl.col("seq")
        before = frame.with_columns(row="seq", seq="first", flags="flags_before", alone=alone)
        after = frame.join(filled_in, on="seq", maintain_order="left").with_columns(
            row="seq", after="last", seq="until", flags="flags_after", own="flags_set"
        )
        parts += [before, after]
    parts.append(_of_folios(recording))
    return parts if by_pass else [*parts, _of_sleeps(recording)]


def _writes(recording: Recording) -> list[pl.DataFrame]:
    """Return the values that were written.

    A task whose list or pass the recording's end cut may have written flags that others read.
    """
    last = recording.lists.select("list", after=pl.col("last").cast(pl.Int64))
    ended = recording.rows.lists.join(last, on="list", how="left")
    decides = recording.passes.select("pass", after="decides")
    decided = recording.rows.passes.rename({"memcg": "target"}).join(decides, on="pass", how="left")
    before = recording.moments.select("seq", after="before")
    cleared = recording.rows.clears.rename({"memcg": "target", "flags": "mask"}).join(
        before, on="seq"
    )
    parts = [
        *(part.with_columns(mask="flags_set", flags="flags_set") for part in (ended, decided)),
        cleared.with_columns(flags=_NO_FLAGS),
        _cut_off(recording),
    ]
    after = pl.col("after").cast(pl.Int64).fill_null(BEFORE_ALL)
    return [part.with_columns(after, row="seq") for part in parts]


def _intervals(frame: pl.DataFrame, *, by_pass: bool) -> pl.DataFrame:
    """Return _INTERVALS; where congestion is a cgroup's, this flag has a key of its own."""
    usual = {"mask": _ALL_FLAGS, "own": _NO_FLAGS, "alone": pl.lit(value=True)}
    missing = [value.alias(name) for name, value in usual.items() if name not in frame.columns]
    node = pl.col("nid").cast(pl.UInt64)
    parts = [frame.with_columns(*missing, key=node)]
    if by_pass:
        group = node + (pl.col("target") + 1) * _GROUPS
        parts = [
            parts[0].with_columns(mask=pl.col("mask") & _NODE),
            parts[0].with_columns(mask=pl.col("mask") & _CONGESTED, key=group),
        ]
    columns = [pl.col(name).cast(dtype) for name, dtype in _INTERVALS.items()]
    return pl.concat(part.select(columns) for part in parts).filter(pl.col("mask") > 0)


def _filled_in(rows: ReclaimRows) -> pl.DataFrame:
    """Return the last row until which each was filled in: its CPU or its task wrote the next.

    Rows that no other row follows may have been filled in after the recording, and are left out.
    """
    tables = (rows.lists, rows.passes, rows.throttles, rows.rounds, rows.clears)
    others = pl.concat([table.select("cpu", "pid", "seq") for table in tables]).sort("seq")
    cpu, pid, seq = (rows.folios[name].to_numpy() for name in others.columns)
    # Of folios that one task met on one CPU, the first is enough: no other row lies between them.
    places = np.searchsorted(seq, others["seq"].to_numpy())
    begins = np.ones(len(seq) + 1, dtype=bool)
    begins[1:-1] = (cpu[1:] != cpu[:-1]) | (pid[1:] != pid[:-1])
    begins[places] = True
    firsts = np.flatnonzero(begins[:-1])
    latest = np.concatenate([[BEFORE_ALL], seq.astype(np.int64)])
    met = rows.folios.select(others.columns)[firsts]
    known = pl.concat(
        [
            others.with_columns(folio=pl.Series(latest[places])),
            met.with_columns(folio=pl.Series(latest[firsts])),
        ]
    ).sort("seq")
    before = pl.max_horizontal("folio", pl.col("seq").cast(pl.Int64).shift())
    following = pl.col("before").shift(-1)
    until = pl.min_horizontal(following.over("cpu"), following.over("pid"))
    return known.with_columns(before=before).select("seq", until=until).drop_nulls()


def _of_folios(recording: Recording) -> pl.DataFrame:
    """Return what folios read: of consecutive folios that read the same flags, the ends.

    A list is left out if all its folios read what it found and left.
    """
    ends, starts = recording.ends.astype(np.int64), recording.starts
    # Flags that were not read become a value above all flags.
    unread = STALL_FLAGS_ALL + 1
    flags = recording.folios["node_flags"].fill_null(unread).to_numpy() & (unread + _NODE)
    seq = recording.folios["seq"].to_numpy().astype(np.int64)
    changes = np.zeros(len(flags) + 1, dtype=bool)
    changes[1:-1] = flags[1:] != flags[:-1]
    changes[starts] = changes[-1] = True
    edges = np.flatnonzero((changes[:-1] | changes[1:]) & (flags < unread))
    of_list = np.searchsorted(ends, edges, side="right")
    found, left = (
        recording.lists[name].to_numpy() & _NODE for name in ("flags_before", "flags_after")
    )
    differs = (flags[edges] != found[of_list]) | (flags[edges] != left[of_list])
    useful = np.isin(of_list, of_list[differs])
    edges, of_list = edges[useful], of_list[useful]
    previous = np.where(
        edges == starts[of_list], recording.lists["after"].to_numpy()[of_list], seq[edges - 1]
    )
    return recording.lists[of_list].select(
        "nid",
        "target",
        row="seq",
        after=pl.Series(previous),
        seq=pl.Series(seq[edges]),
        flags=pl.Series(flags[edges]),
        mask=pl.lit(_NODE),
    )


def _of_sleeps(recording: Recording) -> pl.DataFrame:
    """Return what wait_iff_congested read: its list may have set the congestion before."""
    own = recording.lists.select("list", "last", own=pl.col("flags_set") & _CONGESTED)
    calls = (
        recording.rows.throttles.filter(pl.col("reason") == "wait_iff_congested")
        .join(recording.moments.select("seq", after="before"), on="seq", maintain_order="left")
        .join(own, on="list", how="left", maintain_order="left")
        .with_columns(pl.col("own").fill_null(0), row="seq")
    )
    last = pl.when(pl.col("own") > 0).then(pl.col("last").cast(pl.Int64))
    return calls.with_columns(target=0, after=last.otherwise("after"))


def _cut_off(recording: Recording) -> pl.DataFrame:
    """Return what tasks may have written that the recording's end cut off.

    A task may have slept since it set a flag. A task without any earlier list or pass may be
    anywhere, and may be kswapd. Only kswapd clears flags, at any time.
    """
    awake = recording.moments.filter(pl.col("kind") != "throttle")
    last = awake.group_by("pid", maintain_order=True).last()
    known = pl.concat(
        [
            recording.rows.lists.select("pid", "nid", "kswapd", "target"),
            recording.rows.passes.select("pid", "nid", "kswapd", target="memcg"),
        ]
    )
    places = known.select("nid", "target").unique(maintain_order=True)
    has_open_list = recording.moments.filter(pl.col("kind") == "open")["pid"].unique()
    within = (pl.col("kind") == "list") | pl.col("pid").is_in(has_open_list.implode())
    going = within | (pl.col("kswapd") & (pl.col("kind") != "clear"))
    own = known.unique("pid", keep="last", maintain_order=True)
    located = last.join(own, on="pid")
    unlocated = last.join(own, on="pid", how="anti").join(places, how="cross").filter(within)
    sets = pl.concat([located.filter(going).drop("kswapd"), unlocated])
    clears = pl.concat([located.filter("kswapd").drop("kswapd"), unlocated])
    return pl.concat(
        [sets.with_columns(flags=_ALL_FLAGS), clears.with_columns(flags=_NO_FLAGS)]
    ).with_columns(after="seq", seq=pl.lit(_END, dtype=pl.UInt64), mask=_ALL_FLAGS)


# Which values were possible.


class _Values:
    """Intervals of one value of one flag, arranged for searches; _NEVER if there is no such one.

    Of the intervals that end no later than each of ``until``, ``end_of_ended`` is the latest end,
    and ``begin_of_ended`` the latest beginning.
    """

    def __init__(self, after: Numbers, seq: Numbers, *, until: Numbers) -> None:
        by_begin, by_end = np.argsort(after, kind="stable"), np.argsort(seq, kind="stable")
        ends = np.concatenate([[_NEVER], seq[by_begin]])
        latest = np.maximum.accumulate(ends)
        # The second latest end: the smaller of a new end and the latest one before it.
        second = np.minimum(ends[1:], latest[:-1])
        self.after, self.latest_end = after[by_begin], latest
        self.end_before = np.maximum.accumulate(np.concatenate([[_NEVER], second]))
        ended = np.searchsorted(seq[by_end], until, side="right")
        begins = np.maximum.accumulate(np.concatenate([[_NEVER], after[by_end]]))
        self.end_of_ended = np.concatenate([[_NEVER], seq[by_end]])[ended]
        self.begin_of_ended = begins[ended]

    def end_of_begun(self, before: Numbers, *, but: Numbers) -> Numbers:
        """Return the latest end, except a row's own, of the intervals that begin before."""
        begun = np.searchsorted(self.after, before, side="left")
        latest = self.latest_end[begun]
        return np.where(latest == but, self.end_before[begun], latest)

    def begins_between(self, row: Numbers, until: Numbers) -> Numbers:
        """Return whether an interval begins after a row, and no later than the other one.

        An interval that begins with the row itself is of the same task, and came after it.
        """
        begun = np.searchsorted(self.after, until, side="right")
        return begun > np.searchsorted(self.after, row, side="right")


def compare(reads: pl.DataFrame, writes: pl.DataFrame) -> Numbers:
    """Return EXACT, CONCURRENT or CONTRADICTED for each read: the worst of its flags.

    The flags before the first row are unknown: they may have had either value.
    """
    verdict = np.full(reads.height, EXACT, dtype=np.uint8)
    for (key,), of_key in reads.with_row_index("nth").group_by("key", maintain_order=True):
        written = writes.filter(pl.col("key") == key)
        for flag in STALL_FLAGS.values():
            has_flag = (pl.col("mask") & flag) != 0
            seen = of_key.filter(has_flag)
            if seen.height:
                nth = seen["nth"].to_numpy()
                judged = _compare_flag(seen, written.filter(has_flag), flag)
                verdict[nth] = np.maximum(verdict[nth], judged)
    return verdict


def _of_flag(intervals: pl.DataFrame, flag: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return the intervals, and whether each is of the set flag."""
    after, seq, flags = (intervals[name].to_numpy() for name in ("after", "seq", "flags"))
    return after, seq, (flags & flag) != 0


def _compare_flag(reads: pl.DataFrame, writes: pl.DataFrame, flag: int) -> Numbers:
    """Judge what was read of one flag of one node or lruvec."""
    after, seq, value = _of_flag(reads, flag)
    own = (reads["own"].to_numpy() & flag) != 0
    row = reads["row"].to_numpy().astype(np.int64)
    # What a task read before its first row, it may have read before the recording began.
    proves = reads["alone"].to_numpy() & (after > BEFORE_ALL)
    seen = [
        _Values(after[some], seq[some], until=after) for some in (proves & ~value, proves & value)
    ]
    wrote_after, wrote_seq, wrote_value = _of_flag(writes, flag)
    written = [
        _Values(wrote_after[some], wrote_seq[some], until=after)
        for some in (~wrote_value, wrote_value)
    ]
    can_be = {}
    for wanted in (False, True):
        saw, wrote = seen[wanted], written[wanted]
        other_saw, other_wrote = seen[not wanted], written[not wanted]
        # A write that overlaps a read may come before it. What its own row wrote came after it,
        # unless the task had set the flag itself.
        support = wrote.end_of_begun(np.minimum(seq, row), but=np.where(own, _NEVER, row))
        support = np.where(wrote.begins_between(row, seq), seq, support)
        support = np.maximum(np.maximum(support, saw.end_of_ended), _START)
        against = np.maximum(other_wrote.begin_of_ended, other_saw.begin_of_ended)
        if not wanted:
            against = np.where(own, np.maximum(against, after), against)
        can_be[wanted] = (support > against) | (own & wanted)
    agrees = np.where(value, can_be[True], can_be[False])
    either = can_be[True] & can_be[False]
    return np.where(agrees, np.where(either, CONCURRENT, EXACT), CONTRADICTED).astype(np.uint8)
