# SPDX-License-Identifier: GPL-2.0-or-later
"""The six charts: a frame in long form, the columns on its axes, and words for them.

Items, panels and colours have the order of the frame. Rows are drawn as they are. All charts have
tooltips, a legend that selects, numeric axes that zoom, and an alternative text.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

import polars as pl
import polars.selectors as cs

from swapsim.charts import colours
from swapsim.charts.theme import altair
from swapsim.errors import InputError

if TYPE_CHECKING:
    from altair import ConcatChart

MOST_ROWS: Final = 5_000
"""Rows of a chart: what altair takes, and less than 1 MB."""

_MOST_DOTS: Final = 60  # settings of a line with a dot at each
_MOST_TICKS: Final = 12  # settings with a tick each
_MOST_NAMES: Final = 8  # in an alternative text
_ENDS: Final = {"low": "from", "high": "to"}
_WITH_CTRL: Final = "wheel![event.ctrlKey || event.metaKey]"  # without a key it scrolls the page


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
    log: str  # axes: "x", "y", "xy"; one of figures with ``zero`` is linear up to 1
    domain: tuple[float, float]  # ends of the axis of figures; default: those of the data
    format: str  # of the axis of figures, by d3
    figures: str  # format of figures next to their marks; default: none
    zero: bool  # a line at zero
    tight: bool  # the axis of figures begins near the least one
    band: tuple[float, float]  # a grey ground
    rule: float  # a line, red as published figures are, or of ``rule_colour``
    rule_colour: str
    colour: Mapping[str, str]  # of values; default: `colours.of`


def lines(
    frame: pl.DataFrame, x: str, y: str, by: str = "", *, tick: str = "", **look: Unpack[Look]
) -> "ConcatChart":
    """Draw a figure along settings: a line, in the band of ``low`` and ``high`` if there are such.

    The frame has a row for each setting ``x``, a number or a name, and each value of ``by``, which
    is a line. ``tick`` has texts for the ticks of x; one without a digit is a setting of its own,
    which no line joins. ``look`` is that of `Look`.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> gains = pl.DataFrame({"tasks": [1, 8, 64], "gain": [0.5, 20.0, 40.0]})
    >>> charts.lines(gains, "tasks", "gain", log="x", title="Gain", words={"gain": "gain, %"})
    alt.ConcatChart(...)
    """
    alt = altair()
    names = not frame[x].dtype.is_numeric()
    ranged = {"low", "high"} <= set(frame.columns)

    def draw(rows: pl.DataFrame, look: Look) -> list[Any]:
        at, end = (_figure("y", column, _word(look, y), look) for column in (y, "low"))
        along = _settings(rows if names else frame, x, tick, look)
        every = alt.Chart(rows).encode(x=along, color=_colour(frame, by, look))
        joined, alone = every, None
        if tick and not (numbered := rows[tick].str.contains(r"\d")).all():
            joined, alone = every.properties(data=rows.filter(numbered)), rows.filter(~numbered)
        marks = []
        if ranged and names:
            marks.append(every.mark_rule(strokeWidth=4, opacity=0.35).encode(y=end, y2="high:Q"))
        elif ranged:
            marks.append(joined.mark_area(opacity=0.18).encode(y=end, y2="high:Q"))
            if alone is not None:
                spans = every.properties(data=alone).mark_rule(strokeWidth=4, opacity=0.3)
                marks.append(spans.encode(y=end, y2="high:Q"))
        line = joined.mark_line(strokeWidth=2.2).encode(y=at)
        if by and (dashes := colours.dashes(frame[by])):
            line = line.encode(strokeDash=_scaled(alt.StrokeDash, by, dashes, None))
        marks.append(line)
        if frame[x].n_unique() <= _MOST_DOTS:
            marks.append(every.mark_point(filled=True, size=45, opacity=1).encode(y=at))
        return marks + _written(every.encode(y=at), y, look, dy=-12)

    return _chart(frame, [x, y, by, tick, *_ENDS], draw, look, "y", by, "" if names else "x")


def dots(
    frame: pl.DataFrame,
    x: str,
    row: str,
    by: str = "",
    *,
    published: str = "",
    apart: bool = False,
    **look: Unpack[Look],
) -> "ConcatChart":
    """Draw a figure of each item as a dot, in its interval from ``low`` to ``high`` if it has one.

    The frame has a row for each item ``row``, and each value of ``by``, which is a colour; with
    ``apart`` they stand below each other. A figure that is null has an interval alone.
    ``published`` has the published figure of an item, drawn as a tick. ``look`` is that of `Look`.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> gains = pl.DataFrame({"policy": ["percpu", "spread"], "gain": [15.9, 17.0]})
    >>> charts.dots(gains.with_columns(low=14.0, high=18.0), "gain", "policy")
    alt.ConcatChart(...)
    """
    alt = altair()

    def draw(rows: pl.DataFrame, look: Look) -> list[Any]:
        at, end = (_figure("x", column, _word(look, x), look) for column in (x, "low"))
        base = alt.Chart(rows).encode(y=_rows(rows, row), color=_colour(frame, by, look))
        if apart:
            base = base.encode(yOffset=alt.YOffset(f"{by}:N", sort=_distinct(frame, by)))
        marks = []
        if {"low", "high"} <= set(frame.columns):
            marks.append(base.mark_rule(strokeWidth=5, opacity=0.45).encode(x=end, x2="high:Q"))
        marks.append(base.mark_point(filled=True, size=65, opacity=1).encode(x=at))
        if published:
            tick = base.mark_tick(thickness=3, size=16)
            red = alt.value(colours.PUBLISHED)
            marks.append(tick.encode(x=_figure("x", published, _word(look, x), look), color=red))
        return marks + _written(base.encode(x=at), x, look, dy=-11)

    # A figure above its dot needs room.
    step = 36 if "figures" in look else 26
    return _chart(frame, [row, x, by, published, *_ENDS], draw, look, "x", by, "x", height=step)


def bars(
    frame: pl.DataFrame, x: str, row: str, by: str = "", **look: Unpack[Look]
) -> "ConcatChart":
    """Draw a figure of each item as a bar, stacked of its parts if ``by`` names them.

    The frame has a row for each item and part; parts are stacked in its order. One that is zero
    everywhere is in no legend. ``look`` is that of `Look`.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> held = pl.DataFrame({"kernel": ["4.8", "6.1"], "pages": [1.0, 9.5]})
    >>> charts.bars(held, "pages", "kernel", words={"pages": "pages a hold"})
    alt.ConcatChart(...)
    """
    alt = altair()
    parts = _distinct(frame, by) if by else []
    shown: Look = {**look, "colour": look.get("colour") or colours.of(parts)}
    colour = _colour(frame.filter(pl.col(x).ne_missing(0)), by, shown)

    def draw(rows: pl.DataFrame, look: Look) -> list[Any]:
        data = rows.with_columns(nth=_place(by, parts))
        at = _figure("x", x, _word(look, x), look)
        base = alt.Chart(data).encode(x=at, y=_rows(rows, row), color=colour)
        marks = [base.mark_bar(height={"band": 0.8}).encode(order="nth:Q")]
        for sign, align in ((1, "left"), (-1, "right")):
            if (part := data.filter((pl.col(x) >= 0) == (sign > 0))).height:
                side = {"align": align, "dx": 4 * sign}
                marks += _written(base.properties(data=part), x, look, **side)
        return marks

    return _chart(frame, [row, x, by], draw, look, "x", by, height=30)


def areas(frame: pl.DataFrame, x: str, y: str, by: str, **look: Unpack[Look]) -> "ConcatChart":
    """Draw the parts ``by`` of a figure over time ``x``, stacked in the order of the frame.

    The frame has a row for each time and part. ``look`` is that of `Look`.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> held = pl.DataFrame({"s": [0, 0, 1, 1], "list": ["free", "full"] * 2, "n": [9, 0, 4, 5]})
    >>> charts.areas(held, "s", "n", "list", words={"n": "clusters"})
    alt.ConcatChart(...)
    """
    alt = altair()

    def draw(rows: pl.DataFrame, look: Look) -> list[Any]:
        base = alt.Chart(rows.with_columns(nth=_place(by, _distinct(frame, by))))
        marks = base.mark_area(opacity=1).encode(
            x=alt.X(f"{x}:Q", title=_word(look, x), axis=alt.Axis(tickCount=4, format="~s")),
            y=_figure("y", y, _word(look, y), look, stack="zero"),
            color=_colour(frame, by, look),
            order="nth:Q",
        )
        return [marks]

    return _chart(frame, [x, y, by], draw, look, "y", by, "x", width=220, height=200)


def heat(
    frame: pl.DataFrame, x: str, y: str, value: str, *, text: str = "", **look: Unpack[Look]
) -> "ConcatChart":
    """Draw a matrix of two settings, whose cells a figure or a kind colours.

    The frame has a row for each cell. Figures are coloured from ``domain``'s one end to its other
    one; default: from zero as far to both sides. ``text`` has the text of a cell; default: the
    figure by ``figures``. ``look`` is that of `Look`.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> cells = pl.DataFrame({"cpus": [8, 8], "fill": ["50 %", "90 %"], "gain": [2.0, 70.0]})
    >>> charts.heat(cells, "fill", "cpus", "gain", figures=".0f")
    alt.ConcatChart(...)
    """
    alt = altair()
    kinds = not frame[value].dtype.is_numeric()
    if kinds:
        colour = _colour(frame, value, look)
        shown = look.get("colour") or colours.of(_distinct(frame, value))
        faint = [name for name, shade in shown.items() if shade == colours.FAINT]
        # A faint cell has the page's ground, dark or not, so its text is the page's.
        within = alt.FieldOneOfPredicate(value, faint)
        ink = alt.condition(within, alt.value("currentColor"), alt.value("black"))
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

    def draw(rows: pl.DataFrame, look: Look) -> list[Any]:
        base = alt.Chart(rows).encode(x=along, y=_rows(rows, y, _title(look, y)))
        marks = [base.mark_rect(opacity=1).encode(color=colour)]
        if text or "figures" in look:
            word = alt.Text(f"{text}:N") if text else alt.Text(f"{value}:Q", format=look["figures"])
            marks.append(base.mark_text(fontSize=10).encode(text=word, color=ink))
        return marks

    of, by, wide = [x, y, value, text], value if kinds else "", 58 * len(columns)
    return _chart(frame, of, draw, look, "", by, width=wide, height=26)


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
    the area of a point in pixels. ``look`` is that of `Look`.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import charts
    >>> rules = pl.DataFrame({"rule": ["a", "b"], "moved": [0.2, 0.9], "run": [3.1, 1.2]})
    >>> charts.points(rules, "moved", "run", "rule", label="rule")
    alt.ConcatChart(...)
    """
    alt = altair()
    ranges = [f"{each}_{end}" for each in (x, y) for end in _ENDS]

    def draw(rows: pl.DataFrame, look: Look) -> list[Any]:
        # With a label at each item there is no legend.
        base = alt.Chart(rows).encode(color=_colour(frame, by, look, plain=bool(label)))
        flat = alt.Scale(zero=not look.get("tight"), padding=8)
        axis = alt.Axis(tickCount=5, format=look.get("format", ""))
        at_x = alt.X(f"{x}:Q", scale=flat, title=_word(look, x), axis=axis)
        at_y = _figure("y", y, _word(look, y), {"tight": look.get("tight", False)})
        span, marks = base.mark_rule(strokeWidth=2, opacity=0.45), []
        if f"{x}_low" in frame.columns:
            low = alt.X(f"{x}_low:Q", title=_word(look, x))
            marks.append(span.encode(x=low, x2=f"{x}_high:Q", y=at_y))
        if f"{y}_low" in frame.columns:
            least = alt.Y(f"{y}_low:Q", title=_word(look, y))
            marks.append(span.encode(x=at_x, y=least, y2=f"{y}_high:Q"))
        marks.append(base.mark_point(size=size, filled=True, opacity=1).encode(x=at_x, y=at_y))
        middle = (float(frame[x].min()) + float(frame[x].max())) / 2  # type: ignore[arg-type]
        for align, sign in (("right", -1), ("left", 1)) if label else ():
            part = rows.drop_nulls(label).filter((pl.col(x) > middle) == (sign < 0))
            side = {"align": align, "dx": 9 * sign, "dy": -8, "fontSize": 11}
            text = alt.Chart(part).mark_text(**side)
            marks.append(text.encode(x=at_x, y=at_y, text=f"{label}:N"))
        return marks

    chosen = "" if label else by
    return _chart(frame, [x, y, by, label, *ranges], draw, look, "x", chosen, "xy", height=300)


