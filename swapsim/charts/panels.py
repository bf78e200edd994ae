# SPDX-License-Identifier: GPL-2.0-or-later
"""A chart as what it is made of: panels, the marks that lie on one another in each, their fields.

::

    chart     a panel, panels side by side, or one that is repeated
      panel   a pair of axes        mark    one kind of thing on them, a row each
                                    field   a column on a channel of a mark: x, colour, ...
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt
import polars as pl

FACETS: Final = ("row", "column", "facet")
AXES: Final = ("x", "y", "x2", "y2", "xOffset", "yOffset")
KEYS: Final = ("color", "fill", "shape")

_SIDE_BY_SIDE: Final = {
    alt.HConcatChart: "hconcat",
    alt.VConcatChart: "vconcat",
    alt.ConcatChart: "concat",
}


@dataclass(frozen=True)
class Field:
    """A column on a channel of a mark.

    Attributes
    ----------
    name, channel : str
    quantity : bool
        Its axis is one of numbers, not of words.
    title : str
        Of its axis or key; empty if it has none.
    shown : bool
        Its axis or key is drawn.
    """

    name: str
    channel: str
    quantity: bool
    title: str
    shown: bool


@dataclass(frozen=True)
class Panel:
    """What lies on one pair of axes.

    Attributes
    ----------
    title : str
    marks : tuple of alt.Chart
    frames : tuple of polars.DataFrame
        What each mark is drawn from.
    facets : tuple of Field
        By which the panel is repeated.
    """

    title: str
    marks: tuple[alt.Chart, ...]
    frames: tuple[pl.DataFrame, ...]
    facets: tuple[Field, ...]

    @property
    def measure(self) -> str:
        """The axis along which a figure is read: y, or x if y is one of words."""
        fields = (each for mark in self.marks for each in fields_of(mark))
        return "y" if any(each.channel == "y" and each.quantity for each in fields) else "x"

    def axis(self, letter: str) -> str:
        """Return the words at the axis x or y, or those above the panel."""
        fields = (each for mark in self.marks for each in fields_of(mark))
        titles = (each.title for each in fields if each.channel.startswith(letter))
        return next(filter(None, titles), self.title)

    def words(self, name: str, field: Field | None, words: Mapping[str, str]) -> str:
        """Return what a column is called: by given words, in which {} is its axis, or by its title.

        Empty if it is not to be told of.
        """
        letter = field.channel[0] if field and field.channel[0] in "xy" else self.measure
        if name in words:
            return words[name].format(self.axis(letter))
        assert field is not None
        assert field.title or field.quantity, (
            f"a chart tells {name!r}, for which there are no words"
        )
        return field.title or self.axis(letter)


Made = Callable[[Panel], Sequence[alt.Chart]]


def kind_of(mark: alt.Chart) -> str:
    """Return a mark's kind: bar, line, ..."""
    kind: Any = mark.mark
    return str(kind if isinstance(kind, str) else kind.type)


def fields_of(mark: alt.Chart) -> list[Field]:
    """Return the columns on a mark's axes and keys."""
    return _fields(mark.encoding, (*AXES, *KEYS))


def text_of(title: Any) -> str:
    """Return the words of a title, in whichever form it is given."""
    if isinstance(title, alt.TitleParams):
        below = title.subtitle if isinstance(title.subtitle, list) else [title.subtitle]
        return ". ".join(filter(None, (text_of(line) for line in [title.text, *below])))
    if title is alt.Undefined or not title:
        return ""
    return title if isinstance(title, str) else " ".join(title)


def panels_of(chart: Any) -> list[Panel]:
    """Return a chart's panels, in order."""
    found: list[Panel] = []

    def keep(panel: Panel) -> Sequence[alt.Chart]:
        found.append(panel)
        return panel.marks

    with_marks(chart, keep)
    return found


def with_marks(chart: Any, made: Made) -> Any:
    """Return a chart with the marks of each panel as they are made of it."""
    return _walk(chart, made, "", None, ())


def _walk(
    chart: Any, made: Made, title: str, frame: pl.DataFrame | None, facets: tuple[Field, ...]
) -> Any:
    chart = chart.copy(deep=False)
    title = text_of(chart.title) or title
    frame = frame if chart.data is alt.Undefined else chart.data
    if (parts := _SIDE_BY_SIDE.get(type(chart))) is not None:
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
        told = _told(channels, channel)
        if "field" in told:
            quantity = told.get("type") == "quantitative" or channel in ("x2", "y2")
            guide = "legend" if channel in KEYS else "axis"
            shown = told.get(guide, True) is not None
            found.append(Field(told["field"], channel, quantity, text_of(told.get("title")), shown))
    return found


def _told(channels: Any, name: str) -> Mapping[str, Any]:
    held = channels if isinstance(channels, dict) else channels._kwds
    channel = held.get(name, alt.Undefined)
    if channel is alt.Undefined or not isinstance(channel, alt.SchemaBase):
        return {}
    told: Mapping[str, Any] = channel.to_dict(context={})
    return told


def _all(frames: Sequence[pl.DataFrame | None]) -> tuple[pl.DataFrame, ...]:
    assert all(isinstance(frame, pl.DataFrame) for frame in frames), "a mark without a frame"
    return tuple(frame for frame in frames if frame is not None)
