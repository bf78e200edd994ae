# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim import``, ``info`` and ``probes``: how a trace comes to be, and what is in it."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from swapsim.cli.tables import Printed, explain_option, print_tables
from swapsim.cli.verbs import Verb
from swapsim.traces.tables import TRACE_EVENTS


@click.command("import", cls=Verb)
@click.argument("text")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="DIR")
@click.option("--keep-going", is_flag=True, help="Skip and count lines that cannot be read.")
@explain_option
def import_(text: str, output: Path, keep_going: bool, explain: bool) -> None:
    """Import ftrace TEXT (tracefs or trace-cmd report; - for standard input) to a trace folder.

    A column in which a kernel prints pointers holds 64 bits: 0x1f and 31 are read alike, but 16
    digits are those of %p, hexadecimal. Let a probe print such numbers by :x64.
    """
    from swapsim import traces

    summary = traces.import_text(text, output, keep_going=keep_going, progress=sys.stderr.isatty())
    print_tables([Printed("events", summary.events, TRACE_EVENTS.by_name)], explain=explain)
    click.echo(summary.describe_lost())
    for line in [*summary.describe_renamed(), *summary.describe_skipped()]:
        click.echo(line)


@click.command(cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def info(folder: Path) -> None:
    """Show what a trace folder holds, where it comes from and which replays it can feed."""
    from swapsim import traces

    click.echo(traces.info(folder))


@click.command(cls=Verb)
@click.option(
    "--kernel-btf",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Types of the kernel to be recorded; as a rule those of the running one.",
)
@click.option(
    "--for",
    "replays",
    multiple=True,
    metavar="REPLAY",
    help="What the trace shall feed: writeback-tags or batched-removal; may be given twice. "
    "Without it: what the kernel can.",
)
def probes(kernel_btf: Path | None, replays: Sequence[str]) -> None:
    """Print a shell script that records, on your own kernel, what replays need."""
    from swapsim.traces import probes as recordings

    script = recordings.recording_script(kernel_btf or recordings.RUNNING_KERNEL, replays)
    click.echo(script, nl=False)
