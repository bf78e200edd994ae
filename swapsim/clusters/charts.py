# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of clusters of swap slots."""

from typing import Final

import altair as alt
import polars as pl

from swapsim.charts.colours import CLUSTERS, FAINT, ORDERS, PATCHED, UNPATCHED
from swapsim.charts.interaction import interactive
from swapsim.clusters.tables import (
    CLUSTER_LIST,
    CLUSTER_LIST_SUMS,
    CLUSTER_PICTURES,
    CLUSTER_RANKING,
    FALLBACK_RATES,
    FREE_RUNS,
)
from swapsim.errors import InputError

MOST_CELLS: Final = 5_000
"""Cells of a chart: what altair takes, and less than 1 MB."""


@interactive(rules="rules", seq="at", clusters="clusters")
def lists_over_time(
    lists: pl.DataFrame, *, title: str, subtitle: str = "", axis: str = "row of the trace"
) -> alt.Chart:
    """Draw how many clusters each list has along a trace or a stream, one panel per rule set.

    Parameters
    ----------
    lists : polars.DataFrame
        Schema CLUSTER_LIST_SUMS, at most 1,000 rows.
    title, subtitle : str
    axis : str
        What ``seq`` counts.
    """
    CLUSTER_LIST_SUMS.check(lists)
    frame = lists.unpivot(
        list(CLUSTERS), index=["rules", "seq"], variable_name="list", value_name="clusters"
    ).with_columns(pl.col("rules").cast(pl.String))
    rules = lists["rules"].cast(pl.String).unique(maintain_order=True).to_list()
    chart: alt.Chart = (
        alt.Chart(frame, title=alt.TitleParams(title, subtitle=subtitle))
        .mark_area()
        .encode(
            x=alt.X("seq:Q", title=axis, axis=alt.Axis(tickCount=4, format="~s")),
            y=alt.Y("clusters:Q", title="clusters", stack="zero"),
            color=alt.Color(
                "list:N",
                title="on the list",
                scale=alt.Scale(domain=list(CLUSTERS), range=list(CLUSTERS.values())),
            ),
            column=alt.Column("rules:N", title=None, sort=rules),
        )
        .properties(width=220, height=220)
    )
    return chart


def _of_one_device(pictures: pl.DataFrame) -> pl.DataFrame:
    """Return pictures of one device with the kind of each list, as texts."""
    CLUSTER_PICTURES.check(pictures)
    if pictures["device"].n_unique() != 1:
        raise InputError(
            f"the pictures have {pictures['device'].n_unique()} devices: give those of one",
            field="device",
        )
    return pictures.with_columns(
        pl.col("rules", "list").cast(pl.String),
        kind=pl.col("list").cast(pl.String).str.strip_chars_end("0123456789"),
        order=pl.when(pl.col("in_use") > 0).then(pl.col("order").cast(pl.String)),
    )


def _require_room(frame: pl.DataFrame) -> pl.DataFrame:
    if frame.height > MOST_CELLS:
        raise InputError(
            f"the chart would have {frame.height} cells, at most {MOST_CELLS} fit: take fewer "
            "pictures (times=) or rule sets",
            field="cluster",
        )
    return frame


