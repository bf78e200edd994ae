# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of a command: its tables on the terminal, their columns explained, all to a file.

Tables are complete on a terminal (`layout`): numbers to the right, columns with units, figures with
the same digits as in notebooks, in ASCII and without commas.

A command that is decorated with `shows` returns its result; printing, explaining and writing are
the same for all. The suffix of a file says what is written; files appear complete or not at all.
For a script, ``--format`` or ``-o -`` prints the table alone, and what else there is to stderr.
"""

import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import polars as pl

from swapsim.cli.layout import laid_out, printable, say, width
from swapsim.errors import InputError
from swapsim.io import write_atomically
from swapsim.tables import Column

if TYPE_CHECKING:  # altair takes a second to import, and most commands draw no chart
    import altair as alt


@dataclass(frozen=True, slots=True)
class Printed:
    """A table that a command prints: its name for ``--only``, and its declared columns."""

    name: str
    frame: pl.DataFrame
    columns: Mapping[str, Column]
    title: str = ""
    """Printed above it."""
    in_order: bool = False
    """Whether columns of one value stay at their places."""
    brief: Sequence[str] = ()
    """The columns that are printed, if not all: the others are named below them."""
    more: Sequence[str] = ()
    """Columns that are printed after these as far as they fit, in this order."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a command."""

    tables: Sequence[Printed]
    chart: "Callable[[], alt.TopLevelMixin] | None" = None
    """Draws it."""
    summary: Sequence[str] = ()
    """Printed above the tables."""
    lines: Sequence[str] = ()
    """Printed below the tables."""
    in_file: pl.DataFrame | None = None
    """The table for a file, if it is another one."""
    status: int = 0
    """The exit status of the command."""


def _csv(frame: pl.DataFrame) -> bytes:
    lists = [name for name, dtype in frame.schema.items() if dtype == pl.List]
    joined = (pl.col(name).cast(pl.List(pl.String)).list.join(", ") for name in lists)
    return frame.with_columns(joined).write_csv().encode()


def _parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def _json(frame: pl.DataFrame) -> bytes:
    return f"{frame.write_json()}\n".encode()


TABLES: Final[Mapping[str, Callable[[pl.DataFrame], bytes]]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".json": _json,
}
"""Format of a table, by the suffix of its file."""

STANDARD_OUTPUT: Final = Path("-")  # the name of standard output as a file
CHARTS: Final = (".html", ".svg", ".png")  # suffixes of a chart's file

format_option: Final = click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "json"]),
    help="Print the table alone, in this format.",
)


