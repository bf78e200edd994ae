# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim replay`` and ``swapsim verify``: a trace through a model, or compared with it."""

import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import polars as pl

from swapsim.cli.arguments import slots_argument, trace_argument
from swapsim.cli.layout import say
from swapsim.cli.tables import Found, Printed, format_option, print_alone, shows
from swapsim.cli.verbs import Verbs
from swapsim.errors import errors_of, suggestion
from swapsim.ffi import (
    CLUSTER_RULES,
    CLUSTER_SWITCHES,
    MAPPING_KERNELS,
    MGLRU_RULES,
    MGLRU_SWAPPINESS_MAX,
    MGLRU_SWITCHES,
    SLOT_REPLAY_KERNELS,
    SLOT_REPLAY_POLICIES,
    STALL_RULES,
)
from swapsim.tables import Column

if TYPE_CHECKING:
    from swapsim.policies import TypePolicy
    from swapsim.traces.verification import Verdict


_CLUSTER_SWITCHES = {name: True for name in CLUSTER_SWITCHES if name != "own_by_task"}
"""Rules that a command can change, each yes or no. Owners of tasks are given in Python."""


_MORE_GRANTS = (
    "the work has more grants than requests: a CPU takes slots into its slot cache ahead of them "
    "(6.12 and before), and a large folio that is split obtains single slots"
)

_BRIEF: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = {
    "sites": (
        ("flow", "tags", "site", "acquisitions", "tree_walks", "nodes", "tag_words"),
        ("pages", "kernel"),
    ),
    "locks": (
        ("kernel", "lists", "pages", "page_by_page", "batched", "saved_a_page"),
        ("pages_a_hold", "mappings_a_list", "pages_a_list", "longest", "failed"),
    ),
    "decisions": (
        ("rules", "file_written", "forced", "waits", "naps"),
        ("tail_lru_dirty", "writeback", "congested", "not_written"),
    ),
    "sleeps": (("rules", "reason", "requests", "can_sleep", "most_us"), ("longest_us",)),
    "agreement": (("rules", "3.9", "mmotm", "3.11", "6.1"), ()),
    "grants": (
        ("rules", "order", "requests", "fallbacks", "fallback_percent"),
        ("granted", "in_trace"),
    ),
    "work": (
        ("rules", "moves_a_grant", "si_lock_a_grant", "cluster_lock_a_grant"),
        ("mixed_percent", "in_sequence_percent", "visits_a_grant", "grants"),
    ),
    "lists": (("rules", "seq", "in_use", "free", "full", "nonfull", "frag"), ("discard",)),
    "timeline": (
        ("start_s", "lruvec", "choices", "anon_percent", "rate_anon_percent"),
        ("rate_file_percent", "swappiness", "agings"),
    ),
}
"""Columns of wide tables: those that answer, and more of them as far as a line has place."""


def _charts(subject: str) -> Any:
    """Import the charts of a subject: altair takes a second, and most commands draw none."""
    return import_module(f"swapsim.{subject}.charts")


def _printed(
    name: str, frame: pl.DataFrame, columns: Mapping[str, Column], title: str = ""
) -> Printed:
    """Return a table of which the terminal shows the columns of `_BRIEF`, or all."""
    brief, more = _BRIEF.get(name, ((), ()))
    return Printed(name, frame, columns, title, brief=brief, more=more)


@click.group(cls=Verbs, help="Run a patch's mechanism on a trace folder and print its table.")
def replay() -> None:
    pass


@replay.command(
    "mapping",
    help="Patch A: acquisitions of the mapping's lock per page swapped out, with tags and without.",
)
@trace_argument
@click.option(
    "--kernel",
    type=click.Choice(MAPPING_KERNELS),
    default="4.8",
    show_default=True,
    help="Whose locks and tree walks to follow.",
)
@shows(charts=True)
def replay_writeback_tags(folder: Path, kernel: str) -> Found:
    from swapsim import mapping

    sites = mapping.replay(folder, kernels=kernel, progress=sys.stderr.isatty())
    per_page = mapping.per_page(sites)
    return Found(
        [_printed("sites", per_page, mapping.LOCK_SITES_PER_PAGE.by_name)],
        chart=lambda: mapping.chart(sites),
        lines=[
            *(f"by the rules of {kernel} (--kernel): {line}" for line in mapping.summed(sites)),
            *mapping.doubts(sites, folder),
        ],
    )


