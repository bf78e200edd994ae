# SPDX-License-Identifier: GPL-2.0-or-later
"""How a range of predictions stands to a published figure, and when it is too wide to say so."""

from typing import Final

import polars as pl

from swapsim.claims.tables import RANGE_VERDICT

OPEN_BEYOND: Final = 2.0
"""Tolerances. The published figure is itself known to one either way: a range that is wider than
this band says less than the mail does. Set before the first fits that it judged."""


def range_verdict(low: str, high: str) -> pl.Expr:
    """Judge a range by the published figure and its tolerance.

    Parameters
    ----------
    low, high : str
        The columns with the ends of the range; those beside it are ``published`` and
        ``tolerance``.

    Returns
    -------
    polars.Expr
        ``misses`` if the figure lies farther outside than its tolerance; else ``open`` if the range
        is wider than OPEN_BEYOND tolerances, whatever lies in it; else ``holds`` if the figure lies
        in the range, ``near`` if it lies beside it. Null without a figure or a tolerance.
    """
    figure, tolerance = pl.col("published"), pl.col("tolerance")
    inside = figure.is_between(low, high)
    beside = figure.is_between(pl.col(low) - tolerance, pl.col(high) + tolerance)
    too_wide = pl.col(high) - pl.col(low) > OPEN_BEYOND * tolerance
    verdict = (
        pl.when(~beside)
        .then(pl.lit("misses"))
        .when(too_wide)
        .then(pl.lit("open"))
        .when(inside)
        .then(pl.lit("holds"))
        .when(beside)
        .then(pl.lit("near"))
    )
    return verdict.cast(RANGE_VERDICT.dtype)
