# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart of generations that the command draws: why pages were swapped out."""

import altair as alt
import polars as pl

from swapsim.charts import general
from swapsim.ffi import MGLRU_SWAPPINESS_MAX
from swapsim.mglru.tables import MGLRU_TIMELINE, TYPES


def why(timeline: pl.DataFrame, *, title: str) -> alt.ConcatChart:
    """Draw over time why pages were swapped out: a column for each lruvec.

    Of each type the share of the choices, its refault rate, this rate over its gain (reclaim takes
    the type whose line is the lower one), and the generations that are left.

    Parameters
    ----------
    timeline : polars.DataFrame
        Schema MGLRU_TIMELINE, at most 200 rows.
    title : str
    """
    rows = MGLRU_TIMELINE.check(timeline)
    anon = pl.min_horizontal("swappiness", pl.lit(MGLRU_SWAPPINESS_MAX))
    gains = {"anon": anon, "file": MGLRU_SWAPPINESS_MAX - anon}
    share = pl.col("anon_percent")
    panels: dict[str, dict[str, pl.Expr]] = {
        "chosen first, % of choices": {"anon": share, "file": 100 - share},
        "refault rate, %": {each: pl.col(f"rate_{each}_percent") for each in TYPES},
        "rate over gain": {
            each: pl.when(gain > 0).then(pl.col(f"rate_{each}_percent") / gain)
            for each, gain in gains.items()
        },
        "generations left": {each: pl.col(f"generations_{each}") for each in TYPES},
    }
    long = pl.concat(
        rows.select(
            "start_s",
            pl.format("lruvec {}: {}", "lruvec", pl.lit(panel)).alias("panel"),
            pl.lit(each).alias("of"),
            value.alias("value"),
            pl.lit(nth).alias("nth"),
            "lruvec",
        )
        for nth, (panel, values) in enumerate(panels.items())
        for each, value in values.items()
    )
    return general.lines(
        long.sort("nth", "lruvec", maintain_order=True).drop_nulls("value"),
        *("start_s", "value", "of"),
        panel="panel",
        columns=rows["lruvec"].n_unique(),
        own_axes=True,
        width=330,
        height=90,
        title=title,
        words={"start_s": "time (s)", "of": "pages of type", "value": " "},
    )
