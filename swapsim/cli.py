# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: one function a command, each a few lines over a public verb.

Exit 0 done, 1 a comparison that did not hold, 2 bad input or usage; an error is
one line on stderr.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import polars as pl

from swapsim import __version__, interrupt
from swapsim.errors import SwapsimError
from swapsim.native.facts import (
    MAPPING_KERNELS,
    SLOT_REPLAY_KERNELS,
    SLOT_REPLAY_POLICIES,
    STALL_RULES,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, package_name="swapsim")
def cli() -> None:
    """Rerun four Linux swap and reclaim patches on traces of real kernels."""


@cli.command("import")
@click.argument("text")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="DIR")
@click.option("--keep-going", is_flag=True, help="Skip and count lines that cannot be read.")
def import_(text: str, output: Path, keep_going: bool) -> None:
    """Import ftrace TEXT (tracefs or trace-cmd report; - for standard input) to a trace folder."""
    from swapsim import traces

    summary = traces.import_text(text, output, keep_going=keep_going, progress=sys.stderr.isatty())
    _print_table(summary.events)
    click.echo(summary.describe_lost())
    for line in [*summary.describe_renamed(), *summary.describe_skipped()]:
        click.echo(line)


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def info(folder: Path) -> None:
    """Show what a trace folder holds, where it comes from and which replays it can feed."""
    from swapsim import traces

    click.echo(traces.describe(folder))


@cli.command()
@click.option(
    "--kernel-btf",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Types of the kernel to be recorded; as a rule those of the running one.",
)
@click.option(
    "--for", "replays", multiple=True, metavar="REPLAY", help="What the trace shall feed."
)
def probes(kernel_btf: Path | None, replays: Sequence[str]) -> None:
    """Print a shell script that records, on your own kernel, what replays need."""
    from swapsim import probes as recordings

    script = recordings.recording_script(kernel_btf or recordings.RUNNING_KERNEL, replays)
    click.echo(script, nl=False)


@cli.command()
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
    r"""Write a trace, or a run of a machine, as tracks for a viewer.

    \b
    DIR           a trace folder: stays in the swap cache, reclaim, sleeps, slot calls
    MACHINE.toml  fields of swapsim.config.MachineConfig, a line each, and a table
                  [costs]: who waits for which lock, behind whom, and who holds it

    FILE is in Trace Event Format. Open it at ui.perfetto.dev by 'Open trace file' (it stays in your
    browser), or in Chromium at chrome://tracing by 'Load'. A click on a slice shows its fields; an
    arrow leads to a wait from who had the lock.
    """
    from swapsim import export as exports

    shown = sys.stderr.isatty()
    if source.suffix == ".toml":
        machine = exports.machine_config(source)
        written = exports.machine(machine.config, output, machine.costs, progress=shown)
    else:
        written = exports.trace(source, output, progress=shown)
    for line in written.describe():
        click.echo(line)


@cli.group()
def replay() -> None:
    """Run a patch's mechanism on a trace folder and print its table."""


@replay.command("writeback-tags")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--kernel",
    type=click.Choice(MAPPING_KERNELS),
    default="4.8",
    show_default=True,
    help="Whose locks and tree walks to follow.",
)
def replay_writeback_tags(folder: Path, kernel: str) -> None:
    """Patch A: acquisitions of the mapping's lock per page swapped out, with tags and without."""
    from swapsim import replay as replays

    sites = replays.writeback_tags(folder, kernel=kernel, progress=sys.stderr.isatty())
    _print_table(replays.per_page(sites))


@replay.command("batched-removal")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def replay_batched_removal(folder: Path) -> None:
    """Patch B: acquisitions of the mappings' locks, page by page and batched, and the holds."""
    from swapsim import replay as replays

    _print_table(replays.batched_removal(folder, progress=sys.stderr.isatty()))


@replay.command("cluster-next")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--seeds", type=click.IntRange(min=1), default=20, show_default=True)
def replay_cluster_next(folder: Path, seeds: int) -> None:
    """Patch D: the trace's requests, all at one rate, under each scan base (means over seeds)."""
    from swapsim import replay as replays
    from swapsim.patches import cluster_next as patch

    sweep = replays.cluster_next(folder, seeds=seeds, progress=sys.stderr.isatty())
    _print_table(patch.means(sweep, patch.LEADING).drop("factor", "setting"))


@replay.command("stall-decisions")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def replay_stall_decisions(folder: Path) -> None:
    """Patch C: what each set of rules decides of the trace's lists, and how many two agree on."""
    from swapsim import replay as replays
    from swapsim import traces

    decided = replays.decided_lists(folder, progress=sys.stderr.isatty())
    rounds = traces.reclaim_rows(folder).rounds
    _print_table(replays.summed_decisions(decided, rounds, trace=folder.name).drop("trace"))
    _print_table(replays.sleeps_asked(decided, rounds))
    click.echo("lists of which two sets of rules decide the same, percent:")
    square = replays.agreement_table(replays.stall_agreement(decided))
    _print_table(square.with_columns(pl.exclude("rules").round(1)))
    for line in replays.UNTOLD:
        click.echo(f"not told by a recording of 6.1: {line}")


