# SPDX-License-Identifier: GPL-2.0-or-later
"""Interaction of charts: tooltips, legends that select, axes that zoom.

A function that draws a chart is decorated with `interactive`, which adds all of it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import count
from typing import Any, Final, ParamSpec, TypeVar

import polars as pl

from swapsim.charts.description import describe
from swapsim.charts.panels import KEYS, Field, Panel, fields_of, kind_of, with_marks
from swapsim.charts.quick import alt

P = ParamSpec("P")
C = TypeVar("C")

WORDS: Final = {"mean": "{}", "median": "{}", "middle": "{}", "low": "from", "high": "to"}
"""Columns that many charts have, in their order in a tooltip, after all other columns."""

JOINED: Final = ("line", "area")
"""Marks of many rows: their tooltips show only the values that these rows share."""

_SCATTERED: Final = {"circle", "point", "rule", "text"}
_FAINT: Final = 0.12
_WITH_CTRL: Final = "wheel![event.ctrlKey || event.metaKey]"
"""The wheel without a key scrolls the page."""


def interactive(**words: str) -> Callable[[Callable[P, C]], Callable[P, C]]:
    """Return a decorator that adds interaction and a description to the charts of a function."""

    def made(draw: Callable[P, C]) -> Callable[P, C]:
        @wraps(draw)
        def drawn(*args: P.args, **kwargs: P.kwargs) -> C:
            chart: C = with_interaction(draw(*args, **kwargs), words)
            return chart

        return drawn

    return made


def with_interaction(chart: Any, words: Mapping[str, str]) -> Any:
    """Return a chart with tooltips, legends that select, axes that zoom, and a description.

    ``words`` has the label of each column, {} for that of its axis, and "" to leave a column out.
    """
    words = WORDS | dict(words)
    selected: dict[tuple[str, str], str] = {}
    zoomed: dict[tuple[str, str], str] = {}
    numbers = count(1)

    def each(panel: Panel) -> Sequence[alt.Chart]:
        marks = _with_tooltips(panel, words)
        marks = _with_zoom(_with_selection(marks, panel, selected), panel, zoomed)
        return [_named(mark, f"mark_{next(numbers)}") for mark in marks]

    chart = with_marks(chart, each)
    chart.description = describe(chart, words)
    return chart


def _with_tooltips(panel: Panel, words: Mapping[str, str]) -> list[alt.Chart]:
    """Give each mark a tooltip with all columns that the panel draws of its rows."""
    made = []
    for mark, frame in zip(panel.marks, panel.frames, strict=True):
        if kind_of(mark) in JOINED:
            drawn = [each for each in fields_of(mark) if each.channel == "color"]
            extra: list[str] = []
        else:
            rows = zip(panel.marks, panel.frames, strict=True)
            drawn = [each for of, other in rows if other is frame for each in fields_of(of)]
            extra = [name for name in words if name in frame.columns]
        fields = {each.name: each for each in reversed([*panel.facets, *drawn])}
        names = [name for name in reversed(fields) if name not in WORDS]
        names += [name for name in extra if name not in names]
        tips = [
            _tip(frame[name], title)
            for name in names
            if name in frame.columns and (title := panel.label(name, fields.get(name), words))
        ]
        made.append(mark.encode(tooltip=tips or alt.value(panel.axis(panel.measure))))
    return made


def _tip(values: pl.Series, title: str) -> alt.Tooltip:
    """Return a column's line of the tooltip; decimal numbers have four digits."""
    if not values.dtype.is_numeric():
        return alt.Tooltip(values.name, type="nominal", title=title)
    integers = bool((values.drop_nulls() % 1 == 0).all())
    large = bool((values.abs() >= 10_000).any())
    form = ",d" if integers else ",.0f" if large else ",.4~r"
    return alt.Tooltip(values.name, type="quantitative", title=title, format=form)


def _with_selection(
    marks: Sequence[alt.Chart], panel: Panel, selected: dict[tuple[str, str], str]
) -> list[alt.Chart]:
    """Let a click into a legend select the opaque items of all panels with this legend."""
    made = list(marks)
    keys = {
        (each.name, each.title): at
        for at, mark in enumerate(marks)
        for each in fields_of(mark)
        if each.channel in KEYS and each.shown and not each.quantity
    }
    for (name, title), first in keys.items():
        is_new = (name, title) not in selected
        param = selected.setdefault((name, title), f"chosen_{len(selected) + 1}")
        one = alt.selection_point(name=param, fields=[name], bind="legend")
        for at, (mark, frame) in enumerate(zip(made, panel.frames, strict=True)):
            on_it = name in {each.name for each in fields_of(mark)}
            if on_it or (name in frame.columns and kind_of(mark) not in JOINED):
                strong = float(_given(mark).get("opacity", 1))
                when = alt.when(one).then(alt.value(strong))
                made[at] = mark.encode(opacity=when.otherwise(alt.value(round(_FAINT * strong, 3))))
        if is_new:
            made[first] = made[first].add_params(one)
    return made


def _given(mark: alt.Chart) -> dict[str, Any]:
    """Return the properties that a mark was given."""
    if isinstance(mark.mark, str):
        return {}
    return {name: value for name, value in mark.mark.to_dict().items() if name != "type"}


def _with_zoom(
    marks: Sequence[alt.Chart], panel: Panel, zoomed: dict[tuple[str, str], str]
) -> list[alt.Chart]:
    """Let dragging, and the wheel with Ctrl, move and zoom the numeric axes of all panels."""
    made = list(marks)
    drawn = [(at, each) for at, mark in enumerate(marks) for each in fields_of(mark)]
    kinds = {kind_of(mark) for mark in marks}
    lengths = "bar" in kinds and not any(each.channel == "x2" for _, each in drawn)
    if _is_of_numbers("x", drawn) and not lengths:
        first, x = next((at, each) for at, each in drawn if each.channel == "x")
        both = _is_of_numbers("y", drawn) and kinds <= _SCATTERED
        param = zoomed.setdefault((x.name, panel.axis("x")), f"moved_{len(zoomed) + 1}")
        along = alt.selection_interval(
            name=param, bind="scales", encodings=["x", "y"] if both else ["x"], zoom=_WITH_CTRL
        )
        made[first] = made[first].add_params(along)
    return made


def _is_of_numbers(letter: str, drawn: Sequence[tuple[int, Field]]) -> bool:
    fields = [each for _, each in drawn if each.channel == letter]
    return bool(fields) and all(each.quantity and each.shown for each in fields)


def _named(mark: alt.Chart, name: str) -> alt.Chart:
    """Name a mark that has parameters: names by altair depend on earlier charts."""
    has_own = mark.params is not alt.Undefined and mark.name is alt.Undefined
    return mark.properties(name=name) if has_own else mark
