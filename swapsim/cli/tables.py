# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command shows: tables on the terminal, each column explained, all of it to a file.

A command that is decorated with `shows` returns what it has found; to print, explain and write it
are the same for all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import polars as pl

from swapsim.cli.layout import laid_out, printable, told_first
from swapsim.cli.output import CHARTS, TABLES, checked, refuse_own_input, write_chart, write_table
from swapsim.frames.table import Column, unit_in_name

if TYPE_CHECKING:  # altair takes a second to import, and most commands draw nothing
    import altair as alt


@dataclass(frozen=True, slots=True)
class Printed:
    """A table that a command prints.

    Attributes
    ----------
    name : str
        What ``--only`` calls it.
    frame : polars.DataFrame
    columns : mapping of str to Column
        The declaration of each column, by its name.
    title : str
        A line above it.
    """

    name: str
    frame: pl.DataFrame
    columns: Mapping[str, Column]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a command has found.

    Attributes
    ----------
    tables : sequence of Printed
    chart : callable, optional
        Draws it.
    lines : sequence of str
        To be read below the tables.
    whole : polars.DataFrame, optional
        What a file gets, where that is more than the one table.
    """

    tables: Sequence[Printed]
    chart: "Callable[[], alt.TopLevelMixin] | None" = None
    lines: Sequence[str] = ()
    whole: pl.DataFrame | None = None


explain_option: Final = click.option(
    "--explain", is_flag=True, help="Say below the table what each column is, and its unit."
)


def shows(
    *, charts: bool = False, only: Sequence[str] = ()
) -> Callable[[Callable[..., Found]], Callable[..., None]]:
    """Make a function that returns what it has found one that shows it."""
    suffixes = (*TABLES, *(CHARTS if charts else ()))
    help_ = f"Write it to FILE as well ({', '.join(TABLES)}"
    help_ += f"; the chart: {', '.join(CHARTS)})." if charts else ")."

    def of(command: Callable[..., Found]) -> Callable[..., None]:
        @click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help=help_)
        @explain_option
        @wraps(command)
        def shown(
            output: Path | None, explain: bool, table: str | None = None, **given: Any
        ) -> None:
            one_table = bool(table) or not only
            if output is not None:
                checked(output, suffixes)
                refuse_own_input(output, given.values())
                if output.suffix in TABLES and not one_table:
                    raise click.UsageError(
                        f"{output}: there are {len(only)} tables, and a file holds one: "
                        f"choose it with --only {'|'.join(only)}"
                    )
            found = command(**given)
            tables = [each for each in found.tables if table in (None, each.name)]
            print_tables(tables, explain=explain)
            for line in found.lines:
                click.echo(line)
            if output is not None and output.suffix in TABLES:
                write_table(tables[0].frame if found.whole is None else found.whole, output)
            elif output is not None and found.chart is not None:
                write_chart(found.chart(), output)

        if not only:
            return shown
        choice = click.option(
            "--only", "table", type=click.Choice(only), help="Show, and write, this table alone."
        )
        return choice(shown)

    return of


def print_tables(tables: Sequence[Printed], *, explain: bool) -> None:
    """Print tables, and below each what its columns are if that is asked for."""
    for number, table in enumerate(tables):
        columns = table.columns
        if number:
            click.echo()
        if table.title and table.frame.is_empty():
            click.echo(f"{table.title}: nothing")
            continue
        if table.title:
            click.echo(f"{printable(table.title)}:")
        click.echo(laid_out(table.frame, {name: each.head for name, each in columns.items()}))
        if explain:
            click.echo("\n".join(_explanation([columns[name] for name in told_first(table.frame)])))


def _explanation(columns: Sequence[Column]) -> list[str]:
    names = [(each.name, _unit(each), each.meaning.replace("``", "")) for each in columns]
    widths = [max(len(row[at]) for row in names) for at in (0, 1)]
    return [f"  {name:{widths[0]}}  {unit:{widths[1]}}  {says}" for name, unit, says in names]


def _unit(column: Column) -> str:
    """Return a column's unit, or what stands in it: a number that has no unit is a count."""
    if unit := column.unit or unit_in_name(column.name):
        return unit
    if column.dtype == pl.Boolean:
        return "yes or no"
    return "count" if column.dtype.is_numeric() else "words"
