# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of what became of the patches on newer kernels."""

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.newer.tables import GLOBAL_LOCK, MEETING_SHARES


@interactive(series="", low="over the seeds from", high="to")
def meetings_by_cpus(
    shares: pl.DataFrame,
    *,
    title: str = "Uses of the swap cache's lock that meet another CPU",
    subtitle: str = "",
) -> alt.LayerChart:
    """Draw how often a lock meets another CPU by number of CPUs, a line per kernel and lock.

    Parameters
    ----------
    shares : polars.DataFrame
        Schema MEETING_SHARES, of requests with several numbers of CPUs.
    title, subtitle : str
    """
    MEETING_SHARES.check(shares)
    named = pl.concat_str("kernel", "lock", separator=": ")
    frame = shares.select("cpus", series=named, share=pl.col("share"), low="low", high="high")
    series = frame["series"].unique(maintain_order=True).to_list()
    base = alt.Chart(frame).encode(
        x=alt.X(
            "cpus:Q",
            title="CPUs, for 32 trunks or 1,024 clusters",
            scale=alt.Scale(type="log", base=2, nice=False, padding=12),
            axis=alt.Axis(values=sorted(frame["cpus"].unique().to_list()), format=",d"),
        ),
        color=alt.Color(
            "series:N",
            title=None,
            sort=series,
            scale=alt.Scale(domain=series, range=[*colours.LOCKS][: len(series)]),
            legend=alt.Legend(labelLimit=260),
        ),
    )
    y = alt.Y("low:Q", title="uses that meet another CPU", axis=alt.Axis(format="%"))
    bands = base.mark_area(opacity=0.18).encode(y=y, y2="high:Q")
    lines = base.mark_line(strokeWidth=2.5).encode(y="share:Q")
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(y="share:Q")
    chart: alt.LayerChart = (bands + lines + dots).properties(
        width=520, height=300, title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart


@interactive(change="{} with the costs' own values", low="over their ranges from", high="to")
def global_lock_by_tasks(
    changes: pl.DataFrame,
    *,
    title: str = "Throughput with one global lock taken twice a page, relative to 7.3",
    subtitle: str = "",
) -> alt.LayerChart:
    """Draw what one global lock changes of throughput by number of tasks, with its range.

    Parameters
    ----------
    changes : polars.DataFrame
        Schema GLOBAL_LOCK.
    title, subtitle : str
    """
    GLOBAL_LOCK.check(changes)
    base = alt.Chart(changes).encode(
        x=alt.X(
            "tasks:Q",
            title="tasks",
            scale=alt.Scale(type="log", base=2, nice=False, padding=12),
            axis=alt.Axis(values=changes["tasks"].to_list(), format=",d"),
        )
    )
    y = alt.Y("low:Q", title="change of throughput, %")
    band = base.mark_area(opacity=0.18, color=colours.UNPATCHED).encode(y=y, y2="high:Q")
    line = base.mark_line(strokeWidth=2.5, color=colours.UNPATCHED).encode(y="change:Q")
    dots = base.mark_point(filled=True, size=45, opacity=1, color=colours.UNPATCHED).encode(
        y="change:Q"
    )
    chart: alt.LayerChart = (band + line + dots).properties(
        width=520, height=260, title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart
