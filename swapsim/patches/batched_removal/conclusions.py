# SPDX-License-Identifier: GPL-2.0-or-later
"""What the pages on all patches ask of patch B (`swapsim.patches.Patch`)."""

import polars as pl

from swapsim import claims, traces
from swapsim.claims.tables import CHANCES
from swapsim.patches.batched_removal.workload import PATCH, chance_of_change
from swapsim.removal.replay import batched_removal_of


def held(counts: pl.DataFrame) -> tuple[int, int, int]:
    """Return the pages of BATCHED_REMOVAL under 4.8, the holds of them, and the longest's pages."""
    rows = counts.filter(kernel="4.8")
    return int(rows["pages"].sum()), int(rows["batched"].sum()), max(rows["longest"].to_list())


def counted() -> str:
    """Return a sentence on the pages of reclaim's lists in all shipped traces, under 4.8."""
    counts = batched_removal_of(traces.shipped("batched-removal"))
    pages, holds, longest = held(counts)
    return (
        f"On {counts['trace'].n_unique()} traces of a real kernel, {pages:,} pages that reclaim "
        f"removed from their mappings, the patch takes the lock acquisitions for the removal from "
        f"1 a page to {holds / pages:.2f}: one hold removes {pages / holds:.0f} pages on average, "
        f"{longest} at most."
    )


def chances() -> pl.DataFrame:
    """Return the chance of each row of usemem by the mail's noise (CHANCES)."""
    stated = claims.published_claims().filter(
        pl.col("error").is_not_null(), pl.col("patch") == PATCH
    )
    found = pl.Series(map(chance_of_change, stated["change"].to_list()), dtype=pl.Float64)
    return CHANCES.check(stated.select("claim", chance=found))


def headline_fit() -> None:
    """Return None: the costs are the middle of those that the mail leaves open, not fitted."""


def headline_locks(_constants: pl.DataFrame) -> None:
    """Return None: the mail prints no profile of locks."""
