# SPDX-License-Identifier: GPL-2.0-or-later
"""The alternative text of a chart: its title, then the ranges and names of each panel."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from swapsim.charts.panels import AXES, Panel, fields_of, panels_of, text_of

_MOST_NAMES: Final = 8


def describe(chart: Any, words: Mapping[str, str]) -> str:
    """Return a chart's alternative text from its titles and data; ``words`` label the columns."""
    title = text_of(chart.title)
    sentences, used = [title], set[str]()
    for panel in panels_of(chart):
        parts = [part for part in _parts(panel, words) if part not in used]
        used.update(parts)
        about = "" if panel.title == title else panel.title
        if about and parts and not parts[0].startswith(f"{about}:"):
            parts[0] = f"{about}: {parts[0]}"
        sentences.append("; ".join(parts))
    ended = (f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in sentences if text)
    return " ".join(ended)


def _parts(panel: Panel, words: Mapping[str, str]) -> Iterator[str]:
    """Yield the range of each of the panel's axes, and the names in it."""
    figures: dict[str, pl.Series] = {}
    names: dict[str, str] = {}
    for mark, frame in zip(panel.marks, panel.frames, strict=True):
        drawn = fields_of(mark)
        if {each.channel[0] for each in drawn if each.channel in AXES} != {"x", "y"}:
            continue  # a reference line
        for field in [*panel.facets, *drawn]:
            if field.name not in frame.columns:
                continue
            called = panel.label(field.name, field, words) or field.title
            values = frame[field.name].drop_nulls()
            if field.quantity and called:
                axis = panel.axis(field.channel[0]) if field.channel in AXES else called
                seen = figures.get(axis, pl.Series(dtype=pl.Float64))
                figures[axis] = seen.append(values.cast(pl.Float64))
            elif called:
                names.setdefault(called, _listed(values))
    yield from (f"{called}: {_range(values)}" for called, values in figures.items())
    yield from (f"{called}: {listed}" for called, listed in names.items())


def _range(values: pl.Series) -> str:
    low, high = (_number(float(end)) for end in (values.min(), values.max()))  # type: ignore[arg-type]
    return low if low == high else f"{low} to {high}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"


def _listed(values: pl.Series) -> str:
    names = [" ".join(str(value).split()) for value in values.unique(maintain_order=True)]
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
