# SPDX-License-Identifier: GPL-2.0-or-later
"""The shares that patch A's base column leaves open: a fit and a prediction for each pair."""

from collections.abc import Iterable, Sequence
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.errors import require_some
from swapsim.machine.summary import claim_ranges
from swapsim.machine.tables import PREDICTED_BY_SHARES
from swapsim.patches.writeback_tags.fitting import fit
from swapsim.patches.writeback_tags.machines import PATCH
from swapsim.patches.writeback_tags.prediction import predict

TAG_SHARES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""``tag_ns / tree_ns``: from a hold for tags that is all descent, to one as long as add's."""

MAP_SHARES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""``map_ns / tree_ns``, doubled until si->lock is so busy that no tree_ns meets the base."""


LONGEST_TAGS_NS: Final = 264
"""Of a hold for tags: two tag operations of the kernel's own tree on average (three descents at the
start of writeback, one at its end), 132 ns each with cold caches, as `swapsim bench` finds them."""


def predict_at_shares(
    shares: tuple[float, float],
    *,
    seeds: Sequence[int] = (1, 2),
    constants: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Fit patch A's base at a pair of shares that it leaves open, and predict the patch.

    Parameters
    ----------
    shares : (float, float)
        ``tag_ns`` and ``map_ns`` as shares of ``tree_ns``; see `fitting.fit`.
    seeds : sequence of int
        Runs of base and patch each, over which a prediction is the mean.
    constants : polars.DataFrame, optional
        Schema CONSTANTS, for all that is not fitted; default: data/costs.csv.

    Returns
    -------
    polars.DataFrame
        Schema PREDICTED_BY_SHARES: a row per claim that has a change.

    Raises
    ------
    InputError
        No seed is given.
    """
    require_some(seeds, "seeds")
    tag_share, map_share = shares
    fitted = fit(tag_share=tag_share, map_share=map_share, constants=constants)
    results = predict(fitted.constants, seeds)
    stated = claims.published_claims().filter(
        pl.col("patch") == PATCH, pl.col("change").is_not_null()
    )
    table = claims.three_columns(stated, results, claims.tolerances())
    patched = (
        results.filter(kernel="base+patch")
        .sort("seed")
        .group_by("metric", maintain_order=True)
        .agg(patched=pl.col("value").mean())
    )
    value = dict(fitted.constants.select("name", "value").iter_rows())
    return (
        table.filter(pl.col("simulated").is_not_null())
        .join(stated.select("claim", "metric"), on="claim", maintain_order="left")
        .join(patched, on="metric", maintain_order="left")
        .select(
            tag_share=pl.lit(tag_share),
            map_share=pl.lit(map_share),
            converged=pl.lit(fitted.converged),
            tree_ns=pl.lit(value["tree_ns"], dtype=pl.UInt32),
            unmap_ns=pl.lit(value["unmap_ns"], dtype=pl.UInt32),
            claim="claim",
            published="published",
            tolerance="tolerance",
            simulated="simulated",
            patched="patched",
        )
    )


def fits_at(shares: Iterable[tuple[float, float]]) -> dict[str, pl.DataFrame]:
    """Fit patch A's base at some pairs of shares.

    Parameters
    ----------
    shares : iterable of (float, float)
        ``tag_ns`` and ``map_ns`` as shares of ``tree_ns``.

    Returns
    -------
    dict of str to polars.DataFrame
        "tags TAG, map MAP" -> the fitted constants, schema CONSTANTS.
    """
    return {
        f"tags {tag_share:g}, map {map_share:g}": fit(
            tag_share=tag_share, map_share=map_share
        ).constants
        for tag_share, map_share in shares
    }


def with_tags_up_to(points: pl.DataFrame, longest_ns: float = LONGEST_TAGS_NS) -> pl.DataFrame:
    """Keep the fits whose ``tag_ns`` is at most so long.

    Parameters
    ----------
    points : polars.DataFrame
        Schema PREDICTED_BY_SHARES.
    longest_ns : float
        Default: LONGEST_TAGS_NS.

    Returns
    -------
    polars.DataFrame
        Schema PREDICTED_BY_SHARES.
    """
    return PREDICTED_BY_SHARES.check(points).filter(
        pl.col("converged"), pl.col("tag_share") * pl.col("tree_ns") <= longest_ns
    )


def judged_ranges(points: pl.DataFrame) -> pl.DataFrame:
    """Say from where to where the predictions of several fits go, and judge the published figure.

    Parameters
    ----------
    points : polars.DataFrame
        Schema PREDICTED_BY_SHARES; fits that did not converge are left out.

    Returns
    -------
    polars.DataFrame
        Schema RANGES, a row per claim, judged by `claims.range_verdict`; ``flips`` tells that a
        range has both signs.
    """
    points = PREDICTED_BY_SHARES.check(points)
    return claim_ranges(points.filter("converged"))
