# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of the panels' charts: Vega-Lite over the data named "rows", in the theme of all charts."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

import altair as alt

from swapsim.charts import altair, colours, of_version
from swapsim.live.description import ROWS

WIDTH: Final = 560
_LINE: Final = 48  # characters of a line of an axis' title, so that it fits a narrow page
_RANGE: Final = ("low", "middle", "high")
_REST: Final = next(iter(colours.PARTS))


def rows(**where: str) -> alt.Chart:
    """Return a chart over the rows of a panel that have these values."""
    chart = alt.Chart(alt.NamedData(ROWS))
    for name, value in where.items():
        chart = chart.transform_filter(f"datum.{name} === {value!r}")
    return chart


def over_seeds(chart: alt.Chart, value: str, *by: str) -> alt.Chart:
    """Return the least, median and greatest value over the seeds, for each value of ``by``."""
    low, middle, high = (f"{statistic}({value})" for statistic in ("min", "median", "max"))
    return chart.transform_aggregate(
        low=low, middle=middle, high=high, groupby=[*by] or alt.Undefined
    )


def by_name(column: str, colour: Mapping[str, str]) -> alt.Color:
    """Return the colour of a column of names, with a legend below the chart."""
    scale = alt.Scale(domain=[*colour], range=[*colour.values()])
    return alt.Color(f"{column}:N", title=None, scale=scale, legend=legend([*colour]))


def change(
    metric: str, case: str, base: str, value: str, published: Mapping[str, float], title: str
) -> alt.LayerChart:
    """Draw the median, least and greatest change of a metric from a case to another one."""
    changes = (
        rows(metric=metric)
        .transform_pivot(case, value="value", groupby=["seed"])
        .transform_calculate(change=f"100 * (datum[{value!r}] / datum[{base!r}] - 1)")
    )
    summed = over_seeds(changes, "change")
    band = summed.mark_bar(height=12, opacity=0.35, color=colours.PATCHED).encode(
        x=alt.X("low:Q", title=title), x2="high:Q"
    )
    dot = summed.mark_point(filled=True, size=90, color=colours.PATCHED, opacity=1).encode(
        x="middle:Q", tooltip=[alt.Tooltip(f"{name}:Q", format=".1f") for name in _RANGE]
    )
    zero = alt.Chart(alt.InlineData([{"change": 0}])).mark_rule(color="gray")
    words = {f"published: {name}, {each:+.1f} %": each for name, each in published.items()}
    lines = alt.Chart(alt.InlineData([{"words": name, "change": words[name]} for name in words]))
    line = lines.mark_rule(color=colours.PUBLISHED, strokeWidth=2).encode(
        x="change:Q",
        strokeDash=alt.StrokeDash(
            "words:N", title=None, scale=alt.Scale(domain=[*words]), legend=legend([*words])
        ),
    )
    marks = (zero.encode(x="change:Q"), band, dot, line)
    return alt.layer(*marks).properties(width=WIDTH, height=40)


def parts(metrics: Mapping[str, str], whole: str, case: str, title: str) -> alt.Chart:
    """Draw means of a whole by the parts of metrics and the rest, a bar for each case."""
    locks = {name.partition(".")[2]: part.rpartition(", ")[0] for name, part in metrics.items()}
    table = [{"site": site, "lock": lock} for site, lock in locks.items()]
    of = alt.LookupData(alt.InlineData(table), key="site", fields=["lock"])
    is_whole = f"datum.metric === {whole!r}"
    words = "(slice(datum.metric, 0, 4) === 'wait' ? ', waited for' : ', held')"
    drawn = {_REST, *metrics.values()}
    colour = {name: shade for name, shade in colours.PARTS.items() if name in drawn}
    chart: alt.Chart = (
        rows()
        .transform_calculate(site="slice(datum.metric, 5)")
        .transform_lookup("site", of)
        .transform_filter(f"{is_whole} || isValid(datum.lock)")
        .transform_calculate(
            part=f"{is_whole} ? [{_REST!r}] : [datum.lock + {words}, {_REST!r}]",
            sign=f"{is_whole} ? [1] : [1, -1]",
        )
        .transform_flatten(["part", "sign"])
        .transform_calculate(
            signed="datum.value * datum.sign / 1000", order=f"indexof({[*colour]}, datum.part)"
        )
        .transform_aggregate(sum="sum(signed)", groupby=[case, "seed", "part", "order"])
        .transform_aggregate(mean="mean(sum)", groupby=[case, "part", "order"])
        .mark_bar()
        .encode(
            x=alt.X("sum(mean):Q", title=title),
            y=alt.Y(f"{case}:N", title=None, sort=None),
            color=by_name("part", colour),
            order="order:Q",
            tooltip=["part:N", alt.Tooltip("mean:Q", format=".2f", title=title)],
        )
        .properties(width=WIDTH, height=alt.Step(34))
    )
    return chart


