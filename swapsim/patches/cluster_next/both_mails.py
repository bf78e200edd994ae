# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows that two of patch D's mails print, and what both say together: one list alone is noisy."""

import math

import polars as pl

from swapsim import claims
from swapsim.claims.tables import GROWTH_IN_BOTH_MAILS
from swapsim.patches.cluster_next.machines import PATCH


def growth_in_both_mails(predicted: pl.DataFrame) -> pl.DataFrame:
    """Say how the profile rows that both mails print grow, in each mail and in both together.

    Parameters
    ----------
    predicted : polars.DataFrame
        Schema RESULTS: what `prediction.predict` returns of V1, and of V3, one below the other.

    Returns
    -------
    polars.DataFrame
        Schema GROWTH_IN_BOTH_MAILS, a row per profile row. What both say together is the geometric
        mean of their quotients, and its tolerance is that of one, divided by the root of two.

    Source
    ------
    data/published/claims.csv: the claims of profile rows that begin with D- and with D3-.
    """
    stated = claims.published_claims().filter(patch=PATCH, unit="% of cycles")
    three = claims.three_columns(stated, predicted, claims.tolerances())
    mail, row = (
        pl.col("claim").str.extract(r"^(D3?)-lock-(.+)$", group).alias(name)
        for group, name in ((1, "mail"), (2, "row"))
    )
    named = three.filter(pl.col("published").is_not_null()).with_columns(mail, row)
    first, third = (named.filter(mail=mail) for mail in ("D", "D3"))
    frame = first.join(third, on="row", suffix="_third", maintain_order="left").with_columns(
        pl.col("tolerance") / math.sqrt(2),
        *(
            _together(figure, f"{figure}_third").alias(f"{figure}_together")
            for figure in ("published", "simulated")
        ),
    )
    off = (pl.col("simulated_together") - pl.col("published_together")).abs()
    frame = frame.with_columns(agrees=off <= pl.col("tolerance"))
    return GROWTH_IN_BOTH_MAILS.check(frame.select(GROWTH_IN_BOTH_MAILS.names()))


def _together(first: str, third: str) -> pl.Expr:
    """Return the percentage whose quotient is the geometric mean of two percentages' quotients."""
    return 100 * (((1 + pl.col(first) / 100) * (1 + pl.col(third) / 100)).sqrt() - 1)
