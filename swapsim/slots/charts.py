# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart of policies in the slot microbenchmark that a notebook and a command share."""

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.slots.workbench import ranking


def moves_against_locality(
    rows: pl.DataFrame, *, title: str = "Cache-line transfers against locality", subtitle: str = ""
) -> alt.ConcatChart:
    """Draw each policy's medians of one setting: cache-line transfers, and locality.

    Policies at one point, to a hundredth, share a label.
    """
    moves, locality = (
        ranking(rows, metric).select(
            "policy",
            pl.col("median").alias(axis),
            pl.col("low").alias(f"{axis}_low"),
            pl.col("high").alias(f"{axis}_high"),
        )
        for axis, metric in (("moves", "lock.moved.add"), ("locality", "run"))
    )
    frame = moves.join(locality, on="policy", maintain_order="left")
    place = [pl.col("moves").round(2), pl.col("locality").round(2)]
    first = pl.col("policy") == pl.col("policy").first().over(place)
    names = pl.col("policy").str.join(", ").over(place)
    words = {
        "moves": "share of additions that transfer the lock's cache line from another CPU",
        "locality": "adjacent slots in sequence",
    }
    return charts.points(
        frame.with_columns(label=pl.when(first).then(names)),
        *("moves", "locality", "policy"),
        label="label",
        size=120,
        title=title,
        subtitle=subtitle,
        words=words,
    )