def _chart(
    frame: pl.DataFrame,
    used: Sequence[str],
    draw: Callable[[pl.DataFrame, Look], list[Any]],
    look: Look,
    measure: str,
    by: str = "",
    zoom: str = "",
    *,
    width: int = 480,
    height: int = 240,
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
        named = {column: word.replace("{}", value) for column, word in words.items()}
        of: Look = {**look, "words": named}
        marks = [_interactive(mark, frame, by, of, choice) for mark in draw(own, of)]
        if choice is not None and not nth:
            marks[0] = marks[0].add_params(choice)
        if zoom:
            moved = f"moved_{nth}" if look.get("own_axes") else "moved"
            axes: Any = {"encodings": list(zoom), "zoom": _WITH_CTRL}
            interval = alt.selection_interval(name=moved, bind="scales", **axes)
            marks[0] = marks[0].add_params(interval)
        # By altair a mark with a parameter has a name that depends on earlier charts.
        marks[0] = marks[0].properties(name=f"mark_{nth}")
        layers = alt.layer(*_grounds(measure, look), *marks).properties(
            width=look.get("width", width),
            height=look.get("height", height if height > 99 else alt.Step(height)),
        )
        headed = name and not any("{}" in word for word in words.values())
        title = alt.TitleParams(value, fontSize=12, frame="group")
        panels.append(layers.properties(title=title) if headed else layers)
    shared = {} if look.get("own_axes") or not measure or not name else {measure: "shared"}
    chart = alt.concat(*panels, columns=look.get("columns", len(panels))).resolve_scale(**shared)
    title = alt.TitleParams(look.get("title", ""), subtitle=look.get("subtitle", ""))
    made: ConcatChart = chart.properties(title=title, description=_described(frame, look))
    return made


def _described(frame: pl.DataFrame, look: Look) -> str:
    """Return the alternative text: titles, then the range or the names of each column."""
    below = look.get("subtitle", "")
    texts = [look.get("title", ""), *([below] if isinstance(below, str) else below)]
    for column in frame.columns:
        if column.rpartition("_")[2] in _ENDS:
            continue
        values = frame[column].drop_nulls().unique(maintain_order=True)
        if values.dtype.is_numeric():
            ends = [float(end) for end in (values.min(), values.max()) if end is not None]  # type: ignore[arg-type]
            words = [f"{end:,.{'0f' if abs(end) >= 10_000 else '4g'}}" for end in ends]
            listed = " to ".join(dict.fromkeys(words))
        else:
            more = values.len() - _MOST_NAMES
            listed = ", ".join(" ".join(str(name).split()) for name in values[:_MOST_NAMES])
            listed += f" and {more} more" * (more > 0)
        word = _word(look, column)
        texts.append(f"{column if '{}' in word else word.strip() or column}: {listed}")
    return " ".join(f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in texts if text)


def _interactive(mark: Any, frame: pl.DataFrame, by: str, look: Look, choice: Any) -> Any:
    """Give a mark a tooltip of its columns, and make it faint if another one is chosen."""
    alt = altair()
    tips = []
    for name in [by] * bool(by) if mark.mark.type in ("line", "area") else frame.columns:
        values, title = frame[name], _word(look, name)
        if not values.dtype.is_numeric():
            tips.append(alt.Tooltip(f"{name}:N", title=title))
            continue
        whole = bool((values.drop_nulls() % 1 == 0).all())
        form = ",d" if whole else ",.0f" if (values.abs() >= 10_000).any() else ",.4~r"
        tips.append(alt.Tooltip(f"{name}:Q", title=title, format=form))
    tipped = mark.encode(tooltip=tips or alt.value(None))
    if choice is None:
        return tipped
    strong = 1.0 if mark.mark.opacity is alt.Undefined else mark.mark.opacity
    faint = alt.value(round(0.12 * strong, 3))
    return tipped.encode(opacity=alt.when(choice).then(alt.value(strong)).otherwise(faint))


def _grounds(measure: str, look: Look) -> list[Any]:
    """Return what lies below the marks: a band, a rule, and the line of zero."""
    alt = altair()
    marks = []
    if "band" in look:
        low, high = look["band"]
        ground = alt.Chart(pl.DataFrame({"from": [low], "to": [high]}))
        ends = {measure: "from:Q", f"{measure}2": "to:Q"}
        marks.append(ground.mark_rect(color=colours.FAINT, tooltip=None).encode(**ends))
    red = look.get("rule_colour", colours.PUBLISHED)
    for at, colour in ((look.get("rule"), red), (0.0 if look.get("zero") else None, "#888")):
        if at is not None:
            rule = alt.Chart(pl.DataFrame({"at": [at]})).mark_rule(color=colour, tooltip=None)
            marks.append(rule.encode(**{measure: "at:Q"}))
    return marks


def _figure(letter: str, column: str, title: Any, look: Look, **more: Any) -> Any:
    """Return the axis of figures."""
    alt = altair()
    scale: dict[str, Any] = {}
    axis = alt.Axis(format=look.get("format", alt.Undefined), tickCount=5)
    if letter in look.get("log", ""):
        scale = {"type": "symlog" if look.get("zero") else "log"}
    if scale.get("type") == "symlog":
        if letter == "x":
            scale |= {"padding": 8, "nice": False}  # dots at both ends are drawn completely
        powers = [0, *(10**power for power in range(10))]
        axis = alt.Axis(values=powers, labelExpr="format(datum.value, '~s')")
    if "domain" in look:
        scale |= {"domain": list(look["domain"]), "nice": False}
    if look.get("tight"):
        scale |= {"zero": False, "padding": 8}
    elif "figures" in look and letter == "y":
        scale |= {"padding": 18}
    made = alt.X if letter == "x" else alt.Y
    return made(f"{column}:Q", title=title, scale=alt.Scale(**scale), axis=axis, **more)


def _settings(frame: pl.DataFrame, x: str, tick: str, look: Look) -> Any:
    """Return an axis of names, or of numbers with a tick at each setting."""
    alt = altair()
    if not frame[x].dtype.is_numeric():
        names = _distinct(frame, x)
        turned = alt.Axis(labelAngle=-45 if sum(map(len, names)) > 30 else 0)
        return alt.X(f"{x}:N", title=_title(look, x), sort=names, axis=turned)
    values = frame[x].unique().sort().to_list()
    # With a format, vega chooses the digits of a long axis, and writes 100 as 1e+2.
    plain = {"labelExpr": "format(datum.value, ',~r')", "tickCount": 5}
    axis: dict[str, Any] = plain if len(values) > _MOST_TICKS else {"format": ",~g"}
    scale: dict[str, Any] = {"zero": False, "nice": False, "padding": 12}
    if "x" in look.get("log", ""):
        scale = {"type": "log", "base": 2, "nice": False, "padding": 12}
        axis |= {"values": values} if len(values) <= _MOST_TICKS else {}
    if tick:
        said = dict(frame.select(x, tick).iter_rows())
        alone = {at: word for at, word in said.items() if not any(map(str.isdigit, word))}
        named = "".join(f"datum.value == {at} ? '{word}' : " for at, word in alone.items())
        number = "format(datum.value, datum.value < 10000 ? ',~g' : '.3~s')"
        axis = {"values": values, "labelExpr": named + number}
    return alt.X(f"{x}:Q", title=_word(look, x), scale=alt.Scale(**scale), axis=alt.Axis(**axis))


def _rows(frame: pl.DataFrame, row: str, title: str | None = None) -> Any:
    """Return the names of items from top to bottom."""
    alt = altair()
    axis = alt.Axis(labelLimit=440, domain=False, ticks=False)
    return alt.Y(f"{row}:N", title=title, sort=_distinct(frame, row), axis=axis)


def _colour(frame: pl.DataFrame, by: str, look: Look, *, plain: bool = False) -> Any:
    """Return the colour of a column's values, with a legend if there are several."""
    alt = altair()
    if not by:
        return alt.value(colours.PATCHED)
    names = _distinct(frame, by)
    shown = look.get("colour") or colours.of(names)
    values = dict(zip(names, frame[by].unique(maintain_order=True), strict=True))
    present = {values[name]: shade for name, shade in shown.items() if name in values}
    legend = None if plain or len(present) < 2 else alt.Legend(symbolOpacity=1)
    return _scaled(alt.Color, by, present, legend, title=_title(look, by))


def _scaled(channel: Any, column: str, shown: Mapping[Any, Any], legend: Any, **more: Any) -> Any:
    alt = altair()
    scale = alt.Scale(domain=list(shown), range=list(shown.values()))
    return channel(f"{column}:N", scale=scale, legend=legend, **more)


def _written(base: Any, column: str, look: Look, **place: Any) -> list[Any]:
    """Return the figures next to their marks, if they are wanted."""
    alt = altair()
    if "figures" not in look:
        return []
    text = alt.Text(f"{column}:Q", format=look["figures"])
    return [base.mark_text(fontSize=11, **place).encode(text=text, color=alt.value("currentColor"))]


def _place(by: str, parts: Sequence[str]) -> pl.Expr:
    order = {name: nth for nth, name in enumerate(parts)}
    found = pl.col(by).cast(pl.String).replace_strict(order, return_dtype=pl.Int64)
    return found if by else pl.lit(0)


def _distinct(frame: pl.DataFrame, column: str) -> list[str]:
    names: list[str] = frame[column].cast(pl.String).unique(maintain_order=True).to_list()
    return names


def _word(look: Look, column: str) -> str:
    return look.get("words", {}).get(column) or _ENDS.get(column) or column.replace("_", " ")


def _title(look: Look, column: str) -> str | None:
    """Return the words of a column of names; names without words need none."""
    return look.get("words", {}).get(column) or None
