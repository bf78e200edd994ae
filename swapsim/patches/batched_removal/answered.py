# SPDX-License-Identifier: GPL-2.0-or-later
"""What answers the claims of patch B's two mails: data/published/README.md."""

from collections.abc import Iterator

import polars as pl

from swapsim import claims
from swapsim.claims.answering import Answer, table_of
from swapsim.patches.batched_removal import prediction, studies
from swapsim.patches.batched_removal.workload import PATCH, workload_values


def answers() -> pl.DataFrame:
    """Return the answers to both mails' claims at MIDDLE, with their ranges (ANSWERS)."""
    points = studies.by_points()
    of_lists = of_the_code(studies.holds_of_lists())
    return table_of([*of_the_changes(points), *of_the_times(points), of_lists])


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


def of_the_code(lists: pl.DataFrame) -> Answer:
    """Return in how many lists of the traces each mapping is removed under one hold."""
    return Answer(
        claim="B-prose-one-lock-per-mapping",
        source="measured",
        what="lists of a real kernel's reclaim, replayed by 4.8 with the patch",
        held=int(lists.filter(pl.col("holds") == pl.col("mappings"))["lists"].sum()),
        cases=int(lists["lists"].sum()),
    )
