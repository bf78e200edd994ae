# SPDX-License-Identifier: GPL-2.0-or-later
"""A frame as HTML and as text, the same words in both; no scripts, no colours of its own."""

import sys
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

import polars as pl

from swapsim.frames.figures import DIGIT_WIDE, POINT_WIDE, cells, on_the_right
from swapsim.frames.heads import units, without_the_same

MOST_ROWS: Final = 100
"""More are counted, not shown: a trace's table has millions."""

_LEFT: Final = "text-align: left; white-space: nowrap"
_RIGHT: Final = "text-align: right; white-space: nowrap"
_LONG: Final = "text-align: left; min-width: 16em"
_LONG_WORDS: Final = 32
"""Characters from which a cell's words go on in another line."""

_IN_A_TERMINAL: Final = str.maketrans(DIGIT_WIDE + POINT_WIDE, "  ")


class _Parts(NamedTuple):
    """What is told above, and of each column its name, unit, side and cells."""

    above: str
    names: list[str]
    units: list[str]
    sides: list[str]
    columns: list[list[str]]


@dataclass(frozen=True, slots=True)
class Shown:
    """A frame that a notebook shows as a table.

    Attributes
    ----------
    frame : polars.DataFrame
    unit : str
        That of its decimal figures, where no column says another.
    """

    frame: pl.DataFrame
    unit: str = ""

    def _repr_html_(self) -> str:
        return html(self.frame, self.unit)

    def __repr__(self) -> str:
        """Return the table as text, which is how a terminal shows it."""
        return text(self.frame, self.unit)


def show(frame: pl.DataFrame, unit: str = "") -> Shown:
    """Tell the unit of a table's figures, where neither its columns nor their tables do.

    Parameters
    ----------
    frame : polars.DataFrame
    unit : str
        It stands above each column of decimal figures that has no other.
    """
    return Shown(frame, unit)


def use() -> None:
    """Show each frame of this notebook in this way; does nothing outside of one."""
    there = sys.modules.get("IPython")
    shell = there and there.get_ipython()
    if shell:
        forms = shell.display_formatter.formatters
        forms["text/html"].for_type(pl.DataFrame, html)
        forms["text/plain"].for_type(
            pl.DataFrame, lambda frame, printer, _: printer.text(text(frame))
        )


def html(frame: pl.DataFrame, unit: str = "") -> str:
    """Return a frame as a table of HTML; see `show`."""
    parts = _parts(frame, unit)
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


def text(frame: pl.DataFrame, unit: str = "") -> str:
    """Return a frame as lines of text; see `show`."""
    parts = _parts(frame, unit)
    padded = []
    for name, of, side, cells_of in zip(*parts[1:], strict=True):
        words = [name, *([of] if any(parts.units) else []), *cells_of]
        widest = max(map(len, words))
        padded.append(
            [word.rjust(widest) if side == "right" else word.ljust(widest) for word in words]
        )
    rows = ["  ".join(row).rstrip().translate(_IN_A_TERMINAL) for row in zip(*padded, strict=True)]
    return "\n".join([*([parts.above] if parts.above else []), *rows])


def _parts(frame: pl.DataFrame, unit: str) -> _Parts:
    left, same = without_the_same(frame)
    unit = same.pop("unit", unit)
    notes = [f"{name}: {value}" for name, value in same.items()]
    if left.height > MOST_ROWS:
        notes.append(f"the first {MOST_ROWS} of {left.height:,} rows")
        left = left.head(MOST_ROWS)
    sides = ["right" if on_the_right(column) else "left" for column in left]
    return _Parts(
        ", ".join(notes), left.columns, units(left, unit), sides, [cells(column) for column in left]
    )


def _cell(word: str, side: str) -> str:
    style = _RIGHT if side == "right" else _LONG if len(word) > _LONG_WORDS else _LEFT
    return f'<td style="{style}">{escape(word)}</td>'


def _broken(name: str) -> str:
    """Return a name that may go on in another line behind each underscore and point."""
    return escape(name).replace("_", "_<wbr>").replace(".", ".<wbr>")


def _below(unit: str) -> str:
    return f"<br><small>{escape(unit)}</small>" if unit else ""
