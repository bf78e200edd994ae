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
from swapsim.frames.glossary import Column, explained

if TYPE_CHECKING:  # altair takes a second to import, and most commands draw nothing
    import altair as alt

_BY_TYPE: Final = {"Boolean": "yes or no", "String": "words"}
_BY_NAME: Final = {"_ns": "ns", "_us": "us", "_percent": "%"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table that a command prints.

    Attributes
    ----------
    name : str
        What ``--only`` calls it.
    frame : polars.DataFrame
    columns : str or mapping of str to Column
        The schema's name, or what each column is.
    title : str
        A line above it.
    """

    name: str
    frame: pl.DataFrame
    columns: str | Mapping[str, Column]
    title: str = ""

    def explained(self) -> Mapping[str, Column]:
        """Return what each column is, by its name."""
        return explained(self.columns) if isinstance(self.columns, str) else self.columns


@dataclass(frozen=True, slots=True)
class Found:
    """What a command has found.

    Attributes
    ----------
    tables : sequence of Table
    chart : callable, optional
        Draws it.
    lines : sequence of str
        To be read below the tables.
    whole : polars.DataFrame, optional
        What a file gets, where that is more than the one table.
    """

    tables: Sequence[Table]
    chart: "Callable[[], alt.TopLevelMixin] | None" = None
    lines: Sequence[str] = ()
    whole: pl.DataFrame | None = None


explain_option: Final = click.option(
    "--explain", is_flag=True, help="Say below the table what each column is, and its unit."
)


def shows(
    *, charts: bool = False, only: Sequence[str] = ()
) -> Callable[[Callable[..., Found]], Callable[..., None]]:
    """Make a function that returns what it has found one that shows it.

    Parameters
    ----------
    charts : bool
        Whether it has a chart, too.
    only : sequence of str
        The names of its tables, if there are several.
    """
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


def print_tables(tables: Sequence[Table], *, explain: bool) -> None:
    """Print tables, and below each what its columns are if that is asked for."""
    for number, table in enumerate(tables):
        columns = table.explained()
        if number:
            click.echo()
        if table.title and table.frame.is_empty():
            click.echo(f"{table.title}: nothing")
            continue
        if table.title:
            click.echo(f"{printable(table.title)}:")
        click.echo(laid_out(table.frame, {name: each.unit for name, each in columns.items()}))
        if explain:
            click.echo("\n".join(_explanation([columns[name] for name in told_first(table.frame)])))


def _explanation(columns: Sequence[Column]) -> list[str]:
    names = [(each.name, _unit(each), each.says.replace("``", "")) for each in columns]
    widths = [max(len(row[at]) for row in names) for at in (0, 1)]
    return [f"  {name:{widths[0]}}  {unit:{widths[1]}}  {says}" for name, unit, says in names]


def _unit(column: Column) -> str:
    """Return a column's unit, or what stands in it: a number that has no unit is a count."""
    ends = (unit for end, unit in _BY_NAME.items() if column.name.endswith(end))
    unit = column.unit or next(ends, "")
    if unit:
        return unit
    if column.type.startswith(("one of ", "List")):
        return "words"
    return _BY_TYPE.get(column.type, "count")
