# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of patch C: its rules, simulation and mail, simulation and lab, over time, machines."""

import json
import textwrap
from collections.abc import Mapping
from typing import Any, Final

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.charts.theme import COUNTS, COUNTS_AXIS
from swapsim.claims.tables import MEDIANS_BY_SIZE, PAIRED, SIMULATED_AND_LAB
from swapsim.ffi import STALL_RULES
from swapsim.patches.stall_decisions.tables import (
    PROCESSED_PAGES,
    RULE_SPANS,
    SIMULATED_BY_TIME,
    SIMULATED_CELLS,
    SIMULATED_PAGE_SPANS,
    SIMULATED_WHAT_IF,
    STALL_AGREEMENT,
)
from swapsim.stall.tables import DECIDED_LISTS

_FURTHEST: Final = 32
"""A quotient further from 1 is drawn here, as a triangle at the edge."""

_CELL_SHAPES: Final = {
    "predicted": "circle",
    "fitted": "circle",
    "below the axis": "triangle-left",
    "above the axis": "triangle-right",
}
_PREDICTED, _FITTED, _BELOW, _ABOVE = _CELL_SHAPES

_HOLDERS: Final = ("free", "active_anon", "inactive_anon", "clean", "dirty", "written")
_SCANS: Final = ("scanned_normal", "scanned_dma32")
_SLEEPERS: Final = ("kswapd_sleeps", "tasks_sleep", "writer_throttled", "client_waits")
_AT_A_SECOND: Final = {
    **{name: f"{name}, GB" for name in colours.HOLDERS},
    **{name: f"{name}, pages/s" for name in colours.ZONES},
    **{name: f"{name}, share" for name in colours.SLEEPERS},
}
_SECONDS: Final = alt.X("t_s:Q", title="seconds", axis=alt.Axis(grid=False))
_LAB_AXIS: Final = alt.Axis(
    values=[0, 10, 100, 1_000, 10_000, 100_000], labelExpr="format(datum.value, '~s')"
)
_BARE: Final = alt.Axis(domain=False, ticks=False)
_BROKEN: Final = r"replace(datum.label, regexp('(.{1,24})(\\s+|$)', 'g'), '$1\n')"
_IN_LINES: Final = {
    "labelExpr": rf"split(trim({_BROKEN}), '\n')",
    "labelLineHeight": 12,
    "labelBaseline": alt.condition(
        "length(datum.label) > 24", alt.value("bottom"), alt.value("middle")
    ),
}
"""Names of rows in lines of at most 24 characters."""

_HEADS: Final = alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False)
_SIGNS_IN_WORDS: Final = {"falls": "falls", "either": "may fall or rise", "rises": "rises"}


_TARGETS: Final = {"": "", "disk": ": a file on a disk", "nfs": ": a file on an NFS server"}


