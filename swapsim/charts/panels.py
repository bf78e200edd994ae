# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of a chart: its panels, the marks of each panel, and the columns on each mark.

::

    chart     a panel, panels next to each other, or a panel repeated by facets
      panel   a pair of axes        mark    one layer on them, with one row for each item
                                    field   a column on a channel of a mark: x, colour, ...
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from swapsim.charts.quick import alt

FACETS: Final = ("row", "column", "facet")
AXES: Final = ("x", "y", "x2", "y2", "xOffset", "yOffset")
KEYS: Final = ("color", "fill", "shape")

_CONCATENATED: Final = {
    alt.HConcatChart: "hconcat",
    alt.VConcatChart: "vconcat",
    alt.ConcatChart: "concat",
}


@dataclass(frozen=True)
class Field:
    """A column on a channel of a mark: whether it is a quantity, its title, whether it is shown."""

    name: str
    channel: str
    quantity: bool
    title: str
    shown: bool


@dataclass(frozen=True)
class Panel:
    """The marks on one pair of axes; ``frames`` has the data of each."""

    title: str
    marks: tuple[alt.Chart, ...]
    frames: tuple[pl.DataFrame, ...]
    facets: tuple[Field, ...]

    @property
    def measure(self) -> str:
        """The axis of the quantity: y, or x if y has names."""
        fields = (each for mark in self.marks for each in fields_of(mark))
        return "y" if any(each.channel == "y" and each.quantity for each in fields) else "x"

    def axis(self, letter: str) -> str:
        """Return the title of the axis x or y, or else that of the panel."""
        fields = (each for mark in self.marks for each in fields_of(mark))
        titles = (each.title for each in fields if each.channel.startswith(letter))
        return next(filter(None, titles), self.title)

    def label(self, name: str, field: Field | None, words: Mapping[str, str]) -> str:
        """Return a column's label: its word ({} is the axis), title or name; "" omits it."""
        letter = field.channel[0] if field and field.channel[0] in "xy" else self.measure
        if name in words:
            return words[name].format(self.axis(letter))
        if field and (field.title or field.quantity):
            return field.title or self.axis(letter)
        return name.replace("_", " ")


Made = Callable[[Panel], Sequence[alt.Chart]]


def kind_of(mark: alt.Chart) -> str:
    """Return a mark's kind: bar, line, ..."""
    kind: Any = mark.mark
    return str(kind if isinstance(kind, str) else kind.type)


def fields_of(mark: alt.Chart) -> list[Field]:
    """Return the columns on a mark's axes and keys."""
    return _fields(mark.encoding, (*AXES, *KEYS))


def text_of(title: Any) -> str:
    """Return the text of a title in any of altair's forms."""
    if isinstance(title, alt.TitleParams):
        below = title.subtitle if isinstance(title.subtitle, list) else [title.subtitle]
        return ". ".join(filter(None, (text_of(line) for line in [title.text, *below])))
    if title is alt.Undefined or not title:
        return ""
    return title if isinstance(title, str) else " ".join(title)


def panels_of(chart: Any) -> list[Panel]:
    """Return a chart's panels, in order."""
    found: list[Panel] = []

    def collect(panel: Panel) -> Sequence[alt.Chart]:
        found.append(panel)
        return panel.marks

    with_marks(chart, collect)
    return found


def with_marks(chart: Any, made: Made) -> Any:
    """Return a chart in which ``made`` has replaced the marks of each panel."""
    return _walk(chart, made, "", None, ())


def _walk(
    chart: Any, made: Made, title: str, frame: pl.DataFrame | None, facets: tuple[Field, ...]
) -> Any:
    chart = chart.copy(deep=False)
    title = text_of(chart.title) or title
    frame = frame if chart.data is alt.Undefined else chart.data
    if (parts := _CONCATENATED.get(type(chart))) is not None:
        chart[parts] = [_walk(each, made, title, frame, facets) for each in chart[parts]]
    elif isinstance(chart, alt.FacetChart):
        chart.spec = _walk(chart.spec, made, title, frame, facets + _repeated(chart.facet))
    elif isinstance(chart, alt.LayerChart):
        frames = [frame if mark.data is alt.Undefined else mark.data for mark in chart.layer]
        chart.layer = list(made(Panel(title, tuple(chart.layer), _all(frames), facets)))
    else:
        own = tuple(_fields(chart.encoding, FACETS))
        (chart,) = made(Panel(title, (chart,), _all([frame]), facets + own))
    return chart


def _repeated(facet: Any) -> tuple[Field, ...]:
    if isinstance(facet, alt.FacetMapping):
        return tuple(_fields(facet, FACETS))
    return tuple(_fields({"facet": facet}, FACETS))


def _fields(channels: Any, names: Sequence[str]) -> list[Field]:
    found = []
    for channel in names:
        given = _given(channels, channel)
        if "field" in given:
            quantity = given.get("type") == "quantitative" or channel in ("x2", "y2")
            guide = "legend" if channel in KEYS else "axis"
            shown = given.get(guide, True) is not None
            found.append(
                Field(given["field"], channel, quantity, text_of(given.get("title")), shown)
            )
    return found


def _given(channels: Any, name: str) -> Mapping[str, Any]:
    encodings = channels if isinstance(channels, dict) else channels._kwds
    channel = encodings.get(name, alt.Undefined)
    if channel is alt.Undefined or not isinstance(channel, alt.SchemaBase):
        return {}
    given: Mapping[str, Any] = channel.to_dict(validate=False, context={})
    return given


def _all(frames: Sequence[pl.DataFrame | None]) -> tuple[pl.DataFrame, ...]:
    assert all(isinstance(frame, pl.DataFrame) for frame in frames), "a mark without a frame"
    return tuple(frame for frame in frames if frame is not None)
