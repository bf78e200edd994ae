# SPDX-License-Identifier: GPL-2.0-or-later
"""What a recording of a real kernel shows of the statements of patches 1 to 8 (`held_cases`).

A case is a row, or a list, of the recording in which a kernel could act against a part of the
statement. The definitions were stored before the first count, their parts after it. A page *counts
as* dirty or under writeback as its filesystem answers or, if it was not asked, by the page's own
flags; only file pages count.

=====  ==========================================================  =================================
patch  a case is                                                   in which the statement holds if
=====  ==========================================================  =================================
1      a page under writeback, marked for immediate reclaim, that  the page is not freed: it is kept
       kswapd tests on a node with the flag writeback              (6.1: activated)
2      a list of anonymous pages of which one is dirty or under    no page of it counts as dirty
       writeback
       and a file page that kswapd writes                          the node has the flag of dirty
                                                                   pages at the test
       and a list that sets this flag                              all its pages count as unqueued
                                                                   dirty, and it requests
                                                                   congestion_wait
3      a request for a throttle by a list, a pass or a round       it comes after the last page of
                                                                   the list that makes it, and not
                                                                   between two pages of a list of
                                                                   its pass
4      a request by a list that sets the flag writeback on a node  the node has the flag when the
       that did not have it                                        call begins
5      a request for wait_iff_congested                            a list makes it, after its last
                                                                   page, and not kswapd
       and a list of kswapd on a node with the flag congested      it does not request it
6      a list with a page that counts as under writeback and is    the pages that count as congested
       marked for immediate reclaim                                are these, and those of a
                                                                   congested device
7      a list whose dirty or unqueued dirty pages would be others  its counters of both are those by
       if pages with buffers counted as dirty by their own flags,  the answers of the buffers
       and one if they counted as under writeback by these
8      the same two of pages of NFS                                the same by the answers of NFS
=====  ==========================================================  =================================
"""

from typing import Final

import polars as pl

from swapsim import traces
from swapsim.claims import Answer
from swapsim.stall.recording import Recording, gather
from swapsim.stall.rows import ReclaimRows, reclaim_rows

TRACES: Final = {"series-8": "stalls-series-1", "mmotm": "stalls-mmotm-1", "6.1": "stalls-nfs-1"}
"""One workload by the rules of the series and of its base, and a similar one by those of 6.1."""

_ANSWERED: Final = ("buffers_dirty", "buffers_writeback", "nfs_writeback", "nfs_dirty")
"""Who answers for a page, and what."""

_BEFORE_ACCOUNTING: Final = ("lock", "evictable", "mapped")
_TAIL_DIRTY: Final = 1
_WRITEBACK: Final = 2
_CONGESTED: Final = 4
_OF_A_FILE: Final = pl.col("file") & ~pl.col("lazyfree")
"""A lazily freed page is on the lists of file pages and is anonymous."""

_PARTS: Final = (
    ("C-prose-patch-1-no-free-under-writeback", "marked pages under writeback that kswapd tested"),
    ("C-prose-patch-2-file-pages-only", "lists of anonymous pages that are not clean"),
    ("C-prose-patch-2-file-pages-only", "file pages that kswapd wrote"),
    ("C-prose-patch-2-file-pages-only", "lists that set the flag of dirty pages"),
    ("C-prose-patch-3-stall-after-list", "requests for a throttle"),
    ("C-prose-patch-4-flag-before-sleep", "requests by lists that set the flag writeback"),
    ("C-prose-patch-5-one-place", "requests for wait_iff_congested"),
    ("C-prose-patch-5-one-place", "lists of kswapd on a congested node"),
    ("C-prose-patch-6-immediate-is-congested", "lists with marked pages under writeback"),
    ("C-prose-patch-7-buffer-state", "lists on which buffers decide what is dirty"),
    ("C-prose-patch-7-buffer-state", "lists on which buffers decide what is under writeback"),
    ("C-prose-patch-8-nfs-state", "lists on which NFS decides what is under writeback"),
    ("C-prose-patch-8-nfs-state", "lists on which NFS decides what is dirty"),
)
"""Each part of a claim and what a case of it is, in the order of the patches."""


