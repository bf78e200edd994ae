# SPDX-License-Identifier: GPL-2.0-or-later
"""The general charts: a frame, the columns on its axes, and words for them.

::

    lines     a figure along settings, in its band              heat    a figure, or a kind, in a
    dots      figures with intervals, a row for each item               matrix of two settings
    bars      parts of a figure, a bar for each item            points  items in a plane
    areas     parts of a figure over time

All take rows in long form. Items, panels and colours have the order of the frame; an item that
`colours` knows has its colour everywhere. ``words`` gives columns their words, which stand at axes,
above legends and in tooltips alike. Rows are drawn as they are: `study.summary` makes them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypedDict, Unpack

import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import with_interaction
from swapsim.charts.quick import alt
from swapsim.errors import InputError

MOST_ROWS: Final = 5_000
"""Rows of a chart: what altair takes, and less than 1 MB."""

_MOST_DOTS: Final = 60  # settings of a line with a dot at each
_MOST_TICKS: Final = 12  # settings with a tick each
_GREY: Final = "#888"


class Look(TypedDict, total=False):
    """What all general charts take on top of their columns.

    ``title`` and ``subtitle`` stand above the chart, ``words`` in place of the names of columns;
    "{}" in a word is the panel's name, which then stands at its axis and not above it. There is a
    panel for each value of the column ``panel``, ``columns`` of them in a row (default: all), of
    ``width`` and ``height`` pixels, with ``own_axes`` if ranges differ; the height of rows of items
    follows from their number.

    Axes named in ``log`` ("x", "y", "xy") are logarithmic; an axis of figures with zeros is linear
    up to 1. The axis of figures has the ends ``domain`` (default: those of the data, or with
    ``tight`` from near the least figure) and the ``format`` of d3; a line marks ``zero``, another
    one ``rule`` (red, as published figures, or ``rule_colour``), a grey ground ``band``.
    ``figures`` is the format of figures next to their marks (default: none), and ``colour`` has
    the colours of values (default: `colours.of`).
    """

    title: str
    subtitle: str | list[str]
    words: Mapping[str, str]
    panel: str
    columns: int
    own_axes: bool
    width: int
    height: int
    log: str
    domain: tuple[float, float]
    format: str
    figures: str
    zero: bool
    tight: bool
    band: tuple[float, float]
    rule: float
    rule_colour: str
    colour: Mapping[str, str]


def lines(
    frame: pl.DataFrame, x: str, y: str, by: str = "", *, tick: str = "", **look: Unpack[Look]
) -> alt.ConcatChart:
    """Draw a figure along settings: a line, in the band of ``low`` and ``high`` if there are such.

    The frame has a row for each setting ``x``, a number or a name, and each value of ``by``, which
    is a line. ``tick`` has texts for the ticks of x; one without a digit is a setting of its own,
    which no line joins.
    """
    names = not frame[x].dtype.is_numeric()
    drawn = ["low", "high"] if {"low", "high"} <= set(frame.columns) else []
    colour = _colour(frame, by, look)

    def draw(rows: pl.DataFrame, look: Look) -> list[alt.Chart]:
        at = _figure("y", y, _word(look, y), look)
        end = _figure("y", "low", _word(look, y), look)
        along = _names(rows, x, look) if names else _settings(frame, x, tick, look)
        alone = rows[tick].str.contains(r"\d").not_() if tick else pl.Series([False] * rows.height)
        joined = alt.Chart(rows.filter(~alone)).encode(x=along, color=colour)
        every = alt.Chart(rows).encode(x=along, color=colour)
        marks = []
        if drawn and names:
            marks.append(every.mark_rule(strokeWidth=4, opacity=0.35).encode(y=end, y2="high:Q"))
        elif drawn:
            marks.append(joined.mark_area(opacity=0.18).encode(y=end, y2="high:Q"))
            if alone.any():
                spans = alt.Chart(rows.filter(alone)).encode(x=along, color=colour)
                marks.append(spans.mark_rule(strokeWidth=4, opacity=0.3).encode(y=end, y2="high:Q"))
        line = joined.mark_line(strokeWidth=2.2).encode(y=at)
        if by and (dashes := colours.dashes(frame[by])):
            line = line.encode(strokeDash=_scaled(alt.StrokeDash, by, dashes, None))
        marks.append(line)
        if frame[x].n_unique() <= _MOST_DOTS:
            marks.append(every.mark_point(filled=True, size=45, opacity=1).encode(y=at))
        return marks + _written(every.encode(y=at), y, look, dy=-12)

    return _chart(frame, draw, "y", look)


def dots(
    frame: pl.DataFrame,
    x: str,
    row: str,
    by: str = "",
    *,
    published: str = "",
    apart: bool = False,
    **look: Unpack[Look],
) -> alt.ConcatChart:
    """Draw a figure of each item as a dot, in its interval from ``low`` to ``high`` if it has one.

    The frame has a row for each item ``row``, and each value of ``by``, which is a colour; with
    ``apart`` they stand below each other. A figure that is null has an interval alone.
    ``published`` has the published figure of an item, drawn as a tick; with the ends of its
    tolerance in ``NAME_low`` and ``NAME_high``, if there are such columns.
    """
    red = alt.value(colours.PUBLISHED)

    def draw(rows: pl.DataFrame, look: Look) -> list[alt.Chart]:
        word = _word(look, x)
        at = _figure("x", x, word, look)
        base = alt.Chart(rows).encode(y=_rows(rows, row), color=_colour(frame, by, look))
        if apart:
            base = base.encode(yOffset=alt.YOffset(f"{by}:N", sort=_distinct(frame, by)))
        marks = []
        if f"{published}_low" in frame.columns:
            tolerance = base.mark_bar(height=14, opacity=0.25).encode(
                x=_figure("x", f"{published}_low", word, look), x2=f"{published}_high:Q", color=red
            )
            marks.append(tolerance)
        if {"low", "high"} <= set(frame.columns):
            span = base.mark_rule(strokeWidth=5, opacity=0.45)
            marks.append(span.encode(x=_figure("x", "low", word, look), x2="high:Q"))
        marks.append(base.mark_point(filled=True, size=65, opacity=1).encode(x=at))
        if published:
            tick = base.mark_tick(thickness=3, size=16)
            marks.append(tick.encode(x=_figure("x", published, word, look), color=red))
        return marks + _written(base.encode(x=at), x, look, dy=-11)

    # A figure above its dot needs room.
    return _chart(frame, draw, "x", look, height=alt.Step(36 if "figures" in look else 26))


def bars(
    frame: pl.DataFrame, x: str, row: str, by: str = "", **look: Unpack[Look]
) -> alt.ConcatChart:
    """Draw a figure of each item as a bar, stacked of its parts if ``by`` names them.

    The frame has a row for each item and part; parts are stacked in its order. One that is zero
    everywhere is in no legend.
    """
    at = _figure("x", x, _word(look, x), look)
    parts = _distinct(frame, by) if by else []
    shown: Look = {**look, "colour": look.get("colour") or colours.of(parts)}
    colour = _colour(frame.filter(pl.col(x).ne_missing(0)), by, shown)

    def draw(rows: pl.DataFrame, look: Look) -> list[alt.Chart]:
        data = rows.with_columns(nth=pl.lit(0) if not by else _place(by, parts))
        base = alt.Chart(data).encode(x=at, y=_rows(rows, row), color=colour)
        drawn = base.mark_bar(height={"band": 0.8}).encode(order="nth:Q")
        below = data.filter(pl.col(x) < 0)
        words = [
            mark
            for part, side in ((data.filter(pl.col(x) >= 0), "left"), (below, "right"))
            if part.height
            for mark in _written(
                alt.Chart(part).encode(x=at, y=_rows(rows, row)),
                x,
                look,
                align=side,
                dx=4 if side == "left" else -4,
            )
        ]
        return [drawn, *words]

    return _chart(frame, draw, "x", look, height=alt.Step(30))


def areas(frame: pl.DataFrame, x: str, y: str, by: str, **look: Unpack[Look]) -> alt.ConcatChart:
    """Draw the parts ``by`` of a figure over time ``x``, stacked in the order of the frame."""
    parts = _distinct(frame, by)
    stacked = _figure("y", y, _word(look, y), look, stack="zero")

    def draw(rows: pl.DataFrame, look: Look) -> list[alt.Chart]:
        base = alt.Chart(rows.with_columns(nth=_place(by, parts)))
        along = alt.X(f"{x}:Q", title=_word(look, x), axis=alt.Axis(tickCount=4, format="~s"))
        return [
            base.mark_area().encode(
                x=along, y=stacked, color=_colour(frame, by, look), order="nth:Q"
            )
        ]

    return _chart(frame, draw, "y", look, width=220, height=200)


def heat(
    frame: pl.DataFrame, x: str, y: str, value: str, *, text: str = "", **look: Unpack[Look]
) -> alt.ConcatChart:
    """Draw a matrix of two settings, whose cells a figure or a kind colours.

    The frame has a row for each cell. Figures are coloured from ``domain``'s one end to its other
    one; default: from zero as far to both sides. ``text`` has the text of a cell; default: the
    figure by ``figures``.
    """
    kinds = not frame[value].dtype.is_numeric()
    if kinds:
        colour = _colour(frame, value, look)
        shown = look.get("colour") or colours.of(_distinct(frame, value))
        faint = [name for name, shade in shown.items() if shade == colours.FAINT]
        # A faint cell has the page's ground, dark or not, so its text is the page's.
        ink = alt.condition(
            alt.FieldOneOfPredicate(value, faint), alt.value("currentColor"), alt.value("black")
        )
    else:
        greatest = float(frame[value].abs().max() or 1.0)  # type: ignore[arg-type]
        pale, high = look.get("domain", (0.0, greatest))
        ends, shades = [pale, high], ["#f5f5f5", colours.PATCHED]
        if "domain" not in look:
            ends, shades = [-high, *ends], [colours.UNPATCHED, *shades]
        scale = alt.Scale(domain=ends, range=shades)
        colour = alt.Color(f"{value}:Q", title=_word(look, value), scale=scale)
        dark = f"abs(datum['{value}'] - {pale}) > {0.6 * (high - pale)}"
        ink = alt.condition(dark, alt.value("white"), alt.value("black"))
    columns = _distinct(frame, x)
    head = alt.Axis(labelAngle=0, domain=False, ticks=False, orient="top" if kinds else "bottom")
    along = alt.X(f"{x}:N", title=_title(look, x), sort=columns, axis=head)

    def draw(rows: pl.DataFrame, look: Look) -> list[alt.Chart]:
        base = alt.Chart(rows).encode(x=along, y=_rows(rows, y, _title(look, y)))
        marks = [base.mark_rect().encode(color=colour)]
        if text or "figures" in look:
            word = alt.Text(f"{text}:N") if text else alt.Text(f"{value}:Q", format=look["figures"])
            marks.append(base.mark_text(fontSize=10).encode(text=word, color=ink))
        return marks

    return _chart(frame, draw, "", look, width=58 * len(columns), height=alt.Step(26))


def points(
    frame: pl.DataFrame,
    x: str,
    y: str,
    by: str = "",
    *,
    label: str = "",
    size: int = 60,
    **look: Unpack[Look],
) -> alt.ConcatChart:
    """Draw items in a plane, each with the intervals of its figures.

    The frame has a row for each item; ``X_low, X_high, Y_low, Y_high`` are the ends of intervals of
    the columns X and Y, if there are such. ``label`` has the text at an item, or null; ``size`` is
    the area of a point in pixels.
    """
    across: dict[str, Any] = {
        "title": _word(look, x),
        "axis": alt.Axis(tickCount=5, format=look.get("format", "")),
    }
    flat = alt.Scale(zero=not look.get("tight"), padding=8)
    plain: Look = {"tight": look.get("tight", False)}

    def draw(rows: pl.DataFrame, look: Look) -> list[alt.Chart]:
        base = alt.Chart(rows).encode(color=_colour(frame, by, look, bool(label)))
        at_x = alt.X(f"{x}:Q", scale=flat, **across)
        at_y = _figure("y", y, _word(look, y), plain)
        marks = []
        for letter, column, at in (("x", x, at_y), ("y", y, at_x)):
            if f"{column}_low" in frame.columns:
                title = _word(look, column)
                low = (alt.X if letter == "x" else alt.Y)(f"{column}_low:Q", title=title)
                high = (alt.X2 if letter == "x" else alt.Y2)(f"{column}_high:Q")
                other = {"y" if letter == "x" else "x": at}
                ends = {letter: low, f"{letter}2": high}
                marks.append(base.mark_rule(strokeWidth=2, opacity=0.45).encode(**ends, **other))
        marks.append(base.mark_point(size=size, filled=True, opacity=1).encode(x=at_x, y=at_y))
        if label:
            middle = (float(frame[x].min()) + float(frame[x].max())) / 2  # type: ignore[arg-type]
            for right, align in ((True, "right"), (False, "left")):
                part = rows.drop_nulls(label).filter((pl.col(x) > middle) == right)
                text = alt.Chart(part).mark_text(
                    align=align, dx=-9 if right else 9, dy=-8, fontSize=11
                )
                marks.append(text.encode(x=at_x, y=at_y, text=f"{label}:N"))
        return marks

    return _chart(frame, draw, "x", look, height=300)


def _chart(
    frame: pl.DataFrame,
    draw: Callable[[pl.DataFrame, Look], list[alt.Chart]],
    measure: str,
    look: Look,
    *,
    width: int = 480,
    height: int | alt.Step = 240,
) -> alt.ConcatChart:
    """Return the panels of a frame next to each other; ``measure`` is the axis of figures."""
    if frame.is_empty():
        raise InputError("the frame has no rows: a chart needs at least one", field="frame")
    if frame.height > MOST_ROWS:
        raise InputError(
            f"a chart of {frame.height:,} rows: at most {MOST_ROWS:,} fit, take fewer",
            field="frame",
        )
    name, words = look.get("panel", ""), look.get("words", {})
    at_axis = any("{}" in word for word in words.values())
    panels = []
    for value in _distinct(frame, name) if name else [None]:
        own = frame.filter(pl.col(name).cast(pl.String) == value) if name else frame
        named = {column: word.replace("{}", str(value)) for column, word in words.items()}
        layers = alt.layer(*_grounds(measure, look), *draw(own, {**look, "words": named}))
        panel = layers.properties(width=look.get("width", width), height=look.get("height", height))
        headed = name and not at_axis
        panels.append(panel.properties(title=_heading(str(value))) if headed else panel)
    shared = {} if look.get("own_axes") or not measure or not name else {measure: "shared"}
    chart = alt.concat(*panels, columns=look.get("columns", len(panels))).resolve_scale(**shared)
    titled = chart.properties(
        title=alt.TitleParams(look.get("title", ""), subtitle=look.get("subtitle", ""))
    )
    drawn: alt.ConcatChart = with_interaction(titled, words)
    return drawn


def _heading(text: str) -> alt.TitleParams:
    return alt.TitleParams(text, fontSize=12, frame="group")


def _grounds(measure: str, look: Look) -> list[alt.Chart]:
    """Return what lies below the marks: a band, a rule, and the line of zero."""
    marks = []
    ends = (measure, f"{measure}2")
    if "band" in look:
        low, high = look["band"]
        ground = alt.Chart(pl.DataFrame({"from": [low], "to": [high]})).mark_rect(
            color=colours.FAINT
        )
        marks.append(ground.encode(**dict(zip(ends, ("from:Q", "to:Q"), strict=True))))
    for at, colour in (
        (look.get("rule"), look.get("rule_colour", colours.PUBLISHED)),
        (0.0 if look.get("zero") else None, _GREY),
    ):
        if at is not None:
            rule = alt.Chart(pl.DataFrame({"at": [at]})).mark_rule(color=colour)
            marks.append(rule.encode(**{measure: "at:Q"}))
    return marks


def _figure(letter: str, column: str, title: Any, look: Look, **more: Any) -> Any:
    """Return the axis of figures."""
    scale: dict[str, Any] = {}
    if letter in look.get("log", ""):
        scale = {"type": "symlog" if look.get("zero") else "log"}
        if scale["type"] == "symlog" and letter == "x":
            scale |= {"padding": 8, "nice": False}  # dots at both ends are drawn completely
    if "domain" in look:
        scale |= {"domain": list(look["domain"]), "nice": False}
    if look.get("tight"):
        scale |= {"zero": False, "padding": 8}
    elif "figures" in look and letter == "y":
        scale |= {"padding": 18}
    axis = alt.Axis(format=look.get("format", alt.Undefined), tickCount=5)
    if scale.get("type") == "symlog":
        powers = [0, *(10**power for power in range(10))]
        axis = alt.Axis(values=powers, labelExpr="format(datum.value, '~s')")
    made = alt.X if letter == "x" else alt.Y
    return made(f"{column}:Q", title=title, scale=alt.Scale(**scale), axis=axis, **more)


def _settings(frame: pl.DataFrame, x: str, tick: str, look: Look) -> alt.X:
    """Return an axis of numbers with a tick at each setting."""
    values = frame[x].unique().sort().to_list()
    # With a format, vega chooses the digits of a long axis, and writes 100 as 1e+2.
    plain = {"labelExpr": "format(datum.value, ',~r')", "tickCount": 5}
    axis: dict[str, Any] = plain if len(values) > _MOST_TICKS else {"format": ",~g"}
    if "x" in look.get("log", "") and len(values) <= _MOST_TICKS:
        axis |= {"values": values}
    if tick:
        said = dict(frame.select(x, tick).iter_rows())
        alone = {at: word for at, word in said.items() if not any(map(str.isdigit, word))}
        named = "".join(f"datum.value == {at} ? '{word}' : " for at, word in alone.items())
        number = "format(datum.value, datum.value < 10000 ? ',~g' : '.3~s')"
        axis = {"values": values, "labelExpr": named + number}
    scale: dict[str, Any] = {"zero": False, "nice": False, "padding": 12}
    if "x" in look.get("log", ""):
        scale |= {"type": "log", "base": 2}
        scale.pop("zero")
    return alt.X(f"{x}:Q", title=_word(look, x), scale=alt.Scale(**scale), axis=alt.Axis(**axis))


def _names(frame: pl.DataFrame, x: str, look: Look) -> alt.X:
    names = _distinct(frame, x)
    angle = -45 if sum(map(len, names)) > 30 else 0
    return alt.X(f"{x}:N", title=_title(look, x), sort=names, axis=alt.Axis(labelAngle=angle))


def _rows(frame: pl.DataFrame, row: str, title: str | None = None) -> alt.Y:
    """Return the names of items from top to bottom."""
    axis = alt.Axis(labelLimit=440, domain=False, ticks=False)
    return alt.Y(f"{row}:N", title=title, sort=_distinct(frame, row), axis=axis)


def _colour(frame: pl.DataFrame, by: str, look: Look, plain: bool = False) -> Any:
    """Return the colour of a column's values, with a legend if there are several."""
    if not by:
        return alt.value(colours.PATCHED)
    names = _distinct(frame, by)
    shown = look.get("colour") or colours.of(names)
    present: dict[Any, str] = {name: shown[name] for name in shown if name in set(names)}
    if frame[by].dtype.is_numeric():
        present = {
            number: shown[name] for number, name in zip(_values(frame, by), names, strict=True)
        }
    legend = None if plain or len(present) < 2 else alt.Legend(symbolOpacity=1)
    return _scaled(alt.Color, by, present, legend, title=_title(look, by))


