# SPDX-License-Identifier: GPL-2.0-or-later
"""The answers to patch A's claims in words: what a replay and a real kernel's locks count."""

import polars as pl
import pytest

from swapsim import traces
from swapsim.claims.answering import table_of
from swapsim.patches import writeback_tags as patch
from swapsim.patches.writeback_tags import answered


def of_the_code(sites: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Return the cases in which each statement on the code holds, and all cases."""
    found = table_of(list(answered.of_the_code(sites)))
    return {
        claim: (held, cases)
        for claim, held, cases in found.select("claim", "held", "cases").iter_rows()
    }


def test_the_replayed_traces_are_all_that_can_feed_the_replay() -> None:
    """A new trace with these events has to be added to the study."""
    assert list(patch.studies.TRACES) == list(traces.shipped("writeback-tags"))


def test_a_statement_on_the_code_holds_only_where_no_step_breaks_it() -> None:
    """With tags no end of a writeback is free of them, and a file's step may not change."""
    sites = patch.studies.sites.load()
    held, cases = of_the_code(sites)["A-prose-no-tags"]
    assert held == cases > 0
    tagged = sites.with_columns(tags=pl.lit(value=False)).filter(sites["tags"])
    assert of_the_code(tagged)["A-prose-no-tags"] == (0, cases)
    of_a_file = (pl.col("flow") == "file") & (pl.col("site") == "start") & ~pl.col("tags")
    fewer = sites.with_columns(
        tag_words=pl.when(of_a_file & (pl.col("trace") == "slow-disk"))
        .then(pl.col("tag_words") - 1)
        .otherwise("tag_words")
    )
    held, cases = of_the_code(fewer)["A-prose-file-pages-keep-tags"]
    lost = sites.filter(of_a_file, trace="slow-disk")
    assert cases - held == (lost["calls"] - lost["unresolved"]).sum() > 0


def test_both_ends_of_writeback_take_the_lock_with_tags_alone() -> None:
    """What a slot's life does not explain is two acquisitions a page with tags, none without."""
    found = patch.answers().filter(source="measured")
    start, end = (
        found.row(by_predicate=pl.col("claim") == f"A-lock-{which}-writeback", named=True)
        for which in ("start", "end")
    )
    assert {**start, "claim": ""} == {**end, "claim": ""}
    assert (start["base"], start["value"]) == pytest.approx((2, 0), abs=0.02)
    assert start["rounds"] == 7
