# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 08 counts: swappiness 0 and its agings, and shares that are all of the choices."""

import polars as pl
import pytest

from swapsim import generations
from swapsim.patches.newer_kernels import deciding


def test_shares_are_all_choices_of_a_recording() -> None:
    """By the kernel's own rules they add up to 100 %, and few refaults are counted alike."""
    verified = generations.verified_generations(generations.shipped())
    own = deciding.shares(verified).filter(share="decides")
    sums = own.group_by("recording").agg(pl.sum("percent"))
    assert sums.height == verified.height
    assert sums["percent"].to_list() == pytest.approx([100] * sums.height)
    of = dict(own.filter(kernel="7.3").group_by("term").agg(pl.sum("choices")).iter_rows())
    few, rates = of["few refaults"], of["refault rates"]
    assert deciding.few_percent("7.3") == pytest.approx(100 * few / (few + rates))
