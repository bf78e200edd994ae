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
from collections.abc import Sequence
from typing import Final

import click
import polars as pl

WIDTH: Final = 100  # characters of a line if nothing else is known
_LEAST: Final = 40  # in a narrower terminal lines are that long


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


def laid_out(frame: pl.DataFrame, most: int | None = None) -> str:
    """Return a table as lines of text, as polars prints it."""
    with pl.Config(
        tbl_formatting="ASCII_MARKDOWN",
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_width_chars=width() if most is None else most,
        fmt_str_lengths=1000,
        fmt_table_cell_list_len=-1,
        tbl_cell_numeric_alignment="RIGHT",
    ):
        return str(frame)


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


def printable(text: str) -> str:
    """Return a text on one line without control characters, which a name may contain."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
