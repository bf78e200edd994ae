# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim report``, ``notebooks``, ``simulate`` and ``bench``: the complete laboratory."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from swapsim.cli.verbs import Verb


@click.command(cls=Verb, help="Run all notebooks and write the HTML report.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="DIR")
def report(output: Path) -> None:
    from swapsim.site import report as reports

    index = reports.write(output, progress=sys.stderr.isatty())
    click.echo(f"report written: {index}")


@click.command(
    cls=Verb, help="Copy the notebooks to the new folder DIR, to be opened and changed there."
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def notebooks(folder: Path) -> None:
    from swapsim.site import notebooks as ours

    click.echo(f"open {ours.lay_out(folder)}")


@click.command(
    cls=Verb,
    help="Compute and store the results of data/simulated, all or those of these NAMEs. An "
    "interrupted run continues where it stopped.",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--check", is_flag=True, help="List stale results and run nothing; exit 1 if there are any."
)
def simulate(names: Sequence[str], check: bool) -> int:
    from swapsim.site import simulated

    if check:
        stale = simulated.stale(names)
        for name, why in stale.items():
            click.echo(f"{name}: {why}")
        if not stale:
            click.echo("all stored results are current")
        return 1 if stale else 0
    for name, changed in simulated.simulate(names, progress=sys.stderr.isatty()):
        click.echo(f"{name}: {'written' if changed else 'unchanged'}")
    return 0


@click.command(cls=Verb, help="Run the benchmarks and their peers; one JSON object a line.")
@click.option("--only", multiple=True, metavar="NAME", help="Run only names that begin so.")
def bench(only: Sequence[str]) -> None:
    from swapsim.site import bench as benchmarks

    for row in benchmarks.run(only):
        click.echo(json.dumps(row))