@interactive(row="figure", kind="the cell is", published="published", simulated="simulated")
def ratios_to_mail(
    cells: pl.DataFrame,
    target: str = "",
    *,
    title: str = "",
    subtitle: str = "means of 20 seeds; cells that are zero on one side are not drawn",
) -> alt.LayerChart:
    """Draw the ratio of each simulated cell to the published one.

    A line per row of the tables, a mark per kernel, and a band within a factor of two.

    Parameters
    ----------
    cells : polars.DataFrame
        Schema SIMULATED_CELLS; cells that are zero on one side are left out.
    target : {"", "disk", "nfs"}
        The target of the file; all, if it is empty.
    title, subtitle : str
    """
    frame = SIMULATED_CELLS.check(cells).drop_nulls("ratio")
    frame = frame.filter(pl.col("table").cast(pl.String).str.ends_with(target))
    title = title or f"Simulated divided by published{_TARGETS[target]}"
    edge = pl.col("ratio").clip(1 / _FURTHEST, _FURTHEST)
    drawn = frame.select(
        "rules",
        "published",
        "simulated",
        pl.col("metric").str.strip_prefix("Ops ").alias("row"),
        ratio=edge.round_sig_figs(3),
        kind=pl.when(edge < pl.col("ratio"))
        .then(pl.lit(_ABOVE))
        .when(edge > pl.col("ratio"))
        .then(pl.lit(_BELOW))
        .when(~pl.col("judged"))
        .then(pl.lit(_FITTED))
        .otherwise(pl.lit(_PREDICTED)),
    )
    x = alt.X(
        "ratio:Q",
        title="simulated divided by published",
        scale=alt.Scale(type="log", base=2, domain=[0.9 / _FURTHEST, _FURTHEST / 0.9], nice=False),
        axis=alt.Axis(values=[1 / 16, 1 / 4, 1 / 2, 1, 2, 4, 16], format=".3~g"),
    )
    y = alt.Y(
        "row:N", title=None, sort=_distinct(drawn, "row"), axis=alt.Axis(labelLimit=300, grid=True)
    )
    band = (
        alt.Chart(pl.DataFrame({"low": [0.5], "high": [2.0]}))
        .mark_rect(color=colours.FAINT)
        .encode(x=alt.X("low:Q"), x2="high:Q")
    )
    kernel = _key("rules", "rules", colours.KERNELS)
    marks = (
        alt.Chart(drawn)
        .mark_point(size=55, strokeWidth=1.8)
        .encode(
            x=x,
            y=y,
            color=kernel,
            fill=kernel,
            fillOpacity=alt.condition(f"datum.kind == '{_FITTED}'", alt.value(0), alt.value(0.75)),
            shape=alt.Shape("kind:N", title="the cell is", scale=_scale(_CELL_SHAPES), legend=None),
        )
    )
    legend = "hollow: gives a constant; a triangle: beyond the axis; grey: within twice"
    chart: alt.LayerChart = (band + marks).properties(
        width=420, height=alt.Step(15), title=alt.TitleParams(title, subtitle=[subtitle, legend])
    )
    return chart


@interactive(rules="rules of", place="page", begin="from, s", end="to, s")
def page_states(
    spans: pl.DataFrame,
    *,
    title: str = "Where a hundred pages of memcached's pool are",
    subtitle: str = "sampled every 50 ms, so that short reads are hardly seen",
) -> alt.FacetChart:
    """Draw the states of pages over time: a strip per page, a column per kernel.

    Parameters
    ----------
    spans : polars.DataFrame
        Schema SIMULATED_PAGE_SPANS.
    title, subtitle : str
    """
    drawn = (
        SIMULATED_PAGE_SPANS.check(spans)
        .select(
            "rules",
            pl.col("where").cast(pl.String),
            place=pl.col("page").rank("dense").cast(pl.Int64),
            begin=pl.col("begin_s").round(2),
            end=pl.col("end_s").round(2),
        )
        .filter(pl.col("where") != "untouched")
    )
    bare = alt.Scale(nice=False)
    strips = (
        alt.Chart(drawn)
        .mark_bar(height=3.6)
        .encode(
            x=alt.X("begin:Q", title="seconds", axis=alt.Axis(grid=False), scale=bare),
            x2="end:Q",
            y=alt.Y("place:Q", title="page", axis=None, scale=bare),
            color=_key("where", "the page is", _met(colours.WHERE, drawn["where"])),
        )
        .properties(width=240, height=330)
    )
    column = alt.Column("rules:N", title=None, sort=_distinct(drawn, "rules"))
    chart: alt.FacetChart = strips.facet(column=column).properties(title=_title(title, subtitle))
    return chart


@interactive(value="{}, median", low="least of the seeds", high="greatest of the seeds")
def by_machine(
    found: pl.DataFrame,
    metric: str,
    *,
    title: str = "",
    subtitle: str = "simulated, next to a file on the disk; median and range of three seeds",
) -> alt.ConcatChart:
    """Draw a figure on other machines: a panel per factor, a line per kernel, with its range.

    Parameters
    ----------
    found : polars.DataFrame
        Schema SIMULATED_WHAT_IF.
    metric, title, subtitle : str
    """
    frame = SIMULATED_WHAT_IF.check(found).filter(metric=metric)
    drawn = frame.group_by("factor", "setting", "rules", maintain_order=True).agg(
        value=pl.col("value").median(), low=pl.col("value").min(), high=pl.col("value").max()
    )
    panels = []
    for factor in _distinct(drawn, "factor"):
        of_one = drawn.filter(factor=factor)
        scale = COUNTS if (of_one["low"] <= 0).any() else alt.Scale(type="log")
        base = alt.Chart(of_one).encode(
            x=alt.X("setting:O", title=factor, axis=alt.Axis(labelAngle=0, format="~g")),
            color=_key("rules", "rules", colours.KERNELS),
        )
        medians = base.encode(y=alt.Y("value:Q", title=metric, scale=scale, axis=COUNTS_AXIS))
        lines = medians.mark_line(strokeWidth=1.6)
        dots = medians.mark_point(filled=True, size=30, opacity=1)
        spreads = base.mark_rule(strokeWidth=3, opacity=0.35).encode(y="low:Q", y2="high:Q")
        panels.append((spreads + lines + dots).properties(width=310, height=150))
    return _in_two_columns(panels, title or f"{metric}, on other machines", subtitle)