@cli.group()
def verify() -> None:
    """Hold the model against a real kernel, event by event."""


@verify.command("slots")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "--policy",
    required=True,
    type=click.Choice(SLOT_REPLAY_POLICIES),
    help="Where the kernel's scans began.",
)
@click.option(
    "--cluster-size",
    required=True,
    type=int,
    metavar="N",
    help="Slots of a cluster: 256, or 512 where huge pages swap.",
)
@click.option(
    "--trunk-shift",
    type=int,
    metavar="N",
    default=14,
    show_default=True,
    help="Log2 of the slots of a trunk (SWAP_ADDRESS_SPACE_SHIFT).",
)
@click.option("--kernel", type=click.Choice(SLOT_REPLAY_KERNELS), default="6.1", show_default=True)
def verify_slots(file: Path, policy: str, cluster_size: int, trunk_shift: int, kernel: str) -> int:
    """Replay the slot events of FILE (Parquet) and match every slot with the model's."""
    from swapsim import replay as replays

    verdict = replays.judge_slots(
        file,
        policy=policy,
        cluster_size=cluster_size,
        trunk_shift=trunk_shift,
        kernel=kernel,
        progress=sys.stderr.isatty(),
    )
    for line in verdict.describe():
        click.echo(line)
    return 0 if verdict.holds else 1


@verify.command("stalls")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--rules",
    type=click.Choice(STALL_RULES),
    default="6.1",
    show_default=True,
    help="Those that the kernel was switched to.",
)
def verify_stalls(folder: Path, rules: str) -> int:
    """Count reclaim's lists anew from their folios, and decide all that the kernel decided."""
    from swapsim import replay as replays

    verdict = replays.judge_stalls(folder, rules=rules, progress=sys.stderr.isatty())
    for line in verdict.describe():
        click.echo(line)
    return 0 if verdict.holds else 1


@cli.command()
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="DIR")
def report(output: Path) -> None:
    """Run all notebooks and write the HTML report."""
    from swapsim.site import report as reports

    index = reports.write(output, progress=sys.stderr.isatty())
    click.echo(f"report written: {index}")


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def notebooks(folder: Path) -> None:
    """Lay the notebooks out in the new folder DIR, to be opened and changed there."""
    from swapsim.site import layout

    click.echo(f"open {layout.lay_out(folder)}")


@cli.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--check", is_flag=True, help="Say what is stale and run nothing; exit 1 if any is.")
def simulate(names: Sequence[str], check: bool) -> int:
    """Make the results of data/simulated anew, or only those of these NAMEs, and keep them."""
    from swapsim.site import simulated

    if check:
        stale = simulated.stale(names)
        for name, why in stale.items():
            click.echo(f"{name}: {why}")
        if not stale:
            click.echo("what is kept is good")
        return 1 if stale else 0
    for name, changed in simulated.simulate(names, progress=sys.stderr.isatty()):
        click.echo(f"{name}: {'written' if changed else 'as it was'}")
    return 0


@cli.command()
@click.option("--only", multiple=True, metavar="NAME", help="Run only names that start so.")
def bench(only: Sequence[str]) -> None:
    """Run the benchmarks beside their peers; one JSON object a line."""
    from swapsim.site import benchmarks

    for row in benchmarks.run(only):
        click.echo(json.dumps(row))


def _print_table(frame: pl.DataFrame) -> None:
    with pl.Config(
        tbl_formatting="ASCII_MARKDOWN",
        tbl_hide_column_data_types=True,
        tbl_width_chars=200,
        fmt_str_lengths=80,
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_hide_dataframe_shape=True,
    ):
        click.echo(str(frame))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    asked = list(sys.argv[1:] if arguments is None else arguments)
    code: int | None
    try:
        # Not by cli.main: to Ctrl-C it says an empty line before us.
        with cli.make_context("swapsim", asked) as context:
            code = cli.invoke(context)
    except click.exceptions.Exit as after_help:
        return after_help.exit_code
    except click.exceptions.NoArgsIsHelpError as nothing_asked:
        click.echo(nothing_asked.format_message())
        return 2
    except KeyboardInterrupt:
        click.echo(interrupt.TEXT, err=True)
        return interrupt.CODE
    except click.ClickException as usage:
        click.echo(f"swapsim: {' '.join(usage.format_message().split())}", err=True)
        return 2
    except BrokenPipeError:
        # The reader (head, less) went away: what it took is all it wanted.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SwapsimError as error:
        click.echo(f"swapsim: {error}", err=True)
        return 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"swapsim: {where}{error.strerror}: check the path and the disk", err=True)
        return 2
    return code or 0
