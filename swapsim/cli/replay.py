# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim replay``: a patch's mechanism on a trace folder."""

import sys
from pathlib import Path

import click
import polars as pl

from swapsim.cli.tables import Found, Printed, shows
from swapsim.cli.verbs import Verbs
from swapsim.ffi.facts import MAPPING_KERNELS
from swapsim.frames.table import Column
from swapsim.mapping import charts as mapping_charts
from swapsim.mapping.replay import per_page as mapping_per_page
from swapsim.mapping.replay import writeback_tags as mapping_replay
from swapsim.mapping.tables import LOCK_SITES_PER_PAGE
from swapsim.removal.replay import batched_removal as removal_replay
from swapsim.removal.tables import BATCHED_REMOVAL
from swapsim.slots import charts as slots_charts
from swapsim.slots.metrics import SLOT_METRICS
from swapsim.slots.replay import cluster_next as slots_replay
from swapsim.slots.tables import SLOT_SWEEP
from swapsim.stall import charts as stall_charts
from swapsim.stall.recording import reclaim_rows
from swapsim.stall.replay import (
    NOT_RECORDED,
    agreement_table,
    decided_lists,
    sleeps_asked,
    stall_agreement,
    summed_decisions,
)
from swapsim.stall.tables import STALL_DECISIONS, STALL_SLEEPS_ASKED


@click.group(cls=Verbs)
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
@shows(charts=True)
def replay_writeback_tags(folder: Path, kernel: str) -> Found:
    """Patch A: acquisitions of the mapping's lock per page swapped out, with tags and without."""
    sites = mapping_replay(folder, kernel=kernel, progress=sys.stderr.isatty())
    per_page = mapping_per_page(sites)
    return Found(
        [Printed("sites", per_page, LOCK_SITES_PER_PAGE.by_name)],
        chart=lambda: mapping_charts.acquisitions_by_site(per_page),
    )


@replay.command("batched-removal")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@shows()
def replay_batched_removal(folder: Path) -> Found:
    """Patch B: acquisitions of the mappings' locks, page by page and batched, and the holds."""
    counts = removal_replay(folder, progress=sys.stderr.isatty())
    return Found([Printed("locks", counts, BATCHED_REMOVAL.by_name)])


@replay.command("cluster-next")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--seeds", type=click.IntRange(1, 1000), default=20, show_default=True)
@shows(charts=True)
def replay_cluster_next(folder: Path, seeds: int) -> Found:
    """Patch D: the trace's requests, all at one rate, under each scan base (means over seeds)."""
    from swapsim import slots
    from swapsim.patches import cluster_next as patch

    sweep = slots_replay(folder, seeds=seeds, progress=sys.stderr.isatty())
    means = patch.means(sweep, patch.LEADING).drop("factor", "setting")
    return Found(
        [Printed("means", means, {"policy": SLOT_SWEEP["policy"], **SLOT_METRICS.by_name})],
        chart=lambda: slots_charts.moves_against_locality(
            slots.ranking(sweep, "lock.moved.add"),
            slots.ranking(sweep, "run"),
            title=f"Moved lines against locality: {folder.name}",
            moves_axis="share of additions that fetch the lock's line from another CPU",
            locality_axis="adjacent slots in sequence",
        ),
    )


@replay.command("stall-decisions")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@shows(charts=True, only=("decisions", "sleeps", "agreement"))
def replay_stall_decisions(folder: Path) -> Found:
    """Patch C: what each set of rules decides of the trace's lists, and how many two agree on."""
    decided = decided_lists(folder, progress=sys.stderr.isatty())
    rounds = reclaim_rows(folder).rounds
    decisions = summed_decisions(decided, rounds, trace=folder.name)
    pairs = stall_agreement(decided)
    square = agreement_table(pairs).with_columns(pl.exclude("rules").round(1))
    alike = "lists of which these rules and those of the row decide the same"
    rules = STALL_DECISIONS["rules"]
    return Found(
        [
            Printed("decisions", decisions, STALL_DECISIONS.by_name),
            Printed("sleeps", sleeps_asked(decided, rounds), STALL_SLEEPS_ASKED.by_name),
            Printed(
                "agreement",
                square,
                {
                    "rules": rules,
                    **{n: Column(n, pl.Float64, alike, "%") for n in square.columns[1:]},
                },
                title="lists of which two sets of rules decide the same, percent",
            ),
        ],
        chart=lambda: stall_charts.agreement(
            pairs, "decisions", title=f"Lists that two rule sets decide alike: {folder.name}"
        ),
        lines=[f"not recorded by 6.1: {line}" for line in NOT_RECORDED],
    )
