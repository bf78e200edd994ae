# SPDX-License-Identifier: GPL-2.0-or-later
"""The layout of a table on a terminal: complete, numbers to the right, columns with units.

Figures have the same digits as in notebooks, in ASCII and without commas, so that a program can
read them.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from swapsim.frames.figures import DIGIT_WIDE, MISSING, POINT_WIDE
from swapsim.frames.figures import cells as cells_of

_PLAIN: Final = str.maketrans({MISSING: "-", DIGIT_WIDE: " ", POINT_WIDE: " "})


def laid_out(frame: pl.DataFrame, units: Mapping[str, str]) -> str:
    """Return a table as lines of text; columns of one value come last.

    ``units`` maps a column to its unit, which is printed below its name unless it is empty.
    """
    names = varied_first(frame)
    heads = [names] + [[units.get(name, "") for name in names]] * any(map(units.get, names))
    columns = [[*head, *cells(frame[name])] for name, *head in zip(names, *heads, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    rights = [frame.schema[name].is_numeric() for name in names]
    lines = [_line(row, widths, rights) for row in zip(*columns, strict=True)]
    lines.insert(len(heads), f"|{'|'.join('-' * (width + 2) for width in widths)}|")
    return "\n".join(lines)


def varied_first(frame: pl.DataFrame) -> list[str]:
    """Return the columns; those with one value come after those that distinguish the rows."""
    if frame.height < 2:
        return frame.columns
    return sorted(frame.columns, key=lambda name: frame[name].n_unique() == 1)


def cells(column: pl.Series) -> list[str]:
    """Return each value of a column as text; null is a dash."""
    words = [word.translate(_PLAIN) for word in cells_of(column)]
    if column.dtype.is_numeric():
        return [word.replace(",", "") for word in words]
    return [printable(word) for word in words]


def printable(text: str) -> str:
    """Return a text on one line without control characters, which a name may contain."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _line(row: Sequence[str], widths: Sequence[int], rights: Sequence[bool]) -> str:
    fitted = (
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(row, widths, rights, strict=True)
    )
    return f"| {' | '.join(fitted)} |"