@replay.command(
    "removal",
    help="Patch B: acquisitions of the mappings' locks, page by page and batched, and the holds.",
)
@trace_argument
@shows()
def replay_batched_removal(folder: Path) -> Found:
    from swapsim import removal

    counts = removal.replay(folder, progress=sys.stderr.isatty())
    columns = removal.BATCHED_REMOVAL.by_name
    return Found([_printed("locks", counts, columns)])


@replay.command(
    "slots",
    help="Patch D: the trace's requests, all at one rate, under each scan base: medians over the "
    "seeds, their intervals, and ranks.",
)
@trace_argument
@click.option("--seeds", type=click.IntRange(1, 1000), default=20, show_default=True)
@shows(charts=True)
def replay_cluster_next(folder: Path, seeds: int) -> Found:
    from swapsim import slots
    from swapsim.cli.ranked import about, of_metric
    from swapsim.slots.metrics import LEADING, METRICS
    from swapsim.slots.workbench import ranked_metrics
    from swapsim.study.ranking import statistics

    measured = slots.replay(folder, seeds=seeds, progress=sys.stderr.isatty())
    ranking = ranked_metrics(measured, LEADING)
    metrics = ranking["metric"].unique(maintain_order=True)
    title = f"Moved lines against locality: {folder.name}"
    return Found(
        [of_metric(ranking.drop("tied_with"), name, METRICS[name].meaning) for name in metrics],
        chart=lambda: _charts("slots").moves_against_locality(
            measured, title=title, subtitle=statistics(seeds)
        ),
        lines=[about(ranking)],
        in_file=ranking,
    )


@replay.command(
    "stall",
    help="Patch C: what each set of rules decides of the trace's lists, and how many two agree on.",
)
@trace_argument
@shows(charts=True, only=("decisions", "sleeps", "agreement"))
def replay_stall_decisions(folder: Path) -> Found:
    from swapsim.patches import stall_decisions as patch
    from swapsim.stall import tables
    from swapsim.stall.recording import reclaim_rows
    from swapsim.stall.replay import (
        NOT_RECORDED,
        agreement,
        decided_lists,
        requested_sleeps,
        summed_decisions,
    )

    rows = reclaim_rows(folder)
    with errors_of(folder):
        decided = decided_lists(rows, progress=sys.stderr.isatty())
    decisions = summed_decisions(decided, rows.rounds, trace=folder.name)
    pairs = agreement(decided)
    own = pl.DataFrame({"one": STALL_RULES, "other": STALL_RULES, "alike": 100.0})
    mirrored = pairs.select(one="other", other="one", alike="alike")
    square = pl.concat([pairs, mirrored, own]).pivot(
        "other", index="one", values="alike", on_columns=STALL_RULES
    )
    square = square.sort(pl.col("one").cast(pl.Enum(STALL_RULES))).rename({"one": "rules"})
    alike = "lists of which these rules and those of the row decide the same"
    share = {name: Column(name, pl.Float64, alike, "%") for name in square.columns[1:]}
    return Found(
        [
            _printed(
                "decisions",
                decisions,
                tables.STALL_DECISIONS.by_name,
                title=f"decisions on {decisions['lists'][0]} lists of {folder.name}",
            ),
            _printed(
                "sleeps", requested_sleeps(decided, rows.rounds), tables.REQUESTED_SLEEPS.by_name
            ),
            _printed(
                "agreement",
                square,
                {"rules": tables.STALL_DECISIONS["rules"], **share},
                title="lists of which two sets of rules decide the same, percent",
            ),
        ],
        chart=lambda: patch.charts.agreement(pairs, folder.name),
        lines=[f"not recorded by 6.1: {line}" for line in NOT_RECORDED],
    )


