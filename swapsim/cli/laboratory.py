# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim tables``, ``compare``, ``report`` and the other commands on all patches at once."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import click
import polars as pl

from swapsim.cli.arguments import TraceFolder, offering
from swapsim.cli.layout import say
from swapsim.cli.tables import checked, refuse_own_input
from swapsim.cli.verbs import Verb
from swapsim.io import write_atomically


@click.command(
    cls=Verb, help="Run all notebooks and write the HTML report, or one page for a trace."
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR|FILE",
    help="The report's folder; with --trace the page, NAME.html, which is complete in one file.",
)
@click.option("--check", is_flag=True, help="First compute a sample of each stored result again.")
@click.option(
    "--trace",
    "folder",
    type=TraceFolder(),
    metavar="DIR",
    help="What is in this trace, what its replays count, and what other rules would do.",
)
def report(output: Path, check: bool, folder: Path | None) -> None:
    if folder is not None:
        if check:
            raise click.UsageError("--check is for the report of all notebooks, not for --trace")
        from swapsim.site import trace_page

        page = trace_page.write_trace_page(folder, output, progress=sys.stderr.isatty())
        click.echo(f"page written: {page}")
        return
    from swapsim.site import report as reports
    from swapsim.site import simulated

    if check:
        same = simulated.prove(progress=sys.stderr.isatty())
        rows = f"{sum(same.values()):,} rows that were computed again are identical"
        click.echo(f"{len(same)} stored results proved: {rows}")
    index = reports.write(output, progress=sys.stderr.isatty())
    click.echo(f"report written: {index}")


@click.command(
    cls=Verb, help="Copy the notebooks to the new folder DIR, to be opened and changed there."
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def notebooks(folder: Path) -> None:
    from swapsim.site import notebooks as ours

    click.echo(f"open {ours.lay_out(folder)}")


def _studies() -> list[str]:
    from swapsim.site import simulated

    return [each.name for each in simulated.studies()]


def _as_html(compared: Sequence[pl.DataFrame]) -> str:
    from swapsim.charts import mails

    shown = "".join(mails.show(each)._repr_html_() for each in compared)
    style = "html{color-scheme:light dark;font:14px/1.4 system-ui,sans-serif}.mail{margin:2em 0}"
    return (
        '<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>The mails' tables</title><style>{style}</style>{shown}\n"
    )


_WRITTEN: Final[Mapping[str, Callable[[Sequence[pl.DataFrame]], str]]] = {
    ".html": _as_html,
    ".csv": lambda compared: pl.concat(compared).write_csv(),
    ".json": lambda compared: pl.concat(compared).write_json() + "\n",
}
"""How tables are written, by the suffix of a file."""

_output = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=f"Write them to FILE instead ({', '.join(_WRITTEN)}); csv and json have all columns.",
)


def _check(output: Path | None, *inputs: Path) -> None:
    """Refuse a file that cannot be written, before the work."""
    if output is not None:
        refuse_own_input(checked(output, [*_WRITTEN]), inputs)


def _put(compared: Sequence[pl.DataFrame], output: Path | None) -> None:
    """Print tables of `published.compare`, or write them."""
    from swapsim.charts import mails

    if output is None:
        click.echo("\n\n".join(str(mails.show(each)) for each in compared))
    else:
        write_atomically(output, _WRITTEN[output.suffix](compared).encode())


_MAIL: Final = click.Choice(["A", "B", "C", "D"], case_sensitive=False)


@click.command(
    "tables",
    cls=Verb,
    help="Print the mails' tables row by row, next to what models and real kernels have.\n\n"
    "MAIL is A, B, C or D; default: all. A ratio is patched / base; 'base' is the model's figure "
    "without the patch by the mail's, or 'fit' where it was fitted; a dot follows a ratio that is "
    "unchanged in the mail. Notebook 00 has the rule of the marks.",
)
@click.argument("mail", required=False, metavar="[MAIL]", type=_MAIL)
@_output
def mails_tables(mail: str | None, output: Path | None) -> None:
    from swapsim import published

    _check(output)
    chosen = [row for row in published.mails().rows(named=True) if mail in (None, row["mail"])]
    named = [(row["mail"], name) for row in chosen for name in row["tables"]]
    _put([published.compare(*each) for each in named], output)


@click.command(
    cls=Verb,
    help="Compute and store the results of data/simulated, all or those of these NAMEs; each "
    "file there has the name of one.\n\n"
    "An interrupted run continues where it stopped.",
)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=offering(_studies))
@click.option(
    "--check",
    is_flag=True,
    help="Compare with what is stored, and store nothing; exit 1 if any differs.",
)
def simulate(names: Sequence[str], check: bool) -> int:
    from swapsim.site import simulated

    progress = sys.stderr.isatty()
    if check:
        found = 0
        for name, why in simulated.differing(names, progress=progress):
            found = 1
            say(f"{name}: {why}")
        if not found:
            click.echo("all stored results come out again")
        return found
    for name, changed in simulated.simulate(names, progress=progress):
        click.echo(f"{name}: {'written' if changed else 'unchanged'}")
    return 0


@click.command(cls=Verb, help="Run the benchmarks and their peers; one JSON object a line.")
@click.option("--only", multiple=True, metavar="NAME", help="Run only names that begin so.")
def bench(only: Sequence[str]) -> None:
    from swapsim.site import bench as benchmarks

    for row in benchmarks.run(only):
        click.echo(json.dumps(row))


@click.command(
    cls=Verb,
    help="Print the mails' tables with your own measurements as a further column, yours.\n\n"
    "FILE is a CSV file that begins with metric,base,patched or metric,run,base,patched and has a "
    "line for each metric, or for each of its runs. A metric has its name in the mail: 'swapsim "
    "tables' prints them. With fewer than five runs a row is unclear.",
)
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@_output
def compare(path: Path, output: Path | None) -> None:
    from swapsim import published

    _check(output, path)
    yours = published.read(path)
    named = published.tables_of(yours)
    _put([published.compare(*each, yours=yours) for each in named], output)