@interactive(rules="rules of", t_s="second", **_AT_A_SECOND)
def over_time(
    by_time: pl.DataFrame,
    *,
    title: str = "One round with a file, by kernel",
    subtitle: str = "simulated, one seed; the file begins soon after the pool is filled",
) -> alt.ConcatChart:
    """Draw how memory is used, what kswapd scans and which tasks wait: a column per kernel.

    Parameters
    ----------
    by_time : polars.DataFrame
        Schema SIMULATED_BY_TIME.
    title, subtitle : str
    """
    frame = SIMULATED_BY_TIME.check(by_time)
    held = _folded(frame, dict(zip(_HOLDERS, colours.HOLDERS, strict=True)), "held", 1 / 2**18)
    scanned = _folded(frame, dict(zip(_SCANS, colours.ZONES, strict=True)), "scanned")
    waited = _folded(frame, dict(zip(_SLEEPERS, colours.SLEEPERS, strict=True)), "waited")
    whole_second = alt.Scale(domain=[0, 1], clamp=True)
    rows = [
        held.mark_area().encode(
            y=alt.Y("figure:Q", title="memory, GB", stack="zero"),
            color=_key("held", "pages", colours.HOLDERS),
            order=alt.Order("place:Q"),
        ),
        scanned.mark_line(strokeWidth=1.2).encode(
            y=alt.Y("figure:Q", title="scanned, pages/s", scale=COUNTS, axis=COUNTS_AXIS),
            color=_key("scanned", "kswapd scans zone", colours.ZONES),
        ),
        waited.mark_line(strokeWidth=1.2).encode(
            y=alt.Y("figure:Q", title="share of each second", scale=whole_second),
            color=_key("waited", "who waits", colours.SLEEPERS),
        ),
    ]
    facets = []
    for number, row in enumerate(rows):
        names = alt.Header(labels=number == 0)
        column = alt.Column("rules:N", title=None, sort=_distinct(frame, "rules"), header=names)
        layers = alt.layer(row.encode(x=_SECONDS), _ruler(row.data, number))
        facets.append(layers.properties(width=212, height=150).facet(column=column))
    chart: alt.ConcatChart = (
        alt.concat(*facets, columns=1)
        .resolve_scale(color="independent")
        .properties(title=_title(title, subtitle))
    )
    return chart


def _folded(
    frame: pl.DataFrame, columns: Mapping[str, str], kind: str, factor: float = 1
) -> alt.Chart:
    """Return a chart of columns under other names and in another unit, folded by the chart."""
    figures = [
        (pl.col(name) * factor).round_sig_figs(3).alias(words) for name, words in columns.items()
    ]
    names: list[str | alt.FieldName] = [*columns.values()]
    return (
        alt.Chart(frame.select("rules", "t_s", *figures))
        .transform_fold(names, as_=[kind, "figure"])
        .transform_calculate(place=f"indexof({json.dumps(names)}, datum.{kind})")
    )


def _ruler(by_second: pl.DataFrame, row: int) -> alt.Chart:
    """Return a line that follows the mouse and shows all figures of its second."""
    there = alt.selection_point(
        name=f"second_{row}", on="mouseover", nearest=True, fields=["t_s"], empty=False
    )
    ruler: alt.Chart = (
        alt.Chart(by_second, name=f"ruler_{row}")
        .mark_rule(color="#888")
        .encode(x=_SECONDS, opacity=alt.when(there).then(alt.value(0.7)).otherwise(alt.value(0)))
        .add_params(there)
    )
    return ruler