def _scaled(channel: Any, column: str, shown: Mapping[Any, Any], legend: Any, **more: Any) -> Any:
    scale = alt.Scale(domain=list(shown), range=list(shown.values()))
    return channel(f"{column}:N", scale=scale, legend=legend, **more)


def _written(base: alt.Chart, column: str, look: Look, **place: Any) -> list[alt.Chart]:
    """Return the figures next to their marks, if they are wanted."""
    if "figures" not in look:
        return []
    text = alt.Text(f"{column}:Q", format=look["figures"])
    return [base.mark_text(fontSize=11, **place).encode(text=text, color=alt.value("currentColor"))]


def _place(by: str, parts: Sequence[str]) -> pl.Expr:
    order = {name: nth for nth, name in enumerate(parts)}
    return pl.col(by).cast(pl.String).replace_strict(order, return_dtype=pl.Int64)


def _values(frame: pl.DataFrame, column: str) -> list[Any]:
    return frame[column].unique(maintain_order=True).to_list()


def _distinct(frame: pl.DataFrame, column: str) -> list[str]:
    names: list[str] = frame[column].cast(pl.String).unique(maintain_order=True).to_list()
    return names


def _word(look: Look, column: str) -> str:
    return look.get("words", {}).get(column) or column.replace("_", " ")


def _title(look: Look, column: str) -> str | None:
    """Return the words of a column of names; names without words need none."""
    return look.get("words", {}).get(column) or None
