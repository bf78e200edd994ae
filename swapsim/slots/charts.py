# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart of policies on the slot workbench that a notebook and a command share."""

import altair as alt
import polars as pl

from swapsim.charts import general
from swapsim.slots.workbench import ranking

_FIGURES = {"median": "", "low": "_low", "high": "_high"}
_ON_ONE_ANOTHER = 0.05  # of an axis' length: closer points share a label
_NAMES = 4


def moves_against_locality(
    measures: pl.DataFrame, *, title: str = "Moved lines against locality", subtitle: str = ""
) -> alt.ConcatChart:
    """Draw each policy's medians of one setting of a SLOT_SWEEP: lines moved, and locality.

    Points that lie on one another share a label, which has at most four names.
    """
    moves, locality = (
        ranking(measures, metric).select(
            "policy", *(pl.col(name).alias(f"{axis}{end}") for name, end in _FIGURES.items())
        )
        for axis, metric in (("moves", "lock.moved.add"), ("locality", "run"))
    )
    frame = moves.join(locality, on="policy", maintain_order="left")
    frame = frame.with_columns(label=pl.Series(_labels(frame), dtype=pl.String))
    words = {
        "moves": "share of additions that fetch the lock's cache line from another CPU",
        "locality": "adjacent slots in sequence",
    }
    axes = ("moves", "locality", "policy")
    return general.points(
        frame,
        *axes,
        label="label",
        size=120,
        tight=True,
        title=title,
        subtitle=subtitle,
        words=words,
    )


def _labels(frame: pl.DataFrame) -> list[str | None]:
    """Return the text at each point: the names of all that lie on the first of them, else null."""
    points = frame.select("moves", "locality").rows()
    spans = [
        float(frame[f"{axis}_high"].max()) - float(frame[f"{axis}_low"].min()) or 1.0  # type: ignore[arg-type]
        for axis in ("moves", "locality")
    ]
    groups: dict[int, list[str]] = {}
    for at, (name, point) in enumerate(zip(frame["policy"], points, strict=True)):
        for first, names in groups.items():
            pairs = zip(point, points[first], spans, strict=True)
            if all(abs(one - other) <= _ON_ONE_ANOTHER * span for one, other, span in pairs):
                names.append(name)
                break
        else:
            groups[at] = [name]
    return [_listed(groups[at]) if at in groups else None for at in range(frame.height)]


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMES
    return ", ".join(names if more <= 1 else [*names[:_NAMES], f"and {more} more"])