@replay.command(
    "clusters",
    help="The trace's requests to a cluster allocator under other rules: grants by order and "
    "fallbacks, list moves and locks a grant, clusters by list over time.",
)
@trace_argument
@click.option(
    "--rules",
    multiple=True,
    type=click.Choice(CLUSTER_RULES),
    help="Rule set; may be given several times. Default: all.",
)
@click.option(
    "--switch",
    "switches",
    multiple=True,
    metavar="NAME=yes|no",
    help=f"Rule to change in each set: {', '.join(_CLUSTER_SWITCHES)}; may be given several times.",
)
@click.option(
    "--samples", type=click.IntRange(1, 10_000), default=8, show_default=True, help="Rows of lists."
)
@shows(charts=True, only=("grants", "work", "lists"))
def replay_clusters(
    folder: Path, rules: tuple[str, ...], switches: tuple[str, ...], samples: int
) -> Found:
    from swapsim import clusters
    from swapsim.clusters import tables

    found = clusters.replay(
        folder,
        rules,
        switches={
            name: bool(value)
            for name, value in (_switch(each, _CLUSTER_SWITCHES) for each in switches)
        },
        samples=samples,
        progress=sys.stderr.isatty(),
    )
    lists = found.lists
    requested = found.grants.group_by("rules").agg(pl.col("granted").sum())
    more = found.work.join(requested, on="rules").filter(pl.col("grants") > pl.col("granted"))
    return Found(
        [
            _printed("grants", found.grants, tables.CLUSTER_GRANTS.by_name),
            _printed("work", found.work, tables.CLUSTER_WORK.by_name),
            _printed("lists", lists, tables.CLUSTER_LISTS.by_name),
        ],
        chart=lambda: _charts("clusters").lists_over_time(
            lists, title=f"Clusters by list: {folder.name}"
        ),
        lines=[_MORE_GRANTS] if more.height else [],
    )


@replay.command(
    "mglru",
    help="The trace's states of generations under other rules, open loop: which choices between "
    "anonymous and file pages flip, by which term, and when what was chosen.",
)
@trace_argument
@click.option(
    "--rules",
    multiple=True,
    type=click.Choice(MGLRU_RULES),
    help="Rule set; may be given several times. Default: all.",
)
@click.option(
    "--switch",
    "switches",
    multiple=True,
    metavar="NAME=yes|no|N",
    help=f"Rule to change in each set: {', '.join(MGLRU_SWITCHES)}; a number for "
    f"{', '.join(name for name, flag in MGLRU_SWITCHES.items() if not flag)}; may be given "
    "several times.",
)
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    metavar="POLICY.py",
    help="Rules of your own: functions of a Python file, which runs as you, that it decorates with "
    "@swapsim.type_policy().",
)
@click.option(
    "--swappiness",
    type=click.IntRange(0, MGLRU_SWAPPINESS_MAX),
    metavar="N",
    help="Another swappiness for the same states, 0 to 200.",
)
@click.option("--parts", type=click.IntRange(1, 10_000), default=20, show_default=True)
@shows(charts=True, only=("flips", "when", "switches", "timeline"))
def replay_generations(
    folder: Path,
    rules: tuple[str, ...],
    switches: tuple[str, ...],
    policy: Path | None,
    swappiness: int | None,
    parts: int,
) -> Found:
    from swapsim import mglru
    from swapsim.mglru import recording as tables
    from swapsim.mglru.replay import chart

    changed = dict(_switch(each, MGLRU_SWITCHES) for each in switches)
    wanted = [*(rules or MGLRU_RULES), *(_type_policies(policy) if policy else ())]
    found = mglru.replay(folder, wanted, swappiness=swappiness, switches=changed, parts=parts)
    return Found(
        [
            _printed("flips", found.flips, tables.MGLRU_FLIPS.by_name),
            _printed(
                "when", found.when, tables.MGLRU_TIMELINE.by_name | tables.MGLRU_FLIPS.by_name
            ),
            _printed("switches", found.switches, tables.MGLRU_SWITCHED.by_name),
            _printed("timeline", found.timeline, tables.MGLRU_TIMELINE.by_name),
        ],
        chart=lambda: chart(found.timeline, title=f"Why did it swap? {folder.name}"),
        lines=["open loop: each state is the trace's own, whatever was chosen before"],
    )