def held_cases(rows: ReclaimRows) -> pl.DataFrame:
    """Count the cases of each part of a statement in a recording, and those in which it holds."""
    recording = gather(rows)
    of_list = recording.lists.select("list", "kswapd")
    folios = recording.folios.join(of_list, on="list", maintain_order="left")
    calls = _calls(rows)
    counted = _counted(folios.filter(~pl.col("step").is_in(_BEFORE_ACCOUNTING)))
    lists = recording.lists.join(counted, on="list", maintain_order="left")
    found = (
        _kept_under_writeback(folios),
        *_file_pages_only(recording, folios, lists, calls),
        calls.select(held="after"),
        _flag_before_sleep(calls),
        *_one_place(recording.lists, calls),
        lists.filter("marked").select(held=pl.col("congested") == pl.col("congested_rules")),
        *(_by_answers(lists, what) for what in _ANSWERED),
    )
    counts = [
        (*part, int(held["held"].sum()), held.height)
        for part, held in zip(_PARTS, found, strict=True)
    ]
    return pl.DataFrame(counts, schema=["claim", "part", "held", "cases"], orient="row")


def of_trace(rules: str) -> pl.DataFrame:
    """Return the cases of the trace of a rule set (`studies.held`)."""
    name = TRACES[rules]
    found = held_cases(reclaim_rows(traces.shipped("stall-decisions")[name]))
    named = found.select(pl.lit(name).alias("trace"), pl.lit(rules).alias("rules"), "claim", "part")
    return named.hstack(found.select(pl.col("held", "cases").cast(pl.UInt64)))


def answers_of(held: pl.DataFrame) -> list[Answer]:
    """Return what `studies.held` of the series' rules answer to its statements.

    A statement is answered by a part that does not hold in all cases, else by that with the fewest.
    No case of a part decides if all of them hold by mmotm's rules, too: it could not have failed.
    """
    control = held.filter(rules="mmotm").select("claim", "part", pl.col("held", "cases"))
    both = held.filter(rules="series-8").join(
        control, on=["claim", "part"], how="left", suffix="_before", maintain_order="left"
    )
    holds = pl.col("held") == pl.col("cases")
    before = pl.col("held_before") == pl.col("cases_before")
    counted = (pl.col("cases") > 0) & (pl.col("cases_before") > 0)
    idle = (holds & before & counted).fill_null(value=False)
    part = pl.format("{}, in the trace {}", "part", "trace")
    without = pl.format("{}: all {} hold, as {} without the patch", part, "cases", "cases_before")
    weakest = (
        both.with_columns(
            pl.when(~idle).then(pl.col("held", "cases")).otherwise(0),
            what=pl.when(idle).then(without).otherwise(part),
        )
        .sort(holds, "cases", maintain_order=True)
        .unique("claim", keep="first", maintain_order=True)
        .sort("claim")
    )
    return [
        Answer(source="measured", **row)
        for row in weakest.select("claim", "what", "held", "cases").iter_rows(named=True)
    ]


def _calls(rows: ReclaimRows) -> pl.DataFrame:
    """Return requests by a list, a pass or a round; ``after``: no list of it was under way."""
    spans = rows.folios.group_by("list", maintain_order=True).agg(
        first=pl.col("seq").min(), last=pl.col("seq").max()
    )
    lists = rows.lists.select("list", "pass", "kswapd", "flags_before", "flags_set")
    calls = rows.throttles.filter(pl.col("pass") > 0)
    of_pass = lists.join(spans, on="list").select("pass", "first", "last")
    between = (pl.col("first") < pl.col("seq")) & (pl.col("seq") < pl.col("last"))
    within = calls.join(of_pass, on="pass").filter(between)["seq"].unique()
    return (
        calls.join(spans, on="list", how="left", maintain_order="left")
        .join(lists.drop("pass"), on="list", how="left", maintain_order="left")
        .with_columns(
            after=~pl.col("seq").is_in(within.implode())
            & (pl.col("last").is_null() | (pl.col("seq") > pl.col("last")))
        )
    )