_OF_LAB_AND_SIMULATION: Final = {
    "Ops memcachetest-2.84": "operations a second, largest file",
    "Kswapd pages scanned": "pages scanned by kswapd",
    "Kswapd efficiency": "efficiency of kswapd, %",
    "Page writes file": "file pages written by reclaim",
    "Page writes anon": "pages swapped out",
    "Stalls congestion_wait": "forced sleeps",
}


@interactive(policy="rule set", side="in the", low="interval, or what is open, from")
def compare_with_lab(
    table: pl.DataFrame,
    panels: Mapping[str, str] = _OF_LAB_AND_SIMULATION,
    *,
    title: str = "The lab's test: measured in the lab, and simulated",
    subtitle: str = "lab: median and interval of nine rounds; simulation: median of nine seeds, "
    "pale: range over the open settings",
) -> alt.ConcatChart:
    """Draw a panel per metric along the rule sets: medians of the lab and of the simulation.

    The lab's bar is its interval, the simulation's the range over the settings that are open.

    Parameters
    ----------
    table : polars.DataFrame
        Schema SIMULATED_AND_LAB.
    panels : mapping of str to str
        Metric to the words above its panel.
    title, subtitle : str
    """
    frame = SIMULATED_AND_LAB.check(table)
    lab, simulation = colours.LAB_AND_SIMULATION
    columns = {
        lab: ("measured", "measured_low", "measured_high"),
        simulation: ("simulated", "open_low", "open_high"),
    }
    both = pl.concat(
        frame.select("metric", "policy", pl.lit(side).alias("side"), *own).rename(
            dict(zip(own, ("median", "low", "high"), strict=True))
        )
        for side, own in columns.items()
    )
    scale = alt.Scale(type="symlog", constant=10)
    drawn = []
    for metric, words in panels.items():
        base = alt.Chart(both.filter(metric=metric).drop("metric")).encode(
            x=_along_rules(frame),
            xOffset=alt.XOffset("side:N", sort=list(columns)),
            color=_key("side", None, colours.LAB_AND_SIMULATION),
        )
        spans = base.mark_rule(strokeWidth=4, opacity=0.35).encode(
            y=alt.Y("low:Q", title=None, scale=scale), y2="high:Q"
        )
        points = base.mark_point(size=42, filled=True, opacity=1).encode(
            y=alt.Y("median:Q", scale=scale, axis=_LAB_AXIS)
        )
        drawn.append(_panel(spans + points, words, 360))
    return _in_two_columns(drawn, title, subtitle)


ALONG_RULES: Final = {
    "Kswapd pages scanned": "pages scanned by kswapd",
    "Page writes file": "file pages written by reclaim",
    "Ops memcachetest": "operations a second",
    "Ops io-duration": "seconds for the file",
}
"""Metrics that are drawn along the rule sets, and the words above their panels."""


@interactive(policy="rule set", low="interval from", high="interval to")
def along_rules(
    medians: pl.DataFrame,
    panels: Mapping[str, str] = ALONG_RULES,
    *,
    title: str = "Linux 6.1 run by each rule set",
    subtitle: str = "one CPU, one disk; files of 0 to 2.84 times the memory that the server leaves",
) -> alt.ConcatChart:
    """Draw measured figures along the rule sets, a panel per metric, with their intervals.

    Parameters
    ----------
    medians : polars.DataFrame
        Schema MEDIANS_BY_SIZE; the policy is the rule set.
    panels : mapping of str to str
        Metric to the words above its panel.
    title, subtitle : str
    """
    frame = MEDIANS_BY_SIZE.check(medians)
    sizes = frame["size"].unique().sort().to_list()
    shown = dict(zip(sizes, colours.SIZES[-len(sizes) :], strict=True))
    drawn = []
    for metric, words in panels.items():
        of_one = frame.filter(metric=metric).select("policy", "size", "median", "low", "high")
        base = alt.Chart(of_one).encode(
            x=_along_rules(frame),
            color=_key(
                "size",
                "file size, in units of the remaining memory",
                shown,
                legend=alt.Legend(orient="bottom"),
            ),
        )
        spans = base.mark_rule(strokeWidth=3, opacity=0.4).encode(
            y=alt.Y("low:Q", title=None), y2="high:Q"
        )
        medians_on = base.encode(y=alt.Y("median:Q", axis=alt.Axis(format="~s")))
        lines = medians_on.mark_line(strokeWidth=1.5)
        dots = medians_on.mark_point(filled=True, size=36, opacity=1)
        drawn.append(_panel(spans + lines + dots, words, 340))
    return _in_two_columns(drawn, title, subtitle)