def curves(
    *,
    x: tuple[str, str],
    y: str,
    by: str,
    colour: Mapping[str, str],
    points: Sequence[Mapping[str, Any]] = (),
    named: str = "",
    only: str = "",
) -> alt.LayerChart:
    """Draw medians over the seeds for each value of ``by``, their range, and published points.

    Points have ``x``, ``value`` and ``named``, and are shown if rows have their ``only``.
    """
    column, words = x
    across = alt.X(f"{column}:Q", title=words, scale=alt.Scale(type="log", base=2))
    up = alt.Scale(type="log", nice=False, padding=8)
    summed = over_seeds(rows(), "value", column, by).encode(x=across, color=by_name(by, colour))
    band = summed.mark_area(opacity=0.3).encode(y=alt.Y("low:Q", title=y, scale=up), y2="high:Q")
    tips = [alt.Tooltip(f"{name}:Q", format=".3~g") for name in (column, *_RANGE)]
    line = summed.mark_line(point=True).encode(y="middle:Q", tooltip=[f"{by}:N", *tips])
    shown = alt.LookupData(alt.NamedData(ROWS), key=only, fields=["seed"])
    dots = (
        alt.Chart(alt.InlineData([*points]))
        .transform_lookup(only, shown)
        .transform_filter("isValid(datum.seed)")
        .mark_point(color=colours.PUBLISHED, size=45)
        .encode(
            x=across,
            y="value:Q",
            shape=alt.Shape(
                f"{named}:N",
                title=named,
                scale=alt.Scale(domain=[*dict.fromkeys(each[named] for each in points)]),
                legend=alt.Legend(orient="bottom", columns=1),
            ),
            tooltip=[
                f"{named}:N",
                *(alt.Tooltip(f"{n}:Q", format=".3~g") for n in (column, "value")),
            ],
        )
    )
    return alt.layer(band, line, dots).properties(width=WIDTH, height=260)


def table(
    row: str, cells: Sequence[Mapping[str, str]], colour: Mapping[str, str], dark: Sequence[str]
) -> alt.LayerChart:
    """Draw a table: its rows by the column ``row``, and a column for each name in ``cells``.

    A cell has its ``metric``, ``column``, what it ``means`` (``dark``: under white text), and a
    ``text`` or none. The greatest of several metrics counts, and a cell of zero is empty.
    """
    fields = ["column", "means", "text"]
    names = [*dict.fromkeys(cell["column"] for cell in cells)]
    of = alt.LookupData(alt.InlineData([*cells]), key="metric", fields=fields)
    summed = (
        rows()
        .transform_lookup("metric", of)
        .transform_filter("isValid(datum.column)")
        .transform_aggregate(most="max(value)", groupby=[row, *fields])
        .transform_calculate(
            cell="datum.most ? datum.means : ''", words="datum.most ? datum.text || datum.most : ''"
        )
        .encode(
            x=alt.X(
                "column:N",
                title=None,
                sort=names,
                axis=alt.Axis(orient="top", labelAngle=-60, labelLimit=200),
            ),
            y=alt.Y(f"{row}:N", title=None, sort=None),
            tooltip=[f"{row}:N", "column:N", alt.Tooltip("most:Q", title="value")],
        )
    )
    scale = alt.Scale(domain=[*colour, ""], range=[*colour.values(), colours.FAINT])
    key = alt.Legend(orient="bottom", columns=2, values=[*colour])
    boxes = summed.mark_rect(stroke="white", strokeOpacity=0.4).encode(
        color=alt.Color("cell:N", title=None, scale=scale, legend=key)
    )
    on_dark = f"indexof({[*dark]}, datum.cell) >= 0"
    words = summed.mark_text(fontSize=11).encode(
        text="words:N", color=alt.condition(on_dark, alt.value("white"), alt.value("black"))
    )
    return alt.layer(boxes, words).properties(width=28 * len(names), height=alt.Step(20))