def _counted(folios: pl.DataFrame) -> pl.DataFrame:
    """Return how many pages of each list count, and how many would by the pages' own flags."""
    asked = pl.col("buffers")
    by_flags = {name: _OF_A_FILE & pl.col(name) for name in ("dirty", "writeback")}
    by_answers = {
        name: _OF_A_FILE & pl.coalesce(f"fs_{name}", name) for name in ("dirty", "writeback")
    }
    of_whom = {"rules": pl.lit(value=False), "buffers": asked, "nfs": ~asked}
    sums = {}
    for who in ("rules", *_ANSWERED):
        whose, _, what = who.partition("_")
        dirty, writeback = (
            pl.when(of_whom[whose].fill_null(value=False) & (name == what))
            .then(by_flags[name])
            .otherwise(by_answers[name])
            for name in ("dirty", "writeback")
        )
        sums[f"dirty_{who}"] = pl.col("pages").filter(dirty | writeback).sum()
        sums[f"unqueued_dirty_{who}"] = pl.col("pages").filter(dirty & ~writeback).sum()
    marked = by_answers["writeback"] & pl.col("reclaim")
    on_device = pl.col("congested").fill_null(value=False)
    return folios.group_by("list", maintain_order=True).agg(
        **sums,
        marked=marked.any(),
        congested_rules=pl.col("pages").filter(marked | on_device).sum(),
        not_clean=(pl.col("dirty") | pl.col("writeback")).any(),
    )


def _kept_under_writeback(folios: pl.DataFrame) -> pl.DataFrame:
    flagged = pl.col("node_flags") & _WRITEBACK != 0
    cases = folios.filter(pl.all_horizontal("kswapd", "under_writeback", "marked", flagged))
    return cases.select(held=pl.col("outcome") != "reclaimed")


def _file_pages_only(
    recording: Recording, folios: pl.DataFrame, lists: pl.DataFrame, calls: pl.DataFrame
) -> tuple[pl.DataFrame, ...]:
    waits = calls.filter(reason="congestion_wait")["list"].unique()
    written = folios.filter(_OF_A_FILE, "kswapd", pl.col("clean").is_not_null())
    flagged = recording.lists.filter(pl.col("flags_set") & _TAIL_DIRTY != 0)
    return (
        lists.filter(~pl.col("file"), "not_clean").select(
            held=(pl.col("dirty") == 0) & (pl.col("unqueued_dirty") == 0)
        ),
        written.select(held=pl.col("node_flags") & _TAIL_DIRTY != 0),
        flagged.select(
            held=(pl.col("unqueued_dirty") == pl.col("taken"))
            & pl.col("list").is_in(waits.implode())
        ),
    )


def _flag_before_sleep(calls: pl.DataFrame) -> pl.DataFrame:
    sets = (pl.col("flags_set") & _WRITEBACK != 0) & (pl.col("flags_before") & _WRITEBACK == 0)
    return calls.filter(sets).select(held=pl.col("flags") & _WRITEBACK != 0)


def _one_place(lists: pl.DataFrame, calls: pl.DataFrame) -> tuple[pl.DataFrame, ...]:
    ended = (pl.col("list") == 0) | pl.col("kswapd").is_not_null()
    waits = calls.filter(pl.col("reason") == "wait_iff_congested", ended)
    flagged = lists.filter("kswapd", pl.col("flags_before") & _CONGESTED != 0)
    return (
        waits.select(
            held=(pl.col("list") > 0) & ~pl.col("kswapd").fill_null(value=True) & pl.col("after")
        ),
        flagged.select(held=~pl.col("list").is_in(waits["list"].implode())),
    )


def _by_answers(lists: pl.DataFrame, who: str) -> pl.DataFrame:
    names = ("dirty", "unqueued_dirty")
    differs = pl.any_horizontal(
        pl.col(f"{name}_{who}") != pl.col(f"{name}_rules") for name in names
    )
    equal = (pl.col(name) == pl.col(f"{name}_rules") for name in names)
    return lists.filter(differs).select(held=pl.all_horizontal(*equal))
