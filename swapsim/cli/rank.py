# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim rank``: the policies of a user's file among the built-in ones."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import polars as pl

from swapsim.cli.tables import Found, Printed, shows
from swapsim.cli.verbs import Verb

if TYPE_CHECKING:
    import altair as alt

    from swapsim.policies.lists import ListPolicy

_IN_WORDS = {
    "pages moved": "pages out and in that the machine moves a second",
    "lock.moved.add": "on the workbench: additions to the swap cache that fetch the lock's line "
    "from another CPU",
    "run": "on the workbench: adjacent slots that a task is handed in sequence",
    "scanned": "on the workbench: slots tested for one that is handed out",
}
_COLUMNS = ("rank", "policy", "median", "low", "high", "tied_with")


@click.command(
    cls=Verb,
    help="Rank the policies of a file among the built-in ones, by throughput and by counts.\n\n"
    "POLICY.py is Python and runs as you; what it prints goes to stderr. Each function that it "
    "decorates is ranked: either all with @swapsim.policy (the scan base, up to 6.11), or all with "
    "@swapsim.list_policy (lists of clusters, from 6.12 on), for the two are ranked on different "
    "kernels. A rank has the places that the intervals allow, such as 1-3: "
    "policies whose intervals overlap are tied.",
)
@click.argument("file", type=click.Path(path_type=Path), metavar="POLICY.py")
@click.option(
    "--seeds", type=click.IntRange(1, 1000), default=8, show_default=True, help="Runs of each."
)
@shows(charts=True)
def rank(file: Path, seeds: int) -> Found:
    from swapsim.errors import InputError
    from swapsim.patches import cluster_next as patch
    from swapsim.policies.lists import ListPolicy
    from swapsim.policies.policy import Policy, policies_in

    policies = policies_in(file)
    of_lists = [policy for policy in policies if isinstance(policy, ListPolicy)]
    of_bases = [policy for policy in policies if isinstance(policy, Policy)]
    if not of_lists and not of_bases:
        raise InputError(
            f"has no policy of swap slots to rank: compare {policies[0].name} by "
            "'swapsim replay generations DIR --policy FILE'",
            path=file,
        )
    if of_lists and of_bases:
        raise InputError(
            f"has policies for the scan base ({of_bases[0].name}) and for lists of clusters "
            f"({of_lists[0].name}): put each kind into a file of its own",
            path=file,
        )
    if of_lists:
        return _ranked_lists(of_lists, seeds)
    ranking = patch.rank(of_bases, seeds=seeds, progress=sys.stderr.isatty())
    return Found(
        [_table(ranking, name, _IN_WORDS[name]) for name in patch.RANKED_BY],
        chart=lambda: _chart(ranking, [policy.name for policy in policies], seeds),
        lines=_too_few(seeds),
        in_file=ranking,
    )


def _ranked_lists(policies: "Sequence[ListPolicy]", seeds: int) -> Found:
    """Rank choices of lists among the alternatives to the rules of 7.3."""
    from swapsim.clusters import alternatives, charts

    ranking = alternatives.rank_policies(policies, seeds=seeds, progress=sys.stderr.isatty())
    names = ", ".join(policy.name for policy in policies)

    change = f"change from the rules of {alternatives.BASE}"
    return Found(
        [_table(ranking, metric, change) for metric in alternatives.METRICS],
        chart=lambda: charts.alternatives(ranking, title=f"{names} among today's alternatives"),
        lines=_too_few(seeds),
        in_file=ranking,
    )


def _too_few(seeds: int) -> list[str]:
    """Return a line if the runs are too few for the intervals by which policies are ranked."""
    from swapsim.claims.judging import FEWEST_ROUNDS

    if seeds >= FEWEST_ROUNDS:
        return []
    return [f"too few seeds for an interval (from {FEWEST_ROUNDS} on): the ranks may be chance"]


def _chart(ranking: pl.DataFrame, policies: Sequence[str], seeds: int) -> "alt.ConcatChart":
    """Draw each policy's median in its interval, the best on top, a panel for each metric."""
    from swapsim.charts import general

    panel = pl.format("{}, {} ({} is better)", "metric", "unit", "better")
    return general.dots(
        ranking.drop("tied_with").with_columns(panel=panel),
        *("median", "policy", "policy"),
        panel="panel",
        columns=1,
        own_axes=True,
        tight=True,
        title=f"{', '.join(policies)} among the built-in policies",
        subtitle=f"medians of {seeds} seeds, and their 95 % intervals",
    )


def _table(ranking: pl.DataFrame, metric: str, words: str) -> Printed:
    """Return the part of a ranking for one metric, by rank, with the metric's unit."""
    from swapsim.study.tables import RANKING

    ranked = ranking.filter(metric=metric)
    unit, better = ranked.row(0)[1:3]
    figures = {name: replace(RANKING[name], unit=unit) for name in ("median", "low", "high")}
    title = f"{metric}, {words} ({better} is better)"
    return Printed(metric, ranked.select(_COLUMNS), RANKING.by_name | figures, title=title)
