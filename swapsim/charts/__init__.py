# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of frames: `use` for notebooks, and six charts, each of a frame and its columns.

A frame is in long form. Items, panels and colours have its order; its rows are drawn as they are.
Each chart takes the parameters of `Look` on top of its columns.
All charts have tooltips, a legend that selects, numeric axes that zoom, and an alternative text.
Altair takes seconds to import, and is imported when the first chart is drawn.
"""

import base64
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

import polars as pl
import polars.selectors as cs

from swapsim.charts import colours
from swapsim.errors import InputError

if TYPE_CHECKING:
    from altair import ConcatChart, TopLevelMixin

__all__ = ["areas", "bars", "dots", "heat", "lines", "points", "use"]

MOST_ROWS: Final = 5_000
"""Rows of a chart: what altair takes, and less than 1 MB."""

VEGA_LITE: Final = "6.4"
"""The Vega-Lite that renders pictures and the report: that of the Vega which vl-convert has."""

MIME: Final = "application/vnd.vegalite.v5+json"
"""The type of JupyterLab's own Vega-Lite, which warns of a schema that is newer than itself."""

_MOST_DOTS: Final = 60  # settings of a line with a dot at each
_MOST_TICKS: Final = 12  # settings with a tick each
_PLAIN: Final = "format(datum.value, abs(datum.value) < 1000 ? '.4~r' : ',.0f')"  # no 1e+2
_ENDS: Final = {"low": "from", "high": "to"}
_SIZE: Final = {"width": 480, "height": 240}
_WITH_CTRL: Final = "wheel![event.ctrlKey || event.metaKey]"  # without a key it scrolls the page

_ITEMS: Final = {"title": None, "axis": {"labelLimit": 440, "domain": False, "ticks": False}}
"""The axis of the names of items, from top to bottom."""

_PAGE: Final = "currentColor"  # the page's, light or dark: known to SVG alone, so charts are SVG
_TEXT: Final = {
    "labelColor": _PAGE, "titleColor": _PAGE, "labelFontSize": 11, "titleFontSize": 12,
}  # fmt: skip
_LINE: Final = "rgba(128, 128, 128, 0.8)"
_WHITE: Final = {"background": "white"}  # of files
_CONFIG: Final[dict[str, Any]] = {
    "background": "transparent",
    "view": {"stroke": None},
    "mark": {"tooltip": True},
    "title": {
        "anchor": "start", "fontSize": 14, "offset": 12, "subtitlePadding": 4,
        "color": _PAGE, "subtitleColor": _PAGE,
    },
    "text": {"color": _PAGE},
    "axis": {
        "labelSeparation": 6, "gridColor": "rgba(128, 128, 128, 0.22)", "domainColor": _LINE,
        "tickColor": _LINE, **_TEXT,
    },
    "scale": {"rectBandPaddingInner": 0.05},
    "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelColor": _PAGE},
    "legend": {"labelLimit": 320, "titleLimit": 400, "symbolOpacity": 1, **_TEXT},
}  # fmt: skip


class Look(TypedDict, total=False):
    """What all charts take on top of their columns.

    ``words`` stand in place of the names of columns, at axes, above legends and in tooltips; "{}"
    in a word is the panel's name, which then stands at its axis and not above it.
    """

    title: str
    subtitle: str | list[str]
    words: Mapping[str, str]
    panel: str  # a column: a panel for each value
    columns: int  # panels in a row; default: all
    own_axes: bool  # of panels, if ranges differ
    width: int  # pixels of a panel
    height: int
    log: str  # axes: "x", "y", "xy"
    domain: tuple[float, float]  # ends of the axis of figures; default: those of the data
    format: str  # of the axis of figures, by d3
    figures: str  # format of figures next to their marks; default: none
    zero: bool  # a line at zero
    band: tuple[float, float]  # a grey ground
    rule: float  # a line, red as published figures are
    colour: Mapping[str, str]  # of values; default: `colours.of`


