# SPDX-License-Identifier: GPL-2.0-or-later
"""What README and the map of notebooks show of all patches, recomputed."""

from collections.abc import Mapping
from typing import Final

import altair as alt
import polars as pl

from swapsim import claims, traces
from swapsim.mapping import charts as mapping_charts
from swapsim.mapping.replay import per_page
from swapsim.mapping.replay import writeback_tags as mapping_replay
from swapsim.patches.cluster_next.conclusions import slots_matched
from swapsim.site.patches import PATCHES

FEW_SEEDS: Final = (1, 2, 3, 4, 5)
"""Of the runs behind a headline, which shows whole percent."""


def fits() -> dict[str, pl.DataFrame]:
    """Fit the base of each patch that the contention machine predicts.

    Returns
    -------
    dict of str to polars.DataFrame
        The patch -> constants, schema CONSTANTS.
    """
    found = {patch.PATCH: patch.headline_fit() for patch in PATCHES}
    return {name: fit.constants for name, fit in found.items() if fit is not None}


def simulated() -> pl.DataFrame:
    """Return each mail's table as it is simulated with few seeds.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS.
    """
    return pl.concat([patch.headline_results(FEW_SEEDS) for patch in PATCHES])


def ranges() -> pl.DataFrame:
    """Return each mail's claims over all fits that meet its base.

    Returns
    -------
    polars.DataFrame
        Schema RANGES.
    """
    found = [patch.headline_ranges() for patch in PATCHES]
    return pl.concat([frame for frame in found if frame is not None])


def measured() -> pl.DataFrame:
    """Return what a real kernel measured of the mails' tables, in their words.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS.
    """
    found = [patch.measured_as_mailed() for patch in PATCHES]
    return pl.concat([frame for frame in found if frame is not None])


def picture() -> alt.Chart:
    """Draw the one picture that README and the report lead with: patch A on a trace, by site."""
    sites = mapping_replay(traces.shipped("writeback-tags")["random-80-20"])
    return mapping_charts.acquisitions_by_site(per_page(sites))


def headlines(results: pl.DataFrame) -> pl.DataFrame:
    """Set each patch's main claims beside what was simulated and measured.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS; empty where nothing was simulated or measured yet.

    Returns
    -------
    polars.DataFrame
        ``patch``, ``claim`` in words, ``published``, ``simulated`` and ``measured`` changes in
        percent, null where there is none yet.
    """
    three = claims.three_columns(claims.published_claims(), results, claims.tolerances())
    told = pl.col("headlines").str.splitn(": ", 2).struct.rename_fields(["claim", "words"])
    order = claims.patch_cards().explode("headlines").select(told.alias("told")).unnest("told")
    return order.join(three, on="claim", how="left", maintain_order="left").select(
        "patch", pl.col("words").alias("claim"), "published", "simulated", "measured"
    )


def lock_relief(constants: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Set side by side how each patch relieves the swap cache's lock: mail, machine, real kernel.

    Parameters
    ----------
    constants : mapping of str to polars.DataFrame
        As `fits` returns.

    Returns
    -------
    polars.DataFrame
        ``patch`` and the columns of `machine.summary.lock_relief`.
    """
    found = {
        patch.PATCH: patch.headline_locks(constants[patch.PATCH])
        for patch in PATCHES
        if patch.PATCH in constants
    }
    return pl.concat(
        frame.select(pl.lit(name).alias("patch"), pl.all())
        for name, frame in found.items()
        if frame is not None
    )


def verdict(
    three_columns: pl.DataFrame,
    sites_of: Mapping[str, pl.DataFrame],
    verified: pl.DataFrame,
    directions: pl.DataFrame,
) -> str:
    """Say how far the laboratory is with all claims.

    Parameters
    ----------
    three_columns : polars.DataFrame
        Schema THREE_COLUMNS, all claims.
    sites_of : mapping of str to polars.DataFrame
        Name of a trace -> its LOCK_SITES under kernel 4.8.
    verified : polars.DataFrame
        Schema VERIFIED_SLOTS: the slot allocator held against the slot traces.
    directions : polars.DataFrame
        Schema DIRECTIONS: claims of direction, judged by a real kernel's runs.

    Returns
    -------
    str
        Five sentences.
    """
    moved = directions.filter(pl.col("claimed") != "stays")
    spoken_for = (moved["says"] == "for").sum()
    slots, alike = slots_matched(verified)
    simulated = three_columns["simulated"].is_not_null().sum()
    agree, differ, wide, other = (
        (three_columns["simulated_verdict"] == verdict).sum()
        for verdict in ("agrees", "contradicts", "open", "not judged")
    )
    return (
        f"The four mails make {three_columns.height} claims. For {simulated} of them the "
        f"simulations give a figure: {agree} agree within their tolerance, {differ} contradict the "
        f"published figure, {wide} are open, and {other} have no tolerance. Patch A's locks are "
        f"counted on {len(sites_of)} traces of a real kernel. Of {slots:,} slots that a real "
        f"kernel handed out in {verified.height} more, the model of patch D's allocator hands out "
        f"{alike:,}. Of patch C's {moved.height} claims that a figure falls or rises, a small "
        f"version of its test on a real kernel supports {spoken_for}."
    )
