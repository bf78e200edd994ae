# SPDX-License-Identifier: GPL-2.0-or-later
"""A frame as HTML and as text, with the same content, without scripts and colours."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

import polars as pl

from swapsim.checks import checked
from swapsim.errors import InputError
from swapsim.frames import glossary
from swapsim.frames.figures import DIGIT_WIDE, POINT_WIDE, cells, is_figures
from swapsim.frames.table import BY_ROW, HEADS, unit_in_name

MOST_ROWS: Final = 100  # rows that are shown; a trace's table has millions
_LEFT: Final = "text-align: left; white-space: nowrap"
_RIGHT: Final = "text-align: right; white-space: nowrap"
_LONG: Final = "text-align: left; min-width: 16em"
_LONG_WORDS: Final = 32  # characters from which a cell may be broken into lines
_IN_A_TERMINAL: Final = str.maketrans(DIGIT_WIDE + POINT_WIDE, "  ")


class _Parts(NamedTuple):
    """The line above, and each column's name, unit, side and cells."""

    above: str
    names: list[str]
    units: list[str]
    sides: list[str]
    columns: list[list[str]]


@dataclass(frozen=True, slots=True)
class Shown:
    """A frame that a notebook shows as a table; made by `show`."""

    frame: pl.DataFrame
    unit: str = ""
    columns: Sequence[str] = ()
    fold: str = ""

    def _repr_html_(self) -> str:
        made = html(self.frame, self.unit, self.columns)
        summary = f'<summary style="cursor: pointer">{escape(self.fold)}</summary>'
        return f'<details class="fold">{summary}\n{made}\n</details>' if self.fold else made

    def __repr__(self) -> str:
        """Return the table as text for a terminal."""
        return text(self.frame, self.unit, self.columns)


@checked
def show(
    frame: pl.DataFrame, unit: str = "", columns: Sequence[str] = (), *, fold: str = ""
) -> Shown:
    """Show a frame; `unit` is that of the named columns, whatever their tables declare.

    Without names it is that of all columns of floats.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import frames
    >>> frames.show(pl.DataFrame({"task": ["a", "b"], "gain": [12.345, -0.25]}), "%")
    task   gain
              %
    a     12.3
    b     -0.25
    """
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(f"has only: {', '.join(frame.columns)}", field=missing[0])
    if unit and not columns:
        columns = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    if bool(unit) != bool(columns):
        raise InputError(f"unit {unit!r} is of no column: name the columns", field="columns")
    return Shown(frame, unit, columns, fold)


def use() -> None:
    """Show each frame of this notebook in this way; no effect outside a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell:
        forms = shell.display_formatter.formatters
        forms["text/html"].for_type(pl.DataFrame, html)
        forms["text/plain"].for_type(
            pl.DataFrame, lambda frame, printer, _: printer.text(text(frame))
        )


@checked
def html(frame: pl.DataFrame, unit: str = "", columns: Sequence[str] = ()) -> str:
    """Return a frame as an HTML table; see `show`."""
    parts = _parts(frame, dict.fromkeys(columns, unit))
    above = f'<caption style="text-align: left">{escape(parts.above)}</caption>\n'
    head = "".join(
        f'<th scope="col" style="text-align: {side}">{_broken(name)}{_below(of)}</th>'
        for name, of, side in zip(parts.names, parts.units, parts.sides, strict=True)
    )
    rows = "\n".join(
        f"<tr>{''.join(map(_cell, row, parts.sides))}</tr>"
        for row in zip(*parts.columns, strict=True)
    )
    return (
        f'<table class="frame">\n{above if parts.above else ""}<thead>\n<tr>{head}</tr>\n</thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>"
    )


@checked
def text(frame: pl.DataFrame, unit: str = "", columns: Sequence[str] = ()) -> str:
    """Return a frame as lines of text; see `show`."""
    parts = _parts(frame, dict.fromkeys(columns, unit))
    padded = []
    for name, of, side, cells_of in zip(*parts[1:], strict=True):
        words = [name, *([of] if any(parts.units) else []), *cells_of]
        widest = max(map(len, words))
        padded.append(
            [word.rjust(widest) if side == "right" else word.ljust(widest) for word in words]
        )
    rows = ["  ".join(row).rstrip().translate(_IN_A_TERMINAL) for row in zip(*padded, strict=True)]
    return "\n".join([*([parts.above] if parts.above else []), *rows])


def _parts(frame: pl.DataFrame, named: Mapping[str, str]) -> _Parts:
    left, same = _without_constant_words(frame)
    of_rows = same.pop("unit", "")
    notes = [f"{name}: {value}" for name, value in same.items()]
    if left.height > MOST_ROWS:
        notes.append(f"the first {MOST_ROWS} of {left.height:,} rows")
        left = left.head(MOST_ROWS)
    units = {**_units(left, of_rows), **named}
    return _Parts(
        ", ".join(notes),
        left.columns,
        [HEADS.get(units[name], units[name]) for name in left.columns],
        ["right" if is_figures(column) else "left" for column in left],
        [cells(column, units[column.name] or unit_in_name(column.name)) for column in left],
    )


def _units(frame: pl.DataFrame, of_rows: str) -> dict[str, str]:
    """Return the unit of each column; empty if its name ends in one, or no table declares it.

    ``of_rows`` is the unit in all rows, which is that of the columns that leave it to their row.
    """
    declared = glossary.units(frame.schema)
    units = {}
    for name, dtype in frame.schema.items():
        unit = declared.get(name, BY_ROW)
        by_row = of_rows if dtype.is_float() and not unit_in_name(name) else ""
        units[name] = by_row if unit == BY_ROW else unit
    return units


def _without_constant_words(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, str]]:
    """Split a frame into its columns that differ and the words that are equal in all rows.

    Only words before the first figure, and the figures' ``unit``, are removed. A word after them,
    such as a verdict, is a result even if it never changes.
    """
    words = [dtype in (pl.String, pl.Enum, pl.Categorical) for dtype in frame.dtypes]
    first = words.index(False) if False in words else 0
    same = {
        name: frame[name][0]
        for name in dict.fromkeys([*frame.columns[:first], "unit"])
        if name in frame.columns and frame.height > 1
        if frame[name].n_unique() == 1 and frame[name][0] is not None
    }
    return frame.drop(same), same


def _cell(word: str, side: str) -> str:
    style = _RIGHT if side == "right" else _LONG if len(word) > _LONG_WORDS else _LEFT
    return f'<td style="{style}">{escape(word)}</td>'


def _broken(name: str) -> str:
    """Return a name that may be broken after each underscore and point."""
    return escape(name).replace("_", "_<wbr>").replace(".", ".<wbr>")


def _below(unit: str) -> str:
    return f"<br><small>{escape(unit)}</small>" if unit else ""
