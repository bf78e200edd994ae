# SPDX-License-Identifier: GPL-2.0-or-later
"""Text for a terminal: nothing is dropped, and no line is longer than the terminal is wide.

In a table that is too wide, texts continue in further lines of their cells; if that does not
suffice, the table continues below itself, and each part repeats the columns that distinguish the
rows. Where the width is not known, as in a pipe, tables have `WIDTH`, and lines of text stay as
they are, because scripts search them. The variable COLUMNS sets a width for both.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

import click
import polars as pl

from swapsim.frames.figures import DIGIT_WIDE, MISSING, POINT_WIDE
from swapsim.frames.figures import cells as cells_of

WIDTH: Final = 100  # characters of a line if nothing else is known
_LEAST: Final = 40  # in a narrower terminal lines are that long
_PLAIN: Final = str.maketrans({MISSING: "-", DIGIT_WIDE: " ", POINT_WIDE: " "})


def width() -> int:
    """Return how many characters a line may have."""
    return max(_LEAST, shutil.get_terminal_size((WIDTH, 24)).columns)


def say(text: str, *, err: bool = False) -> None:
    """Print lines of text; what does not fit on a terminal continues in an indented line."""
    known = "COLUMNS" in os.environ or (sys.stderr if err else sys.stdout).isatty()
    for line in text.splitlines():
        click.echo("\n".join(wrapped(line, width())) if known else line, err=err)


def wrapped(line: str, most: int) -> list[str]:
    """Break a line between words, if it is too long; paths and other long words stay complete."""
    if len(line) <= most:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    return _broken(line.strip(), most, indent, f"{indent}  ", long_words=False)


def explained(rows: Sequence[tuple[str, str, str]], most: int) -> list[str]:
    """Return names, units and meanings in columns; a long meaning continues below itself."""
    name, unit = (max(len(row[at]) for row in rows) for at in (0, 1))
    column = name + unit + 6
    if column > most // 2:  # no place next to the name
        return [
            line
            for first, second, meaning in rows
            for line in (f"  {first}  {second}".rstrip(), *_broken(meaning, most, *["      "] * 2))
        ]
    return [
        line
        for first, second, meaning in rows
        for line in _broken(
            meaning, most, f"  {first:{name}}  {second:{unit}}  ", " " * column, long_words=True
        )
    ]


def laid_out(
    frame: pl.DataFrame,
    units: Mapping[str, str],
    most: int | None = None,
    *,
    in_order: bool = False,
) -> str:
    """Return a table as lines of text; columns of one value come last.

    ``units`` maps a column to its unit, which is printed below its name unless it is empty.
    """
    names = frame.columns if in_order else varied_first(frame)
    has_units = any(map(units.get, names))
    heads = {name: [name, units.get(name, "")][: 1 + has_units] for name in names}
    columns = [_Column(frame[name], heads[name], units.get(name, "")) for name in names]
    keys = columns[: _distinguishing(frame, names)]
    most = width() if most is None else most
    _narrow_texts(columns, most)
    parts = _parts(columns, keys, most)
    return "\n\n".join("\n".join(_part(part, 1 + has_units)) for part in parts)


class _Column:
    """The cells of a column, heads included, and how wide they are."""

    def __init__(self, column: pl.Series, heads: Sequence[str], unit: str) -> None:
        self.cells = [*heads, *cells(column, unit)]
        self.width = max(map(len, self.cells))
        self.right = column.dtype.is_numeric()
        self._heads = heads

    @property
    def least(self) -> int:
        """Return how wide it is if its texts are broken between words, and its head is not."""
        words = (word for cell in self.cells for word in cell.split())
        return self.width if self.right else max(map(len, [*words, *self._heads]))

    def narrow(self, most: int) -> None:
        """Let no cell be wider; it continues in further lines."""
        self.width = min(self.width, max(1, most))

    def lines(self, row: int) -> list[str]:
        """Return the lines of a cell."""
        cell = self.cells[row]
        lines = [cell] if len(cell) <= self.width else _broken(cell, self.width)
        return [line.rjust(self.width) if self.right else line.ljust(self.width) for line in lines]


def _narrow_texts(columns: Sequence[_Column], most: int) -> None:
    """Let the widest texts continue below themselves, if all columns then fit."""
    least = {column: column.least for column in columns} if _wide(columns) > most else {}
    if sum(least.values()) + 3 * len(columns) + 1 > most:
        return
    while _wide(columns) > most:
        widest = max(
            (each for each in columns if each.width > least[each]), key=lambda of: of.width
        )
        widest.narrow(widest.width - 1)


def _distinguishing(frame: pl.DataFrame, names: Sequence[str]) -> int:
    """Return how many of the first columns distinguish the rows; at least one."""
    for count in range(1, len(names)):
        if frame.select(names[:count]).n_unique() == frame.height:
            return count
    return 1


def _parts(
    columns: Sequence[_Column], keys: Sequence[_Column], most: int
) -> Iterator[Sequence[_Column]]:
    """Yield the columns in parts that are narrow enough; each begins with the keys."""
    if _wide(columns) <= most:
        yield columns
        return
    for key in keys:
        key.narrow(most // (2 * len(keys)) - 3)
    part = list(keys)
    for column in columns[len(keys) :]:
        if len(part) > len(keys) and _wide([*part, column]) > most:
            yield part
            part = list(keys)
        column.narrow(most - _wide(part) - 3)
        part.append(column)
    yield part


def _wide(columns: Sequence[_Column]) -> int:
    return sum(column.width + 3 for column in columns) + 1


def _part(columns: Sequence[_Column], heads: int) -> Iterator[str]:
    """Yield the lines of some columns, without a line of units if they have none."""
    rule = f"|{'|'.join('-' * (column.width + 2) for column in columns)}|"
    rows = len(columns[0].cells)
    for row in range(rows):
        if row == heads:
            yield rule
        if 0 < row < heads and not any(column.cells[row] for column in columns):
            continue
        blank = [" " * column.width for column in columns]
        for line in zip_longest(*(column.lines(row) for column in columns)):
            yield f"| {' | '.join(cell or none for cell, none in zip(line, blank, strict=True))} |"
    if rows == heads:
        yield rule


def _broken(
    text: str, most: int, first: str = "", next_: str = "", *, long_words: bool = True
) -> list[str]:
    """Break a text between words; at least one line."""
    return textwrap.wrap(
        text,
        most,
        initial_indent=first,
        subsequent_indent=next_,
        break_long_words=long_words,
        break_on_hyphens=False,
    ) or [first]


def varied_first(frame: pl.DataFrame) -> list[str]:
    """Return the columns; those with one value come after those that distinguish the rows."""
    if frame.height < 2:
        return frame.columns
    return sorted(frame.columns, key=lambda name: frame[name].n_unique() == 1)


def cells(column: pl.Series, unit: str = "") -> list[str]:
    """Return each value of a column as text; null is a dash."""
    words = [word.translate(_PLAIN) for word in cells_of(column, unit)]
    if column.dtype.is_numeric():
        return [word.replace(",", "") for word in words]
    return [printable(word) for word in words]


def printable(text: str) -> str:
    """Return a text on one line without control characters, which a name may contain."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
