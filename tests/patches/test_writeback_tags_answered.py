# SPDX-License-Identifier: GPL-2.0-or-later
"""The answers to patch A's claims in words: what a real kernel's locks count."""

import polars as pl
import pytest

from swapsim.patches import writeback_tags as patch


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