def shows(
    *, charts: bool = False, only: Sequence[str] = (), usual: str | None = None
) -> Callable[[Callable[..., Found]], Callable[..., int]]:
    """Decorate a command that returns its result, so that it prints and writes the result.

    A file has one of the tables ``only``: that of ``--only``, else the usual one.
    """
    suffixes = (*TABLES, *(CHARTS if charts else ()))
    help_ = f"Write it to FILE as well ({', '.join(TABLES)}"
    help_ += f"; the chart: {', '.join(CHARTS)}" if charts else ""
    help_ += "; - is standard output, as CSV). May be given several times."

    def of(command: Callable[..., Found]) -> Callable[..., int]:
        @click.option(
            "-o",
            "--output",
            "outputs",
            multiple=True,
            type=click.Path(path_type=Path),
            metavar="FILE",
            help=help_,
        )
        @format_option
        @wraps(command)
        def shown(
            outputs: Sequence[Path], form: str | None, table: str | None = None, **given: Any
        ) -> int:
            files = [each for each in outputs if each != STANDARD_OUTPUT]
            form = form or ("csv" if len(files) < len(outputs) else None)
            for file in files:
                checked(file, suffixes)
                refuse_own_input(file, given.values())
            in_one_table = [str(each) for each in files if each.suffix in TABLES]
            if only and not usual and not table and (form or in_one_table):
                raise click.UsageError(
                    f"{', '.join(in_one_table) or form}: there are {len(only)} tables, and a file "
                    f"has one: choose it with --only {'|'.join(only)}"
                )
            found = command(**given)
            chosen = table or (usual if form else None)
            tables = [each for each in found.tables if chosen in (None, each.name)]
            if not tables:
                names = ", ".join(each.name for each in found.tables)
                raise click.UsageError(f"this input gives no table {table!r}: there are {names}")
            frame = tables[0].frame if found.in_file is None else found.in_file
            for line in found.summary:
                say(line, err=bool(form))
            if found.summary and not form:
                click.echo()
            if form:
                print_alone(frame, form)
            else:
                print_tables(tables)
            for line in found.lines:
                say(line, err=bool(form))
            others = [each.name for each in found.tables if each.name != tables[0].name]
            if usual and not table and others and (form or in_one_table):
                where = ", ".join(in_one_table) or form
                say(f"{where}: {usual}; for others --only {'|'.join(others)}", err=True)
            for file in files:
                if file.suffix in TABLES:
                    write_table(frame, file)
                elif found.chart is not None:
                    write_chart(found.chart(), file)
            return found.status

        if not only:
            return shown
        choice = click.option(
            "--only", "table", type=click.Choice(only), help="Print, and write, only this table."
        )
        return choice(shown)

    return of


def print_tables(tables: Sequence[Printed]) -> None:
    """Print tables."""
    for number, table in enumerate(tables):
        if number:
            click.echo()
        if table.title and table.frame.is_empty():
            say(f"{table.title}: none")
            continue
        if table.title:
            say(f"{printable(table.title)}:")
        frame, text = _that_fits(table)
        click.echo(text)
        if others := [name for name in table.frame.columns if name not in frame.columns]:
            choice = f"--only {table.name} and " if len(tables) > 1 else ""
            say(f"with {choice}--format, or in a file (-o), also: {', '.join(others)}")


def _that_fits(table: Printed) -> tuple[pl.DataFrame, str]:
    """Return the printed columns, and their text."""
    for more in range(len(table.more), -1, -1):
        frame = table.frame.select([*table.brief, *table.more[:more]] or pl.all())
        on_one_line = laid_out(frame, 10_000)
        if on_one_line.index("\n") <= width():
            return frame, on_one_line
    return frame, laid_out(frame)


def print_alone(frame: pl.DataFrame, form: str) -> None:
    """Print a table in a format for programs, ``csv`` or ``json``."""
    click.echo(TABLES[f".{form}"](frame), nl=False)


def checked(path: Path, suffixes: Sequence[str]) -> Path:
    """Return a path that can be written to, before the result is computed."""
    if path.is_dir():
        raise InputError("is a folder: name a file", path=path)
    if path.exists() and not path.is_file():
        raise InputError("is no file: name a file, or a new name", path=path)
    if path.suffix not in suffixes:
        raise InputError(
            f"its name does not end in one of {', '.join(suffixes)}: choose one that does",
            path=path,
        )
    if not path.parent.is_dir():
        raise InputError("its folder does not exist: create it first", path=path)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError("its folder cannot be written to: choose another", path=path)
    return path


def refuse_own_input(output: Path, given: Iterable[object]) -> None:
    """Require an output that is not one of the inputs, nor a file in an input folder."""
    read = [each for each in given if isinstance(each, Path) and each.exists()]
    if output.exists() and any(
        each.samefile(output) or each.samefile(output.parent) for each in read
    ):
        raise InputError("is an input of the command: write to another file", path=output)


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a table in the format of its suffix."""
    write_atomically(path, TABLES[path.suffix](frame))


def write_chart(chart: "alt.TopLevelMixin", path: Path) -> None:
    """Write a chart in the format of its suffix."""
    from swapsim.charts import theme

    write_atomically(path, theme.rendered(chart, path.suffix))
