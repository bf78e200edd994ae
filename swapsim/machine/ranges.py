# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions that leave something open, as ranges, and whether the mail's figure lies there."""

import polars as pl

from swapsim.claims import range_verdict
from swapsim.claims.tables import RANGES


def judge(points: pl.DataFrame) -> pl.DataFrame:
    """Say from where to where the predictions of several points go, and judge the published figure.

    Parameters
    ----------
    points : polars.DataFrame
        A row per point and claim: ``claim``, ``published``, ``tolerance``, ``simulated`` (the
        change in percent) and ``patched`` (the patched kernel's own figure).

    Returns
    -------
    polars.DataFrame
        Schema RANGES, a row per claim, judged by `claims.range_verdict`; ``flips`` tells that a
        range has both signs.
    """
    frame = (
        points.group_by("claim", maintain_order=True)
        .agg(
            pl.col("published", "tolerance").first(),
            low=pl.col("simulated").min(),
            high=pl.col("simulated").max(),
            patched_low=pl.col("patched").min(),
            patched_high=pl.col("patched").max(),
            fits=pl.len().cast(pl.UInt32),
        )
        .with_columns(
            width=pl.col("high") - pl.col("low"),
            flips=(pl.col("low") < 0) & (pl.col("high") > 0),
            verdict=range_verdict("low", "high"),
        )
    )
    return RANGES.check(frame.select(RANGES.names()))
