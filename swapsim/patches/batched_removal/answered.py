# SPDX-License-Identifier: GPL-2.0-or-later
"""What answers the claims of patch B's mail (data/published/stored-before.md).

And its part of the pages on all patches.
"""

from collections.abc import Iterator

import polars as pl

from swapsim import claims, traces
from swapsim.claims.answering import Answer, table_of
from swapsim.claims.tables import CHANCES
from swapsim.patches.batched_removal import prediction, studies
from swapsim.patches.batched_removal.workload import PATCH, chance_of_change, workload_values
from swapsim.removal.replay import batched_removal_of


def answers() -> pl.DataFrame:
    """Return the answers to the claims at MIDDLE, with their ranges (ANSWERS)."""
    points = studies.by_points()
    return table_of([*of_the_changes(points), *of_the_times(points)])


def of_the_changes(points: pl.DataFrame) -> Iterator[Answer]:
    """Yield the change of each claim with a figure, by `studies.by_points`."""
    bases = dict(claims.published_claims().select("claim", "base").iter_rows())
    for row in points.filter(prediction.at_middle()).iter_rows(named=True):
        over = points.filter(claim=row["claim"])["simulated"].to_list()
        yield Answer(
            claim=row["claim"],
            source="simulated",
            base=row["base"],
            value=row["patched"],
            figure=row["simulated"],
            low=min(over),
            high=max(over),
            range_over="open constants",
            rounds=len(over),
            base_ratio=row["base"] / bases[row["claim"]],
        )


def of_the_times(points: pl.DataFrame) -> Iterator[Answer]:
    """Yield the answers to the directions of the elapsed times, by `studies.by_points`.

    low and high are the outermost ends, over all points, of the intervals that hold 95 % of the
    changes between means of as many runs as the mail's.
    """
    stated = claims.published_claims().filter(unit="direction", patch=PATCH)
    for claim, row in stated.select("claim", pl.col("locator").str.split(" | ").list[1]).rows():
        own = points.filter(claim=f"B-elapsed-{row.rpartition('-')[2]}")
        if row.startswith("Amean Elapsd-") and not own.is_empty():
            middle = own.row(by_predicate=prediction.at_middle(), named=True)
            yield Answer(
                claim=claim,
                source="simulated",
                base=middle["base"],
                value=middle["patched"],
                figure=middle["simulated"],
                low=min(own["seven_low"].to_list()),
                high=max(own["seven_high"].to_list()),
                range_over="open constants",
                rounds=int(workload_values()["iterations"]),
            )


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
