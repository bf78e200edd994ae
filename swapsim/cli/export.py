# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim export``: a trace, or a run of a machine, as tracks for a viewer."""

import sys
from pathlib import Path

import click

from swapsim.cli.verbs import Verb


@click.command(cls=Verb)
@click.argument("source", type=click.Path(path_type=Path), metavar="DIR|MACHINE.toml")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="NAME.json, or NAME.json.gz to have it packed.",
)
def export(source: Path, output: Path) -> None:
    """Write a trace, or a run of a machine, as tracks for a viewer.

    \b
    DIR           a trace folder: stays in the swap cache, reclaim, sleeps, slot calls
    MACHINE.toml  fields of swapsim.config.MachineConfig, a line each, and a table
                  [costs]: who waits for which lock, behind whom, and who holds it

    FILE is in Trace Event Format. Open it at ui.perfetto.dev by 'Open trace file' (it stays in your
    browser), or in Chromium at chrome://tracing by 'Load'. A click on a slice shows its fields; an
    arrow leads to a wait from who had the lock.
    """  # noqa: D301 - click's mark: leave these lines as they are
    from swapsim import export as exports

    shown = sys.stderr.isatty()
    if source.suffix == ".toml":
        machine = exports.machine_config(source)
        written = exports.machine(machine.config, output, machine.costs, progress=shown)
    else:
        written = exports.trace(source, output, progress=shown)
    for line in written.describe():
        click.echo(line)