def use() -> None:
    """Show charts in notebooks as interactive ones, with a picture as a fallback.

    Frames have up to 40 rows, all their columns, whole texts, and figures of four digits, or whole
    ones from 1,000 on. JupyterLab draws the specification of a chart: marks have tooltips, a click
    into a legend selects, dragging and the wheel with Ctrl move and zoom numeric axes, a double
    click resets them. GitHub shows the picture; nbval compares the specification. With
    SWAPSIM_PICTURES=no in the environment there is no picture, which takes most of a chart's time.

    Examples
    --------
    >>> from swapsim import charts
    >>> charts.use()
    """
    altair().renderers.register("swapsim", _shown)
    altair().renderers.enable("swapsim")
    pl.Config(tbl_rows=40, tbl_cols=-1, tbl_width_chars=200, fmt_str_lengths=200)
    pl.Config(fmt_float="full", thousands_separator=True, tbl_cell_numeric_alignment="RIGHT")
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        show = shell.display_formatter.formatters
        show["text/html"].for_type(pl.DataFrame, lambda frame: _short(frame)._repr_html_())
        show["text/plain"].for_type(pl.DataFrame, lambda frame, at, _: at.text(str(_short(frame))))


def _short(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with the digits that are worth reading: polars has no setting for them."""
    small = cs.float().abs() < 1_000
    shown = pl.when(small).then(cs.float().round_sig_figs(4)).otherwise(cs.float().round(0))
    return frame.with_columns(shown)


def lines(frame: pl.DataFrame, x: str, y: str, by: str = "", **look: Unpack[Look]) -> "ConcatChart":
    """Draw a figure along settings: a line, in the band of ``low`` and ``high`` if there are such.

    The frame has a row for each setting ``x``, a number or a name, and each value of ``by``, which
    is a line.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> gains = pl.DataFrame({"tasks": [1, 8, 64], "gain": [0.5, 20.0, 40.0]})
    >>> charts.lines(gains, "tasks", "gain", log="x", title="Gain", words={"gain": "gain, %"})
    alt.ConcatChart(...)
    """
    names = not frame[x].dtype.is_numeric()
    ranged = {"low", "high"} <= set(frame.columns)

    def draw(every: Any, rows: pl.DataFrame, look: Look) -> list[Any]:
        at, end = (_figure("y", column, look, y) for column in (y, "low"))
        every = every.encode(
            x=_settings(rows if names else frame, x, look), color=_colour(frame, by, look)
        )
        marks = []
        if ranged:
            rule, area = {"strokeWidth": 4, "opacity": 0.35}, {"opacity": 0.18}
            ends = every.mark_rule(**rule) if names else every.mark_area(**area)
            marks.append(ends.encode(y=end, y2="high:Q"))
        line = every.mark_line(strokeWidth=2.2).encode(y=at)
        if by and (dashes := colours.dashes(frame[by])):
            line = line.encode(strokeDash=_scaled(by, dashes, legend=None))
        marks.append(line)
        if frame[x].n_unique() <= _MOST_DOTS:
            marks.append(every.mark_point(filled=True, size=45, opacity=1).encode(y=at))
        return marks + _written(every.encode(y=at), y, look, dy=-12)

    return _chart(frame, [x, y, by, *_ENDS], draw, look, "y", by, "" if names else "x")


def dots(
    frame: pl.DataFrame,
    x: str,
    row: str,
    by: str = "",
    *,
    apart: bool = False,
    **look: Unpack[Look],
) -> "ConcatChart":
    """Draw a figure of each item as a dot, in its interval from ``low`` to ``high`` if it has one.

    The frame has a row for each item ``row``, and each value of ``by``, which is a colour; with
    ``apart`` they stand below each other. A figure that is null has an interval alone.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> gains = pl.DataFrame({"policy": ["percpu", "spread"], "gain": [15.9, 17.0]})
    >>> charts.dots(gains.with_columns(low=14.0, high=18.0), "gain", "policy")
    alt.ConcatChart(...)
    """

    def draw(base: Any, rows: pl.DataFrame, look: Look) -> list[Any]:
        at, end = (_figure("x", column, look, x) for column in (x, "low"))
        base = base.encode(y=_names(rows, row, **_ITEMS), color=_colour(frame, by, look))
        if apart:
            base = base.encode(yOffset=_names(frame, by))
        marks = []
        if {"low", "high"} <= set(frame.columns):
            marks.append(base.mark_rule(strokeWidth=5, opacity=0.45).encode(x=end, x2="high:Q"))
        marks.append(base.mark_point(filled=True, size=65, opacity=1).encode(x=at))
        return marks + _written(base.encode(x=at), x, look, dy=-11)

    step = {"step": 36 if "figures" in look else 26}  # a figure above its dot needs room
    return _chart(frame, [row, x, by, *_ENDS], draw, look, "x", by, "x", height=step)


def bars(
    frame: pl.DataFrame, x: str, row: str, by: str = "", **look: Unpack[Look]
) -> "ConcatChart":
    """Draw a figure of each item as a bar, stacked of its parts if ``by`` names them.

    The frame has a row for each item and part; parts are stacked in its order. One that is zero
    everywhere is in no legend.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> held = pl.DataFrame({"kernel": ["4.8", "6.1"], "pages": [1.0, 9.5]})
    >>> charts.bars(held, "pages", "kernel", words={"pages": "pages a hold"})
    alt.ConcatChart(...)
    """
    shown = look.get("colour") or colours.of(_distinct(frame, by) if by else [])
    colour = _colour(frame.filter(pl.col(x).ne_missing(0)), by, {**look, "colour": shown})

    def draw(base: Any, rows: pl.DataFrame, look: Look) -> list[Any]:
        data = rows.with_columns(nth=_place(frame, by))
        base = base.properties(data=data).encode(
            x=_figure("x", x, look), y=_names(rows, row, **_ITEMS), color=colour
        )
        marks = [base.mark_bar(height={"band": 0.8}).encode(order="nth:Q")]
        for sign, align in ((1, "left"), (-1, "right")):
            if (part := data.filter((pl.col(x) >= 0) == (sign > 0))).height:
                marks += _written(base.properties(data=part), x, look, align=align, dx=4 * sign)
        return marks

    return _chart(frame, [row, x, by], draw, look, "x", by, height={"step": 30})


def areas(frame: pl.DataFrame, x: str, y: str, by: str, **look: Unpack[Look]) -> "ConcatChart":
    """Draw the parts ``by`` of a figure over time ``x``, stacked in the order of the frame.

    The frame has a row for each time and part.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> held = pl.DataFrame({"s": [0, 0, 1, 1], "list": ["free", "full"] * 2, "n": [9, 0, 4, 5]})
    >>> charts.areas(held, "s", "n", "list", words={"n": "clusters"})
    alt.ConcatChart(...)
    """

    def draw(base: Any, rows: pl.DataFrame, look: Look) -> list[Any]:
        data = rows.with_columns(nth=_place(frame, by))
        axis = {"tickCount": 4, "format": "~s"}
        along = _number(x, title=_word(look, x), axis=axis)
        marks = (
            base.properties(data=data)
            .mark_area(opacity=1)
            .encode(
                x=along,
                y=_figure("y", y, look) | {"stack": "zero"},
                color=_colour(frame, by, look),
                order="nth:Q",
            )
        )
        return [marks]

    return _chart(frame, [x, y, by], draw, look, "y", by, "x", width=220, height=200)


def heat(frame: pl.DataFrame, x: str, y: str, value: str, **look: Unpack[Look]) -> "ConcatChart":
    """Draw a matrix of two settings, whose cells a figure colours.

    The frame has a row for each cell. Figures are coloured from ``domain``'s one end to its other
    one; default: from zero as far to both sides.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> cells = pl.DataFrame({"cpus": [8, 8], "fill": ["50 %", "90 %"], "gain": [2.0, 70.0]})
    >>> charts.heat(cells, "fill", "cpus", "gain", figures=".0f")
    alt.ConcatChart(...)
    """
    greatest = float(frame[value].abs().max() or 1.0)  # type: ignore[arg-type]
    pale, high = look.get("domain", (0.0, greatest))
    ends, shades = [pale, high], ["#f5f5f5", colours.PATCHED]
    if "domain" not in look:
        ends, shades = [-high, *ends], [colours.UNPATCHED, *shades]
    colour = _number(value, title=_word(look, value), scale={"domain": ends, "range": shades})
    test = f"abs(datum['{value}'] - {pale}) > {0.6 * (high - pale)}"
    ink = {"condition": {"test": test, "value": "white"}, "value": "black"}
    bottom = {"labelAngle": 0, "domain": False, "ticks": False, "orient": "bottom"}

    def draw(base: Any, rows: pl.DataFrame, look: Look) -> list[Any]:
        along = _names(frame, x, title=_title(look, x), axis=bottom)
        down = _names(rows, y, **_ITEMS | {"title": _title(look, y)})
        base = base.encode(x=along, y=down)
        marks = [base.mark_rect(opacity=1).encode(color=colour)]
        if "figures" in look:
            word = _number(value, format=look["figures"])
            marks.append(base.mark_text(fontSize=10).encode(text=word, color=ink))
        return marks

    width = 58 * frame[x].n_unique()
    return _chart(frame, [x, y, value], draw, look, "", width=width, height={"step": 26})


def points(
    frame: pl.DataFrame,
    x: str,
    y: str,
    by: str = "",
    *,
    label: str = "",
    size: int = 60,
    **look: Unpack[Look],
) -> "ConcatChart":
    """Draw items in a plane, each with the intervals of its figures.

    The frame has a row for each item; ``X_low, X_high, Y_low, Y_high`` are the ends of intervals of
    the columns X and Y, if there are such. ``label`` has the text at an item, or null; ``size`` is
    the area of a point in pixels.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> rules = pl.DataFrame({"rule": ["a", "b"], "moved": [0.2, 0.9], "run": [3.1, 1.2]})
    >>> charts.points(rules, "moved", "run", "rule", label="rule")
    alt.ConcatChart(...)
    """
    ranges = [f"{each}_{end}" for each in (x, y) for end in _ENDS]

    def draw(plain: Any, rows: pl.DataFrame, look: Look) -> list[Any]:
        # With a label at each item there is no legend.
        base = plain.encode(color=_colour(frame, by, look, plain=bool(label)))
        axes = {"x": (x, look.get("format", "")), "y": (y, "")}
        at = {
            letter: _number(
                column,
                title=_word(look, column),
                scale={"zero": False, "padding": 8},
                axis={"tickCount": 5, **({"format": form} if form else {})},
            )
            for letter, (column, form) in axes.items()
        }
        marks = []
        for letter, column in (("x", x), ("y", y)):
            if f"{column}_low" in frame.columns:
                low = _number(f"{column}_low", title=_word(look, column))
                ends = {letter: low, f"{letter}2": f"{column}_high:Q"}
                marks.append(base.mark_rule(strokeWidth=2, opacity=0.45).encode(**at | ends))
        marks.append(base.mark_point(size=size, filled=True, opacity=1).encode(**at))
        middle = (float(frame[x].min()) + float(frame[x].max())) / 2  # type: ignore[arg-type]
        for align, sign in (("right", -1), ("left", 1)) if label else ():
            part = rows.drop_nulls(label).filter((pl.col(x) > middle) == (sign < 0))
            side = {"align": align, "dx": 9 * sign, "dy": -8, "fontSize": 11}
            text = plain.properties(data=part).mark_text(**side)
            marks.append(text.encode(text=f"{label}:N", **at))
        return marks

    chosen = "" if label else by
    return _chart(frame, [x, y, by, label, *ranges], draw, look, "x", chosen, "xy", height=300)


def _chart(
    frame: pl.DataFrame,
    used: Sequence[str],
    draw: Callable[[Any, pl.DataFrame, Look], list[Any]],
    look: Look,
    measure: str,
    by: str = "",
    zoom: str = "",
    **size: Any,
) -> "ConcatChart":
    """Return the panels of a frame: columns used, axis of figures, legend, axes that zoom."""
    alt = altair()
    if not 0 < frame.height <= MOST_ROWS:
        raise InputError(f"a chart of {frame.height:,} rows: give 1 to {MOST_ROWS:,} rows")
    name, words = look.get("panel", ""), look.get("words", {})
    columns = [each for each in dict.fromkeys([name, *used, *words]) if each in frame.columns]
    frame = frame.select(columns).with_columns(cs.float().round_sig_figs(6))
    choice = None
    if by and frame[by].n_unique() > 1:
        choice = alt.selection_point(name="chosen", fields=[by], bind="legend")
    panels = []
    for nth, value in enumerate(_distinct(frame, name) if name else [""]):
        own = frame.filter(pl.col(name).cast(pl.String) == value) if name else frame
        of: Look = {
            **look,
            "words": {key: word.replace("{}", value) for key, word in words.items()},
        }
        marks = draw(alt.Chart(own), own, of)
        marks = [_interactive(mark, frame, by, of, chosen=choice is not None) for mark in marks]
        if choice is not None and not nth:
            marks[0] = marks[0].add_params(choice)
        if zoom:
            moved = f"moved_{nth}" if look.get("own_axes") else "moved"
            axes: Any = {"encodings": list(zoom), "zoom": _WITH_CTRL}
            marks[0] = marks[0].add_params(
                alt.selection_interval(name=moved, bind="scales", **axes)
            )
        # By altair a mark with a parameter has a name that depends on earlier charts.
        marks[0] = marks[0].properties(name=f"mark_{nth}")
        sized = {name: look.get(name, of_all) for name, of_all in (_SIZE | size).items()}
        layers = alt.layer(*_grounds(measure, look), *marks).properties(**sized)
        headed = name and not any("{}" in word for word in words.values())
        above = {"text": value, "fontSize": 12, "frame": "group"}
        panels.append(layers.properties(title=above) if headed else layers)
    shared = {} if look.get("own_axes") or not measure or not name else {measure: "shared"}
    chart = alt.concat(*panels, columns=look.get("columns", len(panels))).resolve_scale(**shared)
    title = {"text": look.get("title", ""), "subtitle": look.get("subtitle", "")}
    made: ConcatChart = chart.properties(title=title, description=_described(frame, look))
    return made


def _described(frame: pl.DataFrame, look: Look) -> str:
    """Return the alternative text: the title, then the ends or the first names of each column."""
    texts = [look["title"]] if "title" in look else []
    for column in frame.columns:
        values = frame[column].drop_nulls().unique(maintain_order=True)
        listed = ", ".join(map(str, values.head(8)))
        if values.dtype.is_numeric() and values.len():
            listed = "{:,.6g} to {:,.6g}".format(*values.sort().gather([0, -1]))
        texts.append(f"{_word(look, column)}: {listed}")
    return "".join(f"{text}. " for text in texts).strip()


def _interactive(mark: Any, frame: pl.DataFrame, by: str, look: Look, *, chosen: bool) -> Any:
    """Give a mark a tooltip of its columns, and make it faint if another one is chosen."""
    kind, tips = mark.mark.to_dict(), []
    for name in [by] * bool(by) if kind["type"] in ("line", "area") else frame.columns:
        tip = {"field": name, "type": "nominal", "title": _word(look, name)}
        if frame[name].dtype.is_numeric():
            large = (frame[name].abs() >= 1_000).any()
            tip |= {"type": "quantitative", "format": ",.0f" if large else ".4~r"}
        tips.append(tip)
    strong = kind.get("opacity", 1.0)
    when = [{"param": "chosen", "value": strong}]
    faint = {"opacity": {"condition": when, "value": round(0.12 * strong, 3)}}
    return mark.encode(tooltip=tips or {"value": None}, **faint if chosen else {})


def _grounds(measure: str, look: Look) -> list[Any]:
    """Return what lies below the marks: a band, a rule, and the line of zero."""
    low, high = look.get("band", (None, None))
    ends = pl.DataFrame({"at": [low], "to": [high]})
    band = altair().Chart(ends).mark_rect(color=colours.FAINT, tooltip=None)
    marks = [band.encode(**{measure: "at:Q", f"{measure}2": "to:Q"})] if "band" in look else []
    zero = 0.0 if look.get("zero") else None
    for at, colour in ((look.get("rule"), colours.PUBLISHED), (zero, "#888")):
        if at is not None:
            rule = altair().Chart(pl.DataFrame({"at": [at]})).mark_rule(color=colour, tooltip=None)
            marks.append(rule.encode(**{measure: "at:Q"}))
    return marks


def _number(column: str, **more: Any) -> dict[str, Any]:
    return {"field": column, "type": "quantitative", **more}


def _figure(letter: str, column: str, look: Look, words_of: str = "") -> dict[str, Any]:
    """Return the axis of figures."""
    scale: dict[str, Any] = {"type": "log"} if letter in look.get("log", "") else {}
    axis = {"tickCount": 5, **({"format": look["format"]} if "format" in look else {})}
    if "domain" in look:
        scale |= {"domain": list(look["domain"]), "nice": False}
    if "figures" in look and letter == "y":
        scale |= {"padding": 18}
    return _number(column, title=_word(look, words_of or column), scale=scale, axis=axis)


def _settings(frame: pl.DataFrame, x: str, look: Look) -> dict[str, Any]:
    """Return an axis of names, or of numbers with a tick at each setting."""
    if not frame[x].dtype.is_numeric():
        angle = -45 if sum(map(len, _distinct(frame, x))) > 30 else 0
        return _names(frame, x, title=_title(look, x), axis={"labelAngle": angle})
    values = frame[x].unique().sort().to_list()
    few = len(values) <= _MOST_TICKS
    axis: dict[str, Any] = {"labelExpr": _PLAIN, **({} if few else {"tickCount": 5})}
    scale: dict[str, Any] = {"nice": False, "padding": 12}
    if "x" in look.get("log", ""):
        scale |= {"type": "log", "base": 2}
        axis |= {"values": values} if few else {}
    else:
        scale |= {"zero": False}
    return _number(x, title=_word(look, x), scale=scale, axis=axis)


def _names(frame: pl.DataFrame, column: str, **more: Any) -> dict[str, Any]:
    """Return an axis of names in the order of the frame."""
    return {"field": column, "type": "nominal", "sort": _distinct(frame, column), **more}


def _colour(frame: pl.DataFrame, by: str, look: Look, *, plain: bool = False) -> dict[str, Any]:
    """Return the colour of a column's values, with a legend if there are several."""
    if not by:
        return {"value": colours.PATCHED}
    names = _distinct(frame, by)
    shown = look.get("colour") or colours.of(names)
    values = dict(zip(names, frame[by].unique(maintain_order=True), strict=True))
    present = {values[name]: shade for name, shade in shown.items() if name in values}
    legend = None if plain or len(present) < 2 else {"symbolOpacity": 1}
    return _scaled(by, present, legend=legend, title=_title(look, by))


def _scaled(column: str, shown: Mapping[Any, Any], **more: Any) -> dict[str, Any]:
    scale = {"domain": list(shown), "range": list(shown.values())}
    return {"field": column, "type": "nominal", "scale": scale, **more}


def _written(base: Any, column: str, look: Look, **place: Any) -> list[Any]:
    """Return the figures next to their marks, if they are wanted."""
    if "figures" not in look:
        return []
    text = _number(column, format=look["figures"])
    return [base.mark_text(fontSize=11, **place).encode(text=text, color={"value": _PAGE})]


def _place(frame: pl.DataFrame, by: str) -> pl.Expr:
    of = pl.col(by).cast(pl.String)
    return of.cast(pl.Enum(_distinct(frame, by))).to_physical() if by else pl.lit(0)


def _distinct(frame: pl.DataFrame, column: str) -> list[str]:
    names: list[str] = frame[column].cast(pl.String).unique(maintain_order=True).to_list()
    return names


def _word(look: Look, column: str) -> str:
    return _title(look, column) or _ENDS.get(column) or column.replace("_", " ")


def _title(look: Look, column: str) -> str | None:
    return look.get("words", {}).get(column) or None  # names without words need none


@cache
def altair() -> Any:
    """Return altair with the theme."""
    import altair as alt

    alt.theme.register("swapsim", enable=True)(lambda: alt.theme.ThemeConfig(config=_CONFIG))  # type: ignore[typeddict-item]
    return alt


def _shown(spec: dict[str, Any], **_: object) -> tuple[dict[str, object], dict[str, object]]:
    """Return a chart's output in a notebook, and the metadata of its parts."""
    title = spec.get("title") or "chart"
    text = title.get("text", "chart") if isinstance(title, dict) else title
    as_svg = {"usermeta": {"embedOptions": {"renderer": "svg"}}}
    data = {MIME: plain_numbers(of_version(spec, "5") | as_svg), "text/plain": f"<chart: {text}>"}
    if os.environ.get("SWAPSIM_PICTURES") != "no":
        data["image/png"] = base64.b64encode(png(spec)).decode()
    return data, {"image/png": {"alt": spec.get("description", text)}}


def png(spec: Mapping[str, Any]) -> bytes:
    """Return the picture of a chart's Vega-Lite (``chart.to_dict()``), black on white.

    A palette of 64 colours gives a tenth of the renderer's bytes, and keeps rare ones of a legend.
    """
    import vl_convert
    from PIL import Image

    drawn = vl_convert.vegalite_to_png(of_version(spec) | _WHITE, VEGA_LITE, scale=1.5)
    made, cover = io.BytesIO(), Image.Quantize.MAXCOVERAGE
    with Image.open(io.BytesIO(drawn)) as picture:
        few = picture.convert("RGB").quantize(64, cover, kmeans=1, dither=Image.Dither.NONE)
        few.save(made, "PNG", optimize=True, dpi=picture.info.get("dpi", (72, 72)))
    return made.getvalue()


def rendered(chart: "TopLevelMixin", suffix: str) -> bytes:
    """Return a chart's file by its suffix: .html, which works offline, .svg or .png."""
    import vl_convert

    spec = of_version(chart.to_dict())
    if suffix == ".html":
        page = vl_convert.vegalite_to_html(spec, VEGA_LITE, bundle=True, renderer="svg")
        return str(page).encode()
    if suffix == ".svg":
        return vl_convert.vegalite_to_svg(spec | _WHITE, vl_version=VEGA_LITE).encode()
    if suffix == ".png":
        return png(spec)
    raise InputError(f"no chart is written as {suffix!r}: choose .html, .svg or .png")


def of_version(spec: Mapping[str, Any], version: str = VEGA_LITE) -> dict[str, Any]:
    """Return a chart's Vega-Lite with the schema of a major version, in place of altair's."""
    schema = f"https://vega.github.io/schema/vega-lite/v{version[0]}.json"
    return {**spec, "$schema": schema}


def plain_numbers(value: Any) -> Any:
    """Return JSON as a browser writes it, with 1 for 1.0, so that a saved notebook is the same."""
    if isinstance(value, dict):
        return {name: plain_numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain_numbers(each) for each in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e21
    return int(value) if whole else value
