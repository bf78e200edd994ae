# SPDX-License-Identifier: GPL-2.0-or-later
"""Chart of patch B: how much two equal kernels differ, and the changes that the mail prints."""

from typing import Final

import altair as alt
import polars as pl

from swapsim.charts.colours import FAINT, PUBLISHED, UNEVEN
from swapsim.charts.interaction import interactive
from swapsim.patches.batched_removal.tables import NOISE_OF_ROWS, NULL_CHANGES

_EDGE: Final = 100.0
"""Bars end here; those of very uneven threads go on."""

_DEVIATIONS: Final = 1.96
"""Half the width of an interval of 95 %, in standard deviations."""

_ELAPSED: Final = r"^B-elapsed-(\d+)$"


@interactive(
    of="workload",
    uneven="threads uneven by",
    published="published",
    null_low="from",
    null_high="to",
)
def null_against_mail(
    null: pl.DataFrame,
    noise: pl.DataFrame,
    *,
    title: str = "What two equal kernels differ by, and what the mail prints",
    subtitle: str = "bars: the sweeps, by how uneven the threads are; grey: the mail's noise; "
    "red: published",
) -> alt.LayerChart:
    """Draw how much two equal kernels differ in elapsed time, with the published changes.

    A bar per number of threads and unevenness holds 95 % of the changes, its thick part half of
    them. The grey band holds 95 % by the mail's own noise, a red dot is what the mail prints.

    Parameters
    ----------
    null : polars.DataFrame
        Schema NULL_CHANGES.
    noise : polars.DataFrame
        Schema NOISE_OF_ROWS; its rows of elapsed time are drawn.
    title, subtitle : str
    """
    ends = NULL_CHANGES.check(null).with_columns(
        pl.col("change_percent").clip(-_EDGE, _EDGE).round(1),
        uneven=pl.format("{} %", pl.col("uneven_percent").cast(pl.Int64)),
        of=pl.format("{} threads", "threads"),
    )
    mails = NOISE_OF_ROWS.check(noise).select(
        "published", of=pl.format("{} threads", pl.col("claim").str.extract(_ELAPSED))
    )
    rows = mails.drop_nulls("of").with_columns(pl.col("of").str.replace("^1 threads", "1 thread"))
    ends = ends.with_columns(pl.col("of").str.replace("^1 threads", "1 thread"))
    names = ends["of"].unique(maintain_order=True).sort().to_list()
    levels = ends.sort("uneven_percent")["uneven"].unique(maintain_order=True).to_list()
    y = alt.Y("of:N", title=None, sort=names, scale=alt.Scale(paddingInner=0.25))
    x = alt.X("low:Q", title="change in elapsed time, % (less is better)")
    half = _DEVIATIONS * _equal_kernels_error(noise)
    band = (
        alt.Chart(pl.DataFrame({"null_low": [-half], "null_high": [half]}))
        .mark_rect(color=FAINT)
        .encode(x="null_low:Q", x2="null_high:Q")
    )
    bars = [
        alt.Chart(_between(ends, *parts))
        .mark_bar(height=height, opacity=opacity)
        .encode(
            x=x,
            x2="high:Q",
            y=y,
            yOffset=alt.YOffset("uneven:N", sort=levels),
            color=alt.Color(
                "uneven:N",
                title="threads uneven by",
                sort=levels,
                scale=alt.Scale(domain=levels, range=list(UNEVEN)),
                legend=alt.Legend(orient="top"),
            ),
        )
        for parts, height, opacity in (((2.5, 97.5), 3, 0.55), ((25.0, 75.0), 7, 0.9))
    ]
    dots = (
        alt.Chart(rows)
        .mark_point(filled=True, size=75, opacity=1, color=PUBLISHED)
        .encode(x="published:Q", y=y)
    )
    chart: alt.LayerChart = alt.layer(band, *bars, dots).properties(
        width=520,
        height=17 * len(names) * len(levels),
        title=alt.TitleParams(title, subtitle=subtitle),
    )
    return chart


def _between(ends: pl.DataFrame, low: float, high: float) -> pl.DataFrame:
    """Return the changes between two parts of the distribution."""
    keys = ["of", "uneven"]
    return (
        ends.filter(part_percent=low)
        .select(*keys, low="change_percent")
        .join(
            ends.filter(part_percent=high).select(*keys, high="change_percent"),
            on=keys,
            maintain_order="left",
        )
    )


def _equal_kernels_error(noise: pl.DataFrame) -> float:
    """Return the standard deviation of a change between equal kernels, from any row."""
    row = noise.row(0, named=True)
    return float(row["mail_error"] / (1 + row["published"] / 100))