@interactive(policy="up to patch", metric="figure", text="change")
def by_patch(
    steps: pl.DataFrame,
    *,
    title: str = "What each patch changes against the state before it",
    subtitle: str = "",
) -> alt.LayerChart:
    """Draw what each step changes: a column per step, a row per metric, coloured by a sure sign.

    Parameters
    ----------
    steps : polars.DataFrame
        Schema PAIRED.
    title, subtitle : str
    """
    change = 100 * (pl.col("value") - pl.col("base")) / pl.col("base")
    drawn = PAIRED.check(steps).select(
        "metric",
        "policy",
        seen=pl.col("seen").cast(pl.String).replace(_SIGNS_IN_WORDS),
        text=pl.when(pl.col("base") == 0)
        .then(_signed(pl.col("value").round_sig_figs(3).cast(pl.Int64)))
        .when(change.abs() >= 1)
        .then(pl.format("{} %", _signed(change.round().cast(pl.Int64, strict=False))))
        .when(change.abs() >= 0.05)
        .then(pl.format("{} %", _signed(change.round(1))))
        .otherwise(pl.lit("0 %")),
    )
    policies = _distinct(drawn, "policy")
    base = alt.Chart(drawn).encode(
        x=alt.X("policy:N", title=None, sort=policies, axis=_HEADS),
        y=alt.Y("metric:N", title=None, sort=_distinct(drawn, "metric"), axis=_row_names(260)),
    )
    signs = {_SIGNS_IN_WORDS[sign]: colour for sign, colour in colours.SIGNS.items()}
    cells = base.mark_rect().encode(color=_key("seen", "by its rounds, the figure", signs))
    written = base.mark_text(fontSize=10, color="black").encode(text="text:N")
    open_ = base.mark_text(fontSize=10, fontStyle="italic").encode(text="text:N")
    has_sign = f"datum.seen != '{_SIGNS_IN_WORDS['either']}'"
    chart: alt.LayerChart = (
        cells + written.transform_filter(has_sign) + open_.transform_filter(f"!({has_sign})")
    ).properties(width=70 * len(policies), height=alt.Step(26), title=_title(title, subtitle))
    return chart


def _signed(value: pl.Expr) -> pl.Expr:
    return pl.format("{}{}", pl.when(value > 0).then(pl.lit("+")).otherwise(pl.lit("")), value)


_RULE_WIDTH: Final = 64
_LETTER_WIDTH: Final = 5
"""Pixels of a rule set's column, and of a letter in it."""


def _in_bar(row: dict[str, Any]) -> str:
    """Return a text in lines that fit its bar."""
    letters = int((row["right"] - row["left"]) * _RULE_WIDTH / _LETTER_WIDTH)
    return "\n".join(textwrap.wrap(row["text"], letters, break_long_words=False))