def _stretches(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the stretches of pictures in which a cluster keeps the kind of its list, and order."""
    keys = ["rules", "cluster"]
    step = pl.col("seq").min()
    state = pl.struct("kind", "order")
    return (
        frame.sort(*keys, "seq")
        .with_columns(
            until=pl.coalesce(pl.col("seq").shift(-1).over(keys), pl.col("seq") + step),
            run=(state != state.shift(1)).fill_null(value=True).cum_sum().over(keys),
        )
        .group_by(*keys, "run", maintain_order=True)
        .agg(pl.first("seq", "kind", "order"), pl.last("until"))
        .with_columns(last=pl.col("cluster") + 1, order=pl.col("order").fill_null("none"))
        .drop("run")
    )


_KIND: Final = alt.Color(
    "kind:N",
    title="on the list",
    scale=alt.Scale(domain=list(CLUSTERS), range=list(CLUSTERS.values())),
)
_WORDS: Final = {
    "rules": "rules",
    "list": "list and order",
    "kind": "list",
    "seq": "row of the trace",
    "cluster": "cluster",
    "order": "order",
    "in_use": "slots in use",
    "position": "place in its list",
}


@interactive(**_WORDS)
def device_over_time(pictures: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.VConcatChart:
    """Draw each cluster of a device along a trace: above by its list, below by its order.

    Parameters
    ----------
    pictures : polars.DataFrame
        Schema CLUSTER_PICTURES, of one device; pictures between which a cluster keeps its list
        and order are one cell.
    title, subtitle : str

    Raises
    ------
    InputError
        There are several devices, or more than MOST_CELLS cells.
    """
    of_device = _of_one_device(pictures)
    orders = of_device["order"].drop_nulls().unique().sort().to_list()
    frame = _require_room(_stretches(of_device))
    rules = frame["rules"].unique(maintain_order=True).to_list()
    cells = (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=alt.X(
                "seq:Q",
                title="row of the trace",
                axis=alt.Axis(tickCount=4, format="~s"),
                scale=alt.Scale(nice=False),
            ),
            x2="until:Q",
            y=alt.Y("cluster:Q", title="cluster", scale=alt.Scale(nice=False)),
            y2="last:Q",
            column=alt.Column("rules:N", title=None, sort=rules),
        )
        .properties(width=300, height=190)
    )
    by_order = alt.Color(
        "order:N",
        title="order",
        scale=alt.Scale(
            domain=["none", *orders], range=[FAINT, *(ORDERS[int(each)] for each in orders)]
        ),
    )
    chart: alt.VConcatChart = alt.vconcat(
        cells.encode(color=_KIND),
        cells.encode(color=by_order),
        title=alt.TitleParams(title, subtitle=subtitle),
    ).resolve_scale(color="independent")
    return chart


@interactive(**_WORDS)
def queues(pictures: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.Chart:
    """Draw the lists of a device as queues, from the head on; a slider moves along the trace.

    Parameters
    ----------
    pictures : polars.DataFrame
        Schema CLUSTER_PICTURES, of one device.
    title, subtitle : str

    Raises
    ------
    InputError
        There are several devices, or more than MOST_CELLS rows.
    """
    frame = _require_room(_of_one_device(pictures)).with_columns(
        picture=pl.col("seq").rank("dense").cast(pl.Int64), end=pl.col("position") + 1
    )
    last = int(frame["picture"].max())  # type: ignore[arg-type]
    shown = alt.param(
        name="picture_shown",
        value=(last + 1) // 2,
        bind=alt.binding_range(min=1, max=last, step=1, name="picture "),
    )
    lists = [name for name in CLUSTER_LIST.words if name in frame["list"]]
    rules = frame["rules"].unique(maintain_order=True).to_list()
    chart: alt.Chart = (
        alt.Chart(frame, title=alt.TitleParams(title, subtitle=subtitle))
        .mark_bar(height=14)
        .encode(
            x=alt.X("position:Q", title="place in the list, from its head"),
            x2="end:Q",
            y=alt.Y("list:N", title=None, sort=lists, scale=alt.Scale(domain=lists)),
            color=alt.Color("in_use:Q", title="slots in use", scale=alt.Scale(scheme="viridis")),
            column=alt.Column("rules:N", title=None, sort=rules),
        )
        .add_params(shown)
        .transform_filter("datum.picture == picture_shown")
        .properties(width=300, height=22 * len(lists))
    )
    return chart


@interactive(
    policy="alternative",
    median="median change",
    low="from",
    high="to",
    rank="rank",
    lowest="lowest of a stream",
    highest="highest of a stream",
)
def alternatives(
    ranking: pl.DataFrame,
    *,
    title: str = "Alternatives to the lists of 7.3: change from its rules",
    subtitle: str = "",
) -> alt.ConcatChart:
    """Draw each alternative's change from the rules of 7.3, the best on top, a panel per metric.

    Parameters
    ----------
    ranking : polars.DataFrame
        Schema CLUSTER_RANKING.
    title, subtitle : str
    """
    CLUSTER_RANKING.check(ranking)
    panels = []
    for metric in ranking["metric"].unique(maintain_order=True):
        frame = ranking.filter(metric=metric)
        unit, better = frame["unit"][0], frame["better"][0]
        base = alt.Chart(frame.drop("tied_with"), title=f"{metric} ({better} is better)").encode(
            y=alt.Y("policy:N", title=None, sort=frame["policy"].to_list()),
            color=alt.Color(
                "user:N",
                title="whose",
                scale=alt.Scale(domain=[False, True], range=[UNPATCHED, PATCHED]),
                legend=None,
            ),
        )
        of_unit = "points" if unit == "%" else unit
        axis = f"change, {of_unit}"
        panels.append(
            alt.layer(
                base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=axis), x2="high:Q"),
                base.mark_circle(size=60, opacity=1).encode(x=alt.X("median:Q", title=axis)),
            ).properties(width=220, height=18 * frame.height)
        )
    chart: alt.ConcatChart = alt.concat(
        *panels, columns=3, title=alt.TitleParams(title, subtitle=subtitle)
    )
    return chart


def _sizes(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the size of their order, such as 64K."""
    kibibytes = 4 * 2 ** pl.col("order").cast(pl.Int64)
    size = pl.when(kibibytes < 1024).then(pl.format("{}K", kibibytes))
    return frame.with_columns(
        pl.col("rules").cast(pl.String), size=size.otherwise(pl.format("{}M", kibibytes // 1024))
    )


def _by_size(frame: pl.DataFrame, title: str) -> alt.Color:
    """Return one colour for each order that occurs."""
    orders = frame.select("order", "size").unique().sort("order")
    return alt.Color(
        "size:N",
        title=title,
        scale=alt.Scale(
            domain=orders["size"].to_list(), range=[ORDERS[order] for order in orders["order"]]
        ),
    )


@interactive(
    rules="rules",
    size="size of the folios",
    stage="stage of the stream",
    fallback_percent="split folios (%)",
    low="lowest of a seed (%)",
    high="highest of a seed (%)",
    requests="large folios",
)
def fallback_over_time(
    rates: pl.DataFrame,
    *,
    title: str = "Large folios that are split, over time, by rules",
    subtitle: str = "",
) -> alt.FacetChart:
    """Draw the share of large folios that are split over time, by size, one panel per rule set.

    Parameters
    ----------
    rates : polars.DataFrame
        Schema FALLBACK_RATES.
    title, subtitle : str
    """
    frame = _sizes(FALLBACK_RATES.check(rates))
    rules = frame["rules"].unique(maintain_order=True).to_list()
    base = alt.Chart(frame).encode(
        x=alt.X("stage:Q", title="stage of the stream", axis=alt.Axis(tickCount=4)),
        color=_by_size(frame, "folios of"),
    )
    lines = base.mark_line(point=alt.OverlayMarkDef(size=12)).encode(
        y=alt.Y("fallback_percent:Q", title="split folios (%)", scale=alt.Scale(domain=[0, 100])),
        tooltip=["rules", "size", "stage", "fallback_percent", "low", "high", "requests"],
    )
    band = base.mark_area(opacity=0.2).encode(y="low:Q", y2="high:Q")
    chart: alt.FacetChart = (
        alt.layer(band, lines)
        .properties(width=170, height=200)
        .facet(column=alt.Column("rules:N", title=None, sort=rules))
        .properties(title=alt.TitleParams(title, subtitle=subtitle))
    )
    return chart


@interactive(
    rules="rules",
    size="size of a free run",
    stage="stage of the stream",
    slots="free slots",
    runs="free runs",
)
def free_runs(runs: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.Chart:
    """Draw the free slots of a device by the size of the free run that they are in, over time.

    Parameters
    ----------
    runs : polars.DataFrame
        Schema FREE_RUNS.
    title, subtitle : str
    """
    frame = _sizes(FREE_RUNS.check(runs)).with_columns(
        slots=pl.col("runs") * 2 ** pl.col("order").cast(pl.UInt64)
    )
    rules = frame["rules"].unique(maintain_order=True).to_list()
    chart: alt.Chart = (
        alt.Chart(frame, title=alt.TitleParams(title, subtitle=subtitle))
        .mark_area()
        .encode(
            x=alt.X("stage:Q", title="stage of the stream", axis=alt.Axis(tickCount=4)),
            y=alt.Y("slots:Q", title="free slots", stack="zero", axis=alt.Axis(format="~s")),
            color=_by_size(frame, "free runs of"),
            order=alt.Order("order:Q"),
            column=alt.Column("rules:N", title=None, sort=rules),
            tooltip=["rules", "size", "stage", "runs", "slots"],
        )
        .properties(width=170, height=200)
    )
    return chart