def turns(
    cases: Sequence[str],
    x: tuple[str, str],
    y: str,
    most: float,
    words: tuple[str, str],
    refused: str,
) -> alt.ConcatChart:
    """Draw where a choice between file and anonymous pages turns, a plane for each case."""
    column, title = x
    across = alt.X(f"{column}:Q", title=title, scale=alt.Scale(domain=[0, most], nice=False))
    up = alt.Scale(domain=[0, most], nice=False)
    file, anon = words
    shades = {words: colours.PAGE_TYPES[name] for name, words in (("file", file), ("anon", anon))}
    key = by_name("first", shades)
    planes = []
    for case in cases:
        edge = rows(rules=case, metric="turn").transform_calculate(
            turn="isValid(datum.value) ? datum.value : 100", most="100", none="0"
        )
        areas = [
            edge.transform_calculate(first=repr(first))
            .mark_area(opacity=0.35, clip=True)
            .encode(x=across, y=alt.Y(f"{low}:Q", title=y, scale=up), y2=f"{high}:Q", color=key)
            for first, low, high in ((file, "none", "turn"), (anon, "turn", "most"))
        ]
        dot = rows(rules=case, metric="file rate").mark_point(
            filled=True, size=110, color="black", stroke="white", opacity=1
        )
        tips = [alt.Tooltip(f"{column}:Q", title=title), alt.Tooltip("value:Q", title=y)]
        chosen = rows(rules=case, metric="takes file").transform_calculate(
            words=f"!isValid(datum.value) ? {refused!r} : "
            f"'at the dot: ' + (datum.value ? {file!r} : {anon!r})"
        )
        said = chosen.mark_text(align="left", fontSize=13, fontWeight="bold").encode(
            x=alt.value(10), y=alt.value(16), text="words:N"
        )
        marks = (*areas, dot.encode(x=across, y=alt.Y("value:Q", scale=up), tooltip=tips), said)
        planes.append(alt.layer(*marks).properties(width=240, height=240, title=f"rules of {case}"))
    return alt.concat(*planes, columns=2)


def legend(names: Sequence[str]) -> alt.Legend:
    """Return a legend below the chart, with as many columns as there is room for."""
    return alt.Legend(orient="bottom", columns=max(1, WIDTH // (6 * max(map(len, names)) + 28)))


def specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the Vega-Lite of a panel, with its legends below each other."""
    altair()  # has the theme
    made = of_version(chart.to_dict())
    below = {"anchor": "start", "direction": "vertical", "margin": 8}
    made["config"]["legend"]["layout"] = {"bottom": below}
    _wrap_titles(made)
    return made


def _wrap_titles(part: Any) -> None:
    """Write the titles of horizontal axes in lines that fit a narrow page."""
    for each in part.values() if isinstance(part, dict) else part:
        if isinstance(each, dict | list):
            _wrap_titles(each)
    x = part.get("x") if isinstance(part, dict) else None
    if isinstance(x, dict) and len(x.get("title") or "") > _LINE:
        x["title"] = wrap(x["title"], _LINE)
