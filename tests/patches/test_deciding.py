# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 08 counts: swappiness 0 and its agings, and shares that are all of the choices."""

import polars as pl
import pytest

import swapsim
from swapsim.patches.newer_kernels import deciding


def test_shares_are_all_choices_of_a_recording() -> None:
    """By the kernel's own rules they add up to 100 %, and few refaults are counted alike."""
    verified = pl.DataFrame({"trace": swapsim.shipped("mglru")})
    own = deciding.shares(verified).filter(share="decides")
    sums = own.group_by("recording").agg(pl.sum("percent"))
    assert sums.height == verified.height
    assert sums["percent"].to_list() == pytest.approx([100] * sums.height)
    terms = own.group_by("recording").agg(
        settled=pl.col("choices").filter(term="few refaults").sum(),
        rates=pl.col("choices").filter(term="refault rates").sum(),
    )
    settled = deciding.threshold().join(terms, on="recording", validate="1:1")
    assert settled["settled"].equals(settled["settled_right"], check_names=False)
    assert (settled["asked"] - settled["settled"]).equals(settled["rates"], check_names=False)


def test_a_recording_without_turned_choices_has_rows_of_zero() -> None:
    """The other kernel's rules have rows in each recording, turned choices or not."""
    verified = pl.DataFrame({"trace": swapsim.shipped("mglru")})
    turned = deciding.shares(verified).filter(share="turns")
    assert turned["recording"].n_unique() == verified.height
    assert (turned.group_by("recording").agg(pl.sum("choices"))["choices"] == 0).any()