def _type_policies(path: Path) -> "list[TypePolicy]":
    """Return the choices between anonymous and file pages of a file; it may have no others."""
    from swapsim.errors import InputError
    from swapsim.policies import TypePolicy, policies_in

    policies = policies_in(path)
    for each in policies:
        if not isinstance(each, TypePolicy):
            raise InputError(
                f"has the policy {each.name}, which chooses no type of pages: decorate a function "
                "with @swapsim.type_policy()",
                path=path,
            )
    return [each for each in policies if isinstance(each, TypePolicy)]


def _switch(text: str, known: Mapping[str, bool]) -> tuple[str, bool | int]:
    """Return the name and the value of a changed rule; ``known`` says which are yes or no."""
    name, _, value = text.partition("=")
    if known.get(name) is False and re.fullmatch(r"\d{1,10}", value):
        return name, int(value)
    if not known.get(name) or value not in ("yes", "no"):
        yes = ", ".join(each for each, flag in known.items() if flag)
        numbers = [f"; {each}=N" for each, flag in known.items() if not flag]
        hint = "" if name in known else suggestion(name, known)
        raise click.UsageError(
            f"--switch {text}: {hint}give NAME=yes or NAME=no, NAME of {yes}{''.join(numbers)}"
        )
    return name, value == "yes"


@click.group(cls=Verbs, help="Compare the model with a real kernel, event by event.")
def verify() -> None:
    pass


@verify.command(
    "slots",
    help="Replay the slot events of a trace DIR, or of a Parquet file of them, and match "
    "every slot with the model's.",
)
@slots_argument
@click.option(
    "--policy",
    type=click.Choice(SLOT_REPLAY_POLICIES),
    help="Where the kernel's scans began; default of this and the next two: as trace.toml says.",
)
@click.option(
    "--cluster-size",
    type=int,
    metavar="N",
    help="Slots of a cluster: 256, or 512 where huge pages swap.",
)
@click.option(
    "--trunk-shift",
    type=int,
    metavar="N",
    help="Log2 of the slots of a trunk (SWAP_ADDRESS_SPACE_SHIFT).",
)
@click.option("--kernel", type=click.Choice(SLOT_REPLAY_KERNELS), default="6.1", show_default=True)
@format_option
def verify_slots(
    file: Path,
    policy: str | None,
    cluster_size: int | None,
    trunk_shift: int | None,
    kernel: str,
    form: str | None,
) -> int:
    from swapsim import slots

    verdict = slots.verify(
        file,
        policy=policy,
        cluster_size=cluster_size,
        trunk_shift=trunk_shift,
        kernel=kernel,
        progress=sys.stderr.isatty(),
    )
    return _exit_status(verdict, form)


@verify.command(
    "stall",
    help="Count reclaim's lists again from their folios, and compare each decision of the kernel. "
    "A trace of a stock 7.3 has the counts alone, and is compared with the rules of 7.3.",
)
@trace_argument
@click.option(
    "--rules",
    type=click.Choice(STALL_RULES),
    metavar="NAME",
    help=f"Those that the kernel was switched to: {', '.join(STALL_RULES)}; default: as trace.toml "
    "says, else 6.1.",
)
@format_option
def verify_stalls(folder: Path, rules: str | None, form: str | None) -> int:
    from swapsim import stall

    verdict = stall.verify(folder, rules, progress=sys.stderr.isatty())
    return _exit_status(verdict, form)


@verify.command(
    "clusters",
    help="Replay the events of a cluster allocator (6.12, 7.3), and match every grant, visit and "
    "list move with the model's.",
)
@trace_argument
@format_option
def verify_clusters(folder: Path, form: str | None) -> int:
    from swapsim import clusters

    verdict = clusters.verify(folder, progress=sys.stderr.isatty())
    return _exit_status(verdict, form)


@verify.command(
    "mglru",
    help="Decide a trace's choices between anonymous and file pages again (6.12, 7.3), its tiers, "
    "agings and scan sizes, and compare each with the kernel's.",
)
@trace_argument
@format_option
def verify_generations(folder: Path, form: str | None) -> int:
    from swapsim import mglru

    return _exit_status(mglru.verify(folder), form)


def _exit_status(verdict: "Verdict", form: str | None) -> int:
    """Print a comparison, as lines or its counts alone, and return 0 if it agrees, else 1."""
    if form:
        print_alone(verdict.table(), form)
    for line in verdict.describe():
        say(line, err=bool(form))
    return 0 if verdict.agrees else 1
