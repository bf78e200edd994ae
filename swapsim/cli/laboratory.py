# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim claims``, ``compare``, ``report`` and the other commands on all patches at once."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click
import polars as pl

from swapsim.cli.arguments import TraceFolder, offering
from swapsim.cli.layout import say
from swapsim.cli.tables import Found, Printed, shows
from swapsim.cli.verbs import Verb
from swapsim.frames.table import Column


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


def _claims() -> list[str]:
    """Return the names of patches and of claims."""
    from swapsim.claims import published_claims

    known = published_claims()
    return [*known["patch"].unique(maintain_order=True), *known["claim"]]


def _studies() -> list[str]:
    from swapsim.site import simulated

    return [each.name for each in simulated.studies()]


def _verdict_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add an option for each verdict, which are several names of one list."""
    for word, meaning in reversed(_VERDICT_OPTIONS.items()):
        flag = f"--{word.replace(' ', '-')}"
        command = click.option(flag, "verdicts", flag_value=word, multiple=True, help=meaning)(
            command
        )
    return command


_VERDICT_OPTIONS: Final = {
    "reproduced": "The model reaches the claim.",
    "missed": "The model does not reach it.",
    "base not reproduced": "The model misses the figure without the patch.",
    "confirmed": "A real kernel's counts say the same.",
    "contradicted": "A real kernel's counts say otherwise.",
    "open": "Range or rounds do not decide.",
    "not determinable": "By the mail's noise two equal kernels may differ as much.",
    "unanswered": "There is a reason in place of an answer, in both columns.",
}


@click.command(
    cls=Verb,
    help="Print the published claims with what models and real kernels answer.\n\n"
    "WHICH is a patch (01-writeback-tags), a mail, or the beginning of claims' names, such as C "
    "or D-prose; default: all. Options choose claims with these verdicts, in either column. "
    "The json and the files have all columns.",
)
@click.argument("which", required=False, metavar="[WHICH]", shell_complete=offering(_claims))
@_verdict_options
@click.option(
    "--unseen",
    is_flag=True,
    help="Only what is decided by a rule that was stored before a page had shown the figure.",
)
@click.option(
    "--metrics", is_flag=True, help="Print instead the names of tools' metrics that fit them."
)
@shows()
def claims(which: str | None, verdicts: Sequence[str], unseen: bool, metrics: bool) -> Found:
    from swapsim.claims import claim_texts
    from swapsim.claims.tables import CLAIM_TEXTS, KNOWN_METRICS
    from swapsim.claims.yours import known_metrics
    from swapsim.site import overview, standing

    chosen = overview.of_claims(overview.judged(), which, verdicts, unseen=unseen)
    if metrics:
        known = known_metrics().filter(pl.col("claim").is_in(chosen["claim"].to_list()))
        # At 80 columns a metric and its claim fit; the test where there is more space.
        return Found(
            [
                Printed(
                    "metrics",
                    known,
                    KNOWN_METRICS.by_name,
                    title="metrics",
                    in_order=True,
                    brief=("metric", "claim"),
                    more=("test",),
                )
            ]
        )
    answers = {
        "simulated": "figure and verdict of the model, or why there is none",
        "measured": "figure and verdict of a real kernel, or why there is none",
    }
    both = (
        pl.concat_str(each, f"{each}_verdict", separator=": ").str.strip_prefix(": ").alias(each)
        for each in answers
    )
    texts = claim_texts(chosen).select("claim", "published", *both)
    columns = {name: Column(name, pl.String, meaning) for name, meaning in answers.items()}
    said = (standing.sentences, standing.shown_before)
    lines = [] if chosen.is_empty() else [text for each in said if (text := each(chosen))]
    twice = chosen["repeats"].count()
    if twice:
        lines.append(f"rows that repeat a figure of another one, and count once: {twice}")
    printed = Printed("claims", texts, CLAIM_TEXTS.by_name | columns, title="claims")
    return Found([printed], lines=lines, in_file=chosen)


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


_COMPARED: Final = (
    *("claim", "published", "tolerance", "yours"),
    *("your_low", "your_high", "your_verdict"),
)


@click.command(
    cls=Verb,
    help="Compare your own measurements with what was published, simulated and measured.\n\n"
    "\b\n"
    "FILE is a CSV file that begins with\n"
    "  kernel,test,metric,value,unit,run   a line a run, or\n"
    "  metric,base,patched,unit            a line a metric, always open\n\n"
    "A metric has the name that its tool gives it (vm-scalability.throughput, "
    "vmstat.swap.so, pmbench.throughput.aps, memcachetest-0M, syst-5), that a mail gives "
    "it, or that of a claim (A-throughput): 'swapsim claims --metrics' lists them. "
    "A verdict needs five runs of each kernel or more. The change is reproduced if all of its "
    "95 % interval, your_low to your_high, lies within the tolerance of the published one, missed "
    "if all of it lies outside or has the other sign, and else open. It is also open with fewer "
    "runs, and if no change would agree, too. Where a fall to nothing would be within the "
    "tolerance, what it leaves has to be within a factor of two of what the published one leaves. "
    "A model's range is judged by the same rule.",
)
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--base", metavar="NAME", help="Your kernel without the patch; default: base.")
@click.option("--patched", metavar="NAME", help="Your kernel with it; default: patched.")
@click.option("--without-simulated", is_flag=True, help="Leave that column empty.")
@shows(only=("compared", "unmatched"), usual="compared")
def compare(path: Path, base: str | None, patched: str | None, without_simulated: bool) -> Found:
    from swapsim.claims.judging import decides_nothing
    from swapsim.claims.tables import FOUR_COLUMNS, UNMATCHED
    from swapsim.claims.yours import too_few_runs
    from swapsim.site import overview
    from swapsim.study.ranking import FEWEST_RUNS

    found = overview.compare(path, base=base, patched=patched, simulate=not without_simulated)
    there = [name for name in ("simulated", "measured") if found.columns[name].count()]
    printed = [
        Printed(
            "compared",
            found.columns,
            FOUR_COLUMNS.by_name,
            title=f"changes from {found.base} to {found.patched}, in percent",
            in_order=True,
            brief=(*_COMPARED, *there, "setup"),
        ),
        Printed("unmatched", found.unmatched, UNMATCHED.by_name, title="metrics that fit no claim"),
    ]
    opened = found.columns.filter(your_verdict="open").with_columns(kind=pl.lit("change"))
    few, zero = too_few_runs(), decides_nothing()
    reasons = {
        f"fewer than {FEWEST_RUNS} runs of a kernel": few,
        "no change would agree, too": ~few & zero,
        "the interval of your change lies on both sides of an edge of what agrees": ~few & ~zero,
    }
    counts = {why: opened.filter(which).height for why, which in reasons.items()}
    lines = [f"open verdicts: {n}, since {why}" for why, n in counts.items() if n]
    nothing = found.columns.is_empty()
    if not nothing:
        lines.append("Setups are not compared: a verdict holds only if yours is the claim's.")
    elif not found.unmatched.is_empty():
        lines.append(f"no metric fits a claim; {found.unmatched.height} unmatched")
    return Found(printed, lines=lines, status=int(nothing))