@interactive(
    name="rule set", decision="what", text="is decided", written="", middle="", left="", right=""
)
def rules_table(
    spans: pl.DataFrame,
    *,
    title: str = "The rule behind each decision, by rule set",
    subtitle: str = "series-N: mmotm with patches 1 to N",
) -> alt.LayerChart:
    """Draw the rules as a table: a row per decision, a bar over the rule sets that decide alike.

    Parameters
    ----------
    spans : polars.DataFrame
        Schema RULE_SPANS.
    title, subtitle : str
    """
    frame = RULE_SPANS.check(spans)
    names = frame["rules"].explode().unique(maintain_order=True).to_list()
    place = {name: at for at, name in enumerate(names)}
    drawn = frame.select(
        "decision",
        "since",
        text=pl.col("text").str.replace_all("\n", " "),
        left=pl.col("rules").list.first().replace_strict(place, return_dtype=pl.Float64) + 0.03,
        right=pl.col("rules").list.last().replace_strict(place, return_dtype=pl.Float64) + 0.97,
    ).with_columns(
        middle=(pl.col("left") + pl.col("right")) / 2,
        written=pl.struct("text", "left", "right").map_elements(_in_bar, return_dtype=pl.String),
    )
    heads = pl.DataFrame({"name": names, "middle": [at + 0.5 for at in range(len(names))]})
    decisions = _distinct(frame, "decision")
    y = alt.Y("decision:N", title=None, sort=decisions, axis=_row_names(300, **_IN_LINES))
    x = alt.X("left:Q", title=None, axis=None, scale=alt.Scale(domain=[0, len(names)], nice=False))
    base = alt.Chart(drawn).encode(y=y)
    since = _key("since", "rule in force since", colours.ERAS, legend=alt.Legend(orient="bottom"))
    bars = base.mark_bar(height=38, cornerRadius=2).encode(x=x, x2="right:Q", color=since)
    texts = [
        base.transform_filter(f"length(split(datum.written, '\\n')) == {lines}")
        .mark_text(fontSize=10, lineBreak="\n", lineHeight=12, dy=6 - 6 * lines, color="black")
        .encode(x="middle:Q", text="written:N")
        for lines in drawn["written"].str.split("\n").list.len().unique().sort()
    ]
    top = (
        alt.Chart(heads)
        .mark_text(fontSize=11, fontWeight="bold", baseline="bottom")
        .encode(x="middle:Q", y=alt.value(-6), text="name:N")
    )
    chart: alt.LayerChart = alt.layer(bars, *texts, top).properties(
        width=_RULE_WIDTH * len(names),
        height=alt.Step(42),
        title=alt.TitleParams(title, subtitle=subtitle, offset=28),
    )
    return chart


@interactive(place="place in the list", page="page", rules="rule set")
def pages_by_rules(
    pages: pl.DataFrame,
    *,
    title: str = "What happens to each page when the list is met again",
    subtitle: str = "",
) -> alt.Chart:
    """Draw what becomes of each page of one list under each rule set: a column per rule set.

    Parameters
    ----------
    pages : polars.DataFrame
        Schema PROCESSED_PAGES, one meeting.
    title, subtitle : str
    """
    frame = PROCESSED_PAGES.check(pages).with_columns(pl.col("rules").cast(pl.String))
    rules = _distinct(frame, "rules")
    words = json.dumps(dict(frame.select(pl.col("place").cast(pl.String), "page").iter_rows()))
    place = _row_names(260, labelExpr=f"{words}[datum.value] + '  ' + datum.value")
    chart: alt.Chart = (
        alt.Chart(frame.select("place", "page", "rules", "outcome"), title=_title(title, subtitle))
        .mark_rect()
        .encode(
            x=alt.X("rules:N", title=None, sort=rules, axis=_HEADS),
            y=alt.Y("place:O", title=None, axis=place),
            color=_key(
                "outcome",
                "the page is",
                _met(colours.OUTCOMES, frame["outcome"]),
                legend=alt.Legend(orient="bottom", columns=4),
            ),
        )
        .properties(width=58 * len(rules), height=alt.Step(17))
    )
    return chart


@interactive(one="one rule set", other="the other")
def agreement(
    pairs: pl.DataFrame,
    share: str,
    *,
    title: str = "Lists that two rule sets decide alike, %",
    subtitle: str = "",
) -> alt.LayerChart:
    """Draw of how many lists two rule sets decide alike: a square per pair, in percent.

    Parameters
    ----------
    pairs : polars.DataFrame
        Schema STALL_AGREEMENT.
    share : {"decisions", "flags", "sleeps", "folios"}
    title, subtitle : str
    """
    frame = STALL_AGREEMENT.check(pairs)
    names = {*frame["one"].to_list(), *frame["other"].to_list()}
    rules = [name for name in STALL_RULES if name in names]
    # Only rule sets that decide all lists alike show 100.
    percent = (100 * pl.col(share)).floor().cast(pl.Int64)
    drawn = frame.select(pl.col("one", "other").cast(pl.String), percent=percent)
    base = alt.Chart(drawn).encode(
        x=alt.X(
            "one:N",
            title=None,
            sort=rules[:-1],
            axis=alt.Axis(labelAngle=0, domain=False, ticks=False),
        ),
        y=alt.Y("other:N", title=None, sort=rules[1:], axis=_BARE),
    )
    colour = [colours.UNPATCHED, "#f5f5f5", colours.PATCHED]
    scale = alt.Scale(domain=[0, 50, 100], range=colour)
    squares = base.mark_rect().encode(color=alt.Color("percent:Q", title="alike, %", scale=scale))
    figures = base.mark_text(fontSize=10).encode(
        text=alt.Text("percent:Q", format="d"),
        color=alt.condition(
            "datum.percent < 20 || datum.percent > 80", alt.value("white"), alt.value("black")
        ),
    )
    chart: alt.LayerChart = (squares + figures).properties(
        width=58 * (len(rules) - 1), height=alt.Step(27), title=_title(title, subtitle)
    )
    return chart


