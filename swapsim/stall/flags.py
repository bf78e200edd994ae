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

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from swapsim.ffi import STALL_FLAGS, STALL_FLAGS_ALL
from swapsim.stall._native import Numbers
from swapsim.stall.recording import BEFORE_ALL, ReclaimRows, Recording

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
    dict.fromkeys(("row", "key"), pl.UInt64())
    | dict.fromkeys(("after", "seq"), pl.Int64())
    | dict.fromkeys(("mask", "flags", "own"), pl.UInt8())
    | {"alone": pl.Boolean()}
)
"""One row per value: between ``after`` and ``seq`` a task read or wrote the ``flags`` under
``mask`` of the node or lruvec ``key``, as its ``row`` of this seq says. ``own`` are flags that the
task itself had set before it read them. It is ``alone`` unless its row also wrote flags in this
interval: what a row read and then wrote proves nothing about later rows."""


def judge_flags(recording: Recording, *, by_pass: bool) -> pl.DataFrame:
    """Compare the flags that were read with those that were written."""
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
    latest = np.concatenate([[BEFORE_ALL], seq], dtype=np.int64, casting="unsafe")
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
    seq = recording.folios["seq"].to_numpy()
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
    begun = recording.lists["after"].to_numpy()[of_list]
    previous = np.where(edges == starts[of_list], begun, seq[edges - 1].astype(np.int64))
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


def compare(reads: pl.DataFrame, writes: pl.DataFrame) -> Numbers:
    """Return EXACT, CONCURRENT or CONTRADICTED for each read: the worst of its flags."""
    of_reads, of_writes = (
        {name: intervals[name].to_numpy() for name in _INTERVALS} for intervals in (reads, writes)
    )
    verdict = np.full(reads.height, EXACT, dtype=np.uint8)
    for key in reads["key"].unique():
        nth, written = (_of_key(part, key) for part in (of_reads, of_writes))
        verdict[nth] = _compare_key(
            {name: column[nth] for name, column in of_reads.items()},
            {name: column[written] for name, column in of_writes.items()},
        )
    return verdict


def _of_key(intervals: Mapping[str, Numbers], key: int) -> Numbers:
    """Return the places of the intervals of one node or lruvec, in the order of their ends."""
    places = np.flatnonzero(intervals["key"] == key)
    return places[np.argsort(intervals["seq"][places], kind="stable")]


def _latest(times: Numbers, of: Numbers) -> Numbers:
    """Return the latest time ``of`` some intervals among the first n, from n = 0, or _NEVER."""
    known = np.concatenate([[_NEVER], np.where(of, times, _NEVER)])
    return np.maximum.accumulate(known, out=known)


def _compare_key(reads: Mapping[str, Numbers], writes: Mapping[str, Numbers]) -> Numbers:
    """Judge what was read of one node or lruvec; the searches are the same for all flags."""
    after, seq, row = reads["after"], reads["seq"], reads["row"].astype(np.int64)
    # What a task read before its first row, it may have read before the recording began.
    proves = reads["alone"] & (after > BEFORE_ALL)
    seen, written = (np.searchsorted(part["seq"], after, side="right") for part in (reads, writes))
    by_begin = np.argsort(writes["after"], kind="stable")
    begins, ends = writes["after"][by_begin], writes["seq"][by_begin]
    # A write that overlaps a read may come before it. An interval that begins with the read's row
    # is of the same task, and came after it.
    begun = np.searchsorted(begins, np.minimum(seq, row), side="left")
    late = np.flatnonzero(seq > row)
    until_row, until_seq = (np.searchsorted(begins, end[late], side="right") for end in (row, seq))
    verdict = np.full(len(row), EXACT, dtype=np.uint8)
    for flag in STALL_FLAGS.values():
        has_flag, own, value = ((reads[name] & flag) != 0 for name in ("mask", "own", "flags"))
        if not has_flag.any():
            continue
        proof, wrote = proves & has_flag, (writes["mask"] & flag) != 0
        wrote_value = (writes["flags"] & flag) != 0
        # What its own row wrote came after a read, unless the task had set the flag itself.
        but = np.where(own, _NEVER, row)
        support, against = {}, {}
        for wanted in (False, True):
            of_reads, of_writes = proof & (value == wanted), wrote & (wrote_value == wanted)
            of_begun = of_writes[by_begin]
            latest = _latest(ends, of_begun)
            # The second latest end: the smaller of a new end and the latest one before it.
            second = _latest(np.minimum(ends, latest[:-1]), of_begun)
            end = latest[begun]
            of_row = np.flatnonzero(end == but)
            end[of_row] = second[begun[of_row]]
            count = np.concatenate([[0], np.cumsum(of_begun)])
            followed = late[count[until_seq] > count[until_row]]
            end[followed] = seq[followed]
            support[wanted] = np.maximum(np.maximum(end, _latest(seq, of_reads)[seen]), _START)
            against[not wanted] = np.maximum(
                _latest(writes["after"], of_writes)[written], _latest(after, of_reads)[seen]
            )
        against[False] = np.where(own, np.maximum(against[False], after), against[False])
        can_be = {
            True: (support[True] > against[True]) | own,
            False: support[False] > against[False],
        }
        agrees = np.where(value, can_be[True], can_be[False])
        either = can_be[True] & can_be[False]
        judged = np.where(agrees, np.where(either, CONCURRENT, EXACT), CONTRADICTED)
        verdict = np.maximum(verdict, np.where(has_flag, judged, EXACT).astype(np.uint8))
    return verdict
