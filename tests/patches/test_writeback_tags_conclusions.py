# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A's sentences read their numbers."""

import polars as pl
import pytest

from swapsim.claims.tables import RANGES
from swapsim.errors import InputError
from swapsim.patches.writeback_tags.conclusions import verdict_in_time


def reach(low: float, high: float, verdict: str = "holds") -> pl.DataFrame:
    """Return RANGES by hand, with another claim before that of the throughput."""
    return pl.DataFrame(
        [
            ("A-swap-out", 22.3, 1.0, 77.0, 78.0, 1.0, "misses", False, 1.0, 2.0, 5),
            ("A-throughput", 24.3, 9.3, low, high, high - low, verdict, False, 1.0, 2.0, 5),
        ],
        schema=RANGES.schema,
        orient="row",
    )


def test_the_sentence_of_patch_a_in_time_reads_both_ranges() -> None:
    """Its throughput fitted alone and with what others tell, beside the published figure."""
    sentence = verdict_in_time(reach(3.4, 42.6), reach(-1.0, 12.0))
    assert "alone, the contention machine predicts a gain in throughput of 3 to 43 %." in sentence
    assert "finds, it predicts -1 to 12 %; the published 24.3 % lies inside." in sentence
    wide = verdict_in_time(reach(3.4, 42.6), reach(-1.0, 42.0, "open"))
    assert wide.endswith("that is too wide to judge the published 24.3 % by.")
    assert "77" not in sentence
    with pytest.raises(InputError, match="RANGES"):
        verdict_in_time(reach(1.0, 2.0), reach(1.0, 2.0).drop("fits"))
    with pytest.raises(InputError, match="0 ranges of 'A-throughput': give fits"):
        verdict_in_time(reach(1.0, 2.0), reach(1.0, 2.0).clear())
