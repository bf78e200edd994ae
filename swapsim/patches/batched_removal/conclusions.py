# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch B is found to do: which point comes nearest, how much noise is left, a sentence."""

import math

import polars as pl

from swapsim import traces
from swapsim.errors import InputError
from swapsim.machine.tables import PREDICTED_BY_POINTS, SPREAD_NEEDED
from swapsim.patches.batched_removal.prediction import judged_ranges
from swapsim.removal.replay import batched_removal_of
from swapsim.removal.tables import BATCHED_REMOVAL

_POINT = ["tag_share", "next_share", "again"]


def spread_needed(predicted: pl.DataFrame) -> pl.DataFrame:
    """Say how widely the mail's runs must spread if a point were all of the truth.

    A row's change is the quotient of two means. What lies between the published and the predicted
    quotient is noise of both, then; over the five rows of elapsed time that gives how far one
    printed mean strays from the true one. System's rows are the same runs and tell nothing more.

    Parameters
    ----------
    predicted : polars.DataFrame
        Schema PREDICTED_BY_POINTS.

    Returns
    -------
    polars.DataFrame
        Schema SPREAD_NEEDED, a row per point, the least spread first.
    """
    rows = PREDICTED_BY_POINTS.check(predicted).filter(pl.col("claim").str.starts_with("B-elapsed"))
    off = (1 + pl.col("published") / 100).log() - (1 + pl.col("simulated") / 100).log()
    frame = (
        rows.with_columns(off=off)
        .group_by(_POINT, maintain_order=True)
        .agg(
            spread_percent=100 * (pl.col("off") ** 2).mean().sqrt() / math.sqrt(2),
            farthest=pl.col("claim").get(pl.col("off").abs().arg_max()),
        )
        .sort("spread_percent")
    )
    return SPREAD_NEEDED.check(frame.select(SPREAD_NEEDED.names()))


def verdict(counts: pl.DataFrame, predicted: pl.DataFrame) -> str:
    """Say what patch B does, in counts and in time.

    Parameters
    ----------
    counts
        As for `verdict_on_counts`.
    predicted
        As for `verdict_in_time`.

    Returns
    -------
    str
        Five sentences.
    """
    return f"{verdict_on_counts(counts)} {verdict_in_time(predicted)}"


def verdict_on_counts(counts: pl.DataFrame) -> str:
    """Say what patch B does to the pages of reclaim's lists, over all traces together.

    Parameters
    ----------
    counts : polars.DataFrame
        Schema BATCHED_REMOVAL.

    Returns
    -------
    str
        One sentence, on one mapping a swap device as 4.8 has it.
    """
    rows = BATCHED_REMOVAL.check(counts).filter(kernel="4.8")
    pages, holds = int(rows["pages"].sum()), int(rows["batched"].sum())
    longest = max(rows["longest"].to_list())
    return (
        f"On {rows.height} traces of a real kernel, {pages:,} pages that reclaim removed from "
        f"their mappings, the patch takes the lock acquisitions for the removal from 1 a page to "
        f"{holds / pages:.2f}: one hold removes {pages / holds:.0f} pages on average, "
        f"{longest} at most."
    )


def counted() -> str:
    """Return `verdict_on_counts` on the shipped traces."""
    return verdict_on_counts(batched_removal_of(traces.shipped("batched-removal")))


def headline_fit() -> None:
    """Return None: the costs are the middle of those that the mail leaves open, not fitted."""


def headline_locks(_constants: pl.DataFrame) -> None:
    """Return None: the mail prints no profile of locks."""


def measured_as_mailed() -> None:
    """Return None: the lab's tests have no row of the mail's tables."""


def verdict_in_time(predicted: pl.DataFrame) -> str:
    """Say what batching is worth in time, over all that the mail leaves open.

    Parameters
    ----------
    predicted : polars.DataFrame
        Schema PREDICTED_BY_POINTS.

    Returns
    -------
    str
        Four sentences.
    """
    ranges = judged_ranges(predicted)
    most, loss = (_row(ranges, claim) for claim in ("B-elapsed-8", "B-elapsed-3"))
    noise = spread_needed(predicted)
    return (
        f"Its mail does not tell all costs. Over the range of those, the contention machine "
        f"predicts a change in elapsed time of {most['low']:.0f} to {most['high']:+.0f} % with 8 "
        f"threads (published: {most['published']:.1f} %) and of {loss['low']:.0f} to "
        f"{loss['high']:+.0f} % with 3 (published: {loss['published']:+.1f} %). Batching gains "
        f"where the later removals under one hold are cheaper than the first; where they are not, "
        f"it gains next to nothing or loses. No choice of costs gives both published figures: "
        f"the nearest needs printed means that are {noise['spread_percent'][0]:.0f} % off."
    )


def _row(ranges: pl.DataFrame, claim: str) -> dict[str, float]:
    found = ranges.filter(claim=claim)
    if found.height != 1:
        raise InputError(f"{found.height} ranges of {claim!r}: give predictions", field="claim")
    return found.row(0, named=True)
