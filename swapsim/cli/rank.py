# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim rank``: the policies of a user's file among the built-in ones."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import polars as pl

from swapsim.cli.tables import Found, shows
from swapsim.cli.verbs import Verb

if TYPE_CHECKING:
    import altair as alt

    from swapsim.policies import ListPolicy

_IN_WORDS = {
    "throughput": "pages out and in that the machine moves a second",
    "transfers": "on the workbench: additions to the swap cache that fetch the lock's line "
    "from another CPU",
    "locality": "on the workbench: adjacent slots that a task is handed in sequence",
    "scanned": "on the workbench: slots tested for one that is handed out",
}
_MERGED: Final = "percpu-rerandomise"  # the built-in policy with which a user's is compared

_NOT_ALIKE: Final = (
    "7.3 takes si->lock to look at an empty list, which a policy need not ask, and takes a free "
    "cluster first on a device that discards: so the same choices are not tied in si->lock"
)


@click.command(
    cls=Verb,
    help="Rank the policies of a file among the built-in ones, by throughput and by counts.\n\n"
    "POLICY.py is Python and runs as you; what it prints goes to stderr. Each function that it "
    "decorates is ranked: either all with @swapsim.policy (the scan base, up to 6.11), or all with "
    "@swapsim.list_policy (lists of clusters, from 6.12 on), for the two are ranked on different "
    "kernels. Policies are compared seed by seed: one is better if the interval of the median "
    "difference excludes 0, else they are tied, and a rank has all places that this allows, such "
    "as 1-3. Of fewer than five seeds nothing is ranked.",
)
@click.argument("file", type=click.Path(path_type=Path), metavar="POLICY.py")
@click.option(
    "--seeds", type=click.IntRange(1, 1000), default=8, show_default=True, help="Runs of each."
)
@shows(charts=True)
def rank(file: Path, seeds: int) -> Found:
    from swapsim.cli.ranked import about, of_metric
    from swapsim.errors import InputError
    from swapsim.ffi import POLICIES
    from swapsim.policies import ListPolicy, Policy, policies_in
    from swapsim.slots.ranking import RANKED_BY, runs
    from swapsim.study import summary

    policies = policies_in(file)
    of_lists = [policy for policy in policies if isinstance(policy, ListPolicy)]
    of_bases = [policy for policy in policies if isinstance(policy, Policy)]
    if not of_lists and not of_bases:
        raise InputError(
            f"has no policy of swap slots to rank: compare {policies[0].name} by "
            "'swapsim replay mglru DIR --policy FILE'",
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
    rows = runs(of_bases, seeds=seeds, progress=sys.stderr.isatty())
    ranking = summary.ranking(rows, RANKED_BY, POLICIES)
    return Found(
        [of_metric(ranking, name, _IN_WORDS[name]) for name in RANKED_BY],
        summary=_summary(ranking, _MERGED, "the merged rule of patch D"),
        chart=lambda: _chart(ranking, [policy.name for policy in policies]),
        lines=[about(ranking)],
        in_file=ranking,
    )


def _ranked_lists(policies: "Sequence[ListPolicy]", seeds: int) -> Found:
    """Rank choices of lists among the alternatives to the rules of 7.3."""
    from swapsim.cli.ranked import about, of_metric, runs_of
    from swapsim.clusters import charts, ranking
    from swapsim.study.ranking import statistics
    from swapsim.study.tables import RANKING

    measures = ranking.compared(policies, seeds=seeds, progress=sys.stderr.isatty())
    found = ranking.with_recordings(ranking.ranked(measures), measures)
    names = ", ".join(policy.name for policy in policies)

    change = f"change from the rules of {ranking.BASE}"
    return Found(
        [of_metric(found, metric, change) for metric in ranking.METRICS],
        summary=_summary(found, ranking.BASE, "median change from its rules"),
        chart=lambda: charts.alternatives(
            found.select(RANKING.names()),
            title=f"{names} among today's alternatives",
            subtitle=statistics(runs_of(found)),
        ),
        lines=[_NOT_ALIKE, about(found)],
        in_file=found,
    )


def _summary(ranking: pl.DataFrame, base: str, words: str) -> list[str]:
    """Return for each policy of the user a line a metric in which it is not tied with a base.

    ``words`` says what the base is. Of too few runs each metric has a line, without a verdict.
    """
    lines = []
    from swapsim.cli.ranked import runs_of
    from swapsim.study.ranking import FEWEST_RUNS

    ranks = runs_of(ranking) >= FEWEST_RUNS
    for policy in ranking.filter("user")["policy"].unique(maintain_order=True):
        of_metrics = ranking.partition_by("metric", maintain_order=True)
        pairs = [(_row(rows, policy), _row(rows, base), rows.height) for rows in of_metrics]
        if not ranks:
            lines.append(f"{policy} and {base} ({words}):")
            lines += [f"  {_figures(mine, its)}" for mine, its, _ in pairs]
            continue
        apart = [pair for pair in pairs if base not in pair[0]["tied_with"]]
        if not apart:
            lines.append(f"{policy}: tied with {base} ({words}) in all {len(pairs)} metrics")
            continue
        lines.append(f"{policy} and {base} ({words}):")
        lines += [f"  {_compared(*pair)}" for pair in apart]
        if tied := [mine["metric"] for mine, its, _ in pairs if base in mine["tied_with"]]:
            lines.append(f"  tied: {', '.join(tied)}")
    return lines


def _row(rows: pl.DataFrame, policy: str) -> dict[str, Any]:
    return rows.row(by_predicate=pl.col("policy") == policy, named=True)


def _compared(mine: Mapping[str, Any], its: Mapping[str, Any], policies: int) -> str:
    """Return the figures of a policy and of a base, and which of the two is better."""
    verdict = "better" if its["policy"] in mine["better_than"] else "worse"
    return f"{_figures(mine, its)}: {verdict}, rank {mine['rank']} of {policies}"


def _figures(mine: Mapping[str, Any], its: Mapping[str, Any]) -> str:
    """Return the figure of a policy next to a base's."""
    median, low, high = (f"{mine[name]:.3g}" for name in ("median", "low", "high"))
    other = f"{its['median']:.3g}"
    ends = f" ({low} to {high})" if mine["runs"] > 1 else ""
    # In a ranking of changes the base has none.
    base = f", {its['policy']} {other}" if its["median"] else ""
    return f"{mine['metric']}: {median} {mine['unit']}{ends}{base}"


def _chart(ranking: pl.DataFrame, policies: Sequence[str]) -> "alt.ConcatChart":
    """Draw each policy's median in its interval, the best on top, a panel for each metric."""
    from swapsim.charts import general
    from swapsim.cli.ranked import runs_of
    from swapsim.study.ranking import statistics

    panel = pl.format("{}, {} ({} is better)", "metric", "unit", "better")
    return general.dots(
        ranking.drop("better_than", "tied_with").with_columns(panel=panel),
        *("median", "policy", "policy"),
        panel="panel",
        columns=1,
        own_axes=True,
        tight=True,
        title=f"{', '.join(policies)} among the built-in policies",
        subtitle=statistics(runs_of(ranking)),
        words={"median": "{}"},
    )