@interactive(rules="rule set", end="")
def stretch(decided: pl.DataFrame, *, title: str = "", subtitle: str = "") -> alt.Chart:
    """Draw what each rule set decides for consecutive lists: a strip per rule set.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS, a part of it as `stall_timeline` returns it.
    title, subtitle : str
    """
    frame = DECIDED_LISTS.check(decided)
    title = title or f"{frame['nth'].n_unique()} consecutive lists, by rule set"
    decision = (
        pl.when("forced")
        .then(pl.lit("sleep, up to 100 ms"))
        .when("waits")
        .then(pl.lit("wait, if a device is congested"))
        .when(pl.col("flags_set") != 0)
        .then(pl.lit("a flag, no sleep"))
        .otherwise(pl.lit("nothing"))
    )
    drawn = frame.select(
        pl.col("rules").cast(pl.String),
        decision=decision,
        begin=pl.col("nth").cast(pl.Int64),
        end=pl.col("nth").cast(pl.Int64) + 1,
    )
    chart: alt.Chart = (
        alt.Chart(drawn, title=_title(title, subtitle))
        .mark_bar(height=16)
        .encode(
            x=alt.X(
                "begin:Q",
                title="list of the recording",
                scale=alt.Scale(zero=False, nice=False),
                axis=alt.Axis(format="d", grid=False),
            ),
            x2="end:Q",
            y=alt.Y("rules:N", title=None, sort=_distinct(drawn, "rules"), axis=_BARE),
            color=_key(
                "decision", "after the list", colours.STALLS, legend=alt.Legend(orient="bottom")
            ),
        )
        .properties(width=700, height=alt.Step(21))
    )
    return chart


def _title(title: str, subtitle: str) -> alt.TitleParams:
    return alt.TitleParams(title, subtitle=subtitle)


def _distinct(frame: pl.DataFrame, column: str) -> list[str]:
    names: list[str] = frame[column].unique(maintain_order=True).to_list()
    return names


def _met(shown: Mapping[str, str], values: pl.Series) -> dict[str, str]:
    """Return the colours of the values that occur."""
    found = set(values)
    return {name: colour for name, colour in shown.items() if name in found}


def _scale(shown: Mapping[str, str]) -> alt.Scale:
    return alt.Scale(domain=list(shown), range=list(shown.values()))


def _key(
    field: str, title: str | list[str] | None, shown: Mapping[str, str], **more: Any
) -> alt.Color:
    """Return a colour by a field, with its legend."""
    return alt.Color(f"{field}:N", title=title, scale=_scale(shown), **more)


def _row_names(limit: int, **more: Any) -> alt.Axis:
    return alt.Axis(labelLimit=limit, domain=False, ticks=False, **more)


def _along_rules(frame: pl.DataFrame) -> alt.X:
    rules = _distinct(frame, "policy")
    return alt.X("policy:N", title=None, sort=rules, axis=alt.Axis(labelAngle=-45))


def _panel(layers: alt.LayerChart, words: str, width: int) -> alt.LayerChart:
    title = alt.TitleParams(words, fontSize=12, frame="group")
    return layers.properties(width=width, height=170, title=title)


def _in_two_columns(panels: list[alt.LayerChart], title: str, subtitle: str) -> alt.ConcatChart:
    chart: alt.ConcatChart = alt.concat(*panels, columns=2).properties(
        title=_title(title, subtitle)
    )
    return chart
