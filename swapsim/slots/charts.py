# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart of policies on the slot workbench that a notebook and a command share."""

import altair as alt
import polars as pl

from swapsim.charts import general
from swapsim.checks import checked
from swapsim.slots.workbench import ranking

_FIGURES = {"mean": "", "low": "_low", "high": "_high"}


@checked
def moves_against_locality(
    measures: pl.DataFrame, *, title: str = "Moved lines against locality"
) -> alt.ConcatChart:
    """Draw each policy of a SLOT_SWEEP of one setting: moves of a lock's line, and locality.

    Points that lie on one another share a label.
    """
    moves, locality = (
        ranking(measures, metric).select(
            "policy", *(pl.col(name).alias(f"{axis}{end}") for name, end in _FIGURES.items())
        )
        for axis, metric in (("moves", "lock.moved.add"), ("locality", "run"))
    )
    place = (pl.col("moves").round(2), pl.col("locality").round(1))
    names = pl.col("policy").str.join(", ").over(place)
    frame = moves.join(locality, on="policy", maintain_order="left").with_columns(
        label=pl.when(pl.struct(*place).is_first_distinct()).then(names)
    )
    words = {
        "moves": "share of additions that fetch the lock's cache line from another CPU",
        "locality": "adjacent slots in sequence",
    }
    axes = ("moves", "locality", "policy")
    return general.points(
        frame, *axes, label="label", size=120, tight=True, title=title, words=words
    )
