# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a ranking (RANKING), as the commands print them: one for each metric."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from swapsim.cli.tables import Printed
from swapsim.study.ranking import FEWEST_RUNS, confidence_of
from swapsim.study.tables import RANKING
from swapsim.tables import Column

_COLUMNS: Final[Sequence[str]] = ("rank", "policy", "median", "low", "high")
_ON_RECORDING: Final = "change on this recording, which is no draw of the generator"


def runs_of(ranking: pl.DataFrame) -> int:
    """Return how many runs each median has at least."""
    return int(ranking["runs"].min())  # type: ignore[arg-type]


def about(ranking: pl.DataFrame) -> str:
    """Return the line below the tables: how policies are ranked, or that the runs are too few."""
    if runs_of(ranking) < FEWEST_RUNS:
        return f"too few seeds for an interval: nothing is ranked below --seeds {FEWEST_RUNS}"
    return (
        "ranks compare policies seed by seed: the interval of the median difference excludes 0, or "
        "they are tied; so the intervals of two that are not tied may overlap"
    )


def of_metric(ranking: pl.DataFrame, metric: str, words: str) -> Printed:
    """Return the part of a ranking for one metric, by rank, with the metric's unit.

    Of too few runs it is by the median, without ranks. Columns that RANKING lacks are recordings.
    """
    ranked = ranking.filter(metric=metric)
    unit, better = ranked.row(0)[1:3]
    columns = {name: replace(RANKING[name], unit=unit) for name in ("median", "low", "high")}
    title = f"{metric}, {words} ({better} is better)"
    runs = runs_of(ranked)
    recordings = [name for name in ranked.columns if name not in RANKING.by_name]
    names = [*_COLUMNS, *recordings, *(["tied_with"] if "tied_with" in ranked.columns else [])]
    if runs >= FEWEST_RUNS:
        of = f"end of the median's exact interval, {confidence_of(runs)}"
        meanings = {"low": f"lower {of}", "high": f"upper {of}"}
    else:
        ranked = ranked.sort("median", descending=better == "higher", maintain_order=True)
        names = [*["policy", "median", "low", "high"][: 4 if runs > 1 else 2], *recordings]
        meanings = {
            "low": f"least figure of {runs} seeds",
            "high": f"greatest figure of {runs} seeds",
        }
    columns |= {name: replace(columns[name], meaning=each) for name, each in meanings.items()}
    columns |= {name: Column(name, pl.Float64, _ON_RECORDING, unit) for name in recordings}
    return Printed(metric, ranked.select(names), RANKING.by_name | columns, title=title)
