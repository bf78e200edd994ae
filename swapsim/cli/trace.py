# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim import``, ``info`` and ``probes``: trace folders."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from swapsim.cli.arguments import TraceFolder
from swapsim.cli.layout import say
from swapsim.cli.tables import Printed, format_option, print_alone, print_tables
from swapsim.cli.verbs import Verb


@click.command(
    "import",
    cls=Verb,
    help="Import ftrace TEXT, or a recording of trace-cmd, to a trace folder.\n\n"
    "TEXT is that of tracefs or of trace-cmd report, or a trace.dat, compressed or not; - for "
    "standard input; sample for a short text that comes with the laboratory. Lost events are "
    "counted: a text that has some is imported, a trace.dat only with --keep-going.\n\n"
    "A column of pointers has 64 bits: 0x1f and 31 are the same "
    "number, but 16 digits are those of %p, which are hexadecimal. Let a probe print such"
    " numbers with :x64.",
)
@click.argument("text")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--keep-going",
    is_flag=True,
    help="Skip and count lines that cannot be read; import a trace.dat although it lost events.",
)
@click.option(
    "--head",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What 'sh record.sh head' prints, of a recording that does not begin with it.",
)
def import_(text: str, output: Path, keep_going: bool, head: Path | None) -> None:
    from swapsim import traces
    from swapsim.errors import InputError
    from swapsim.io import read_bytes
    from swapsim.traces.folder import TRACE_EVENTS
    from swapsim.traces.text import head_of

    added = head_of(read_bytes(head)) if head else {}
    if head and not added:
        raise InputError("has no line '# swapsim: ...', as 'sh record.sh head' prints", path=head)
    summary = traces.import_text(
        text,
        output,
        keep_going=keep_going,
        progress=sys.stderr.isatty(),
        provenance={"head": added} if head else None,
    )
    print_tables([Printed("events", summary.events, TRACE_EVENTS.by_name)])
    for line in summary.describe():
        say(line)


@click.command(
    cls=Verb,
    help="Show the contents and provenance of a trace folder, and which replays it can feed.\n\n"
    "Without DIR: list the traces that come with the laboratory. Their names may stand for "
    "their folders in every command.",
)
@click.argument("folder", required=False, type=TraceFolder(), metavar="[DIR]")
@format_option
def info(folder: Path | None, form: str | None) -> None:
    from swapsim import traces
    from swapsim.traces.replays import SHIPPED_TRACES

    if folder is None:
        listed = traces.shipped_traces()
        if form:
            print_alone(listed, form)
        else:
            print_tables([Printed("traces", listed, SHIPPED_TRACES.by_name)])
    elif form == "json":
        click.echo(json.dumps(traces.described(folder), indent=2))
    elif form:
        print_alone(traces.events(folder), form)
    else:
        say(traces.info(folder))


@click.command(cls=Verb, help="Print a script that records, on your own kernel, what replays need.")
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
    help="Replay that the trace shall feed: writeback-tags, batched-removal, or by name only "
    "clusters and generations (6.12 and 7.3) and stall-decisions (7.3, for 'swapsim verify "
    "stalls'); may be given twice. Default: each that the kernel can feed.",
)
def probes(kernel_btf: Path | None, replays: Sequence[str]) -> None:
    from swapsim.traces.probes import RUNNING_KERNEL, recording_script

    script, notes = recording_script(kernel_btf or RUNNING_KERNEL, replays)
    click.echo(script, nl=False)
    for note in notes:
        say(f"swapsim: {note}", err=True)
