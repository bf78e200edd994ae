# SPDX-License-Identifier: GPL-2.0-or-later
"""What stock kernels 6.12 and 7.3 were seen to do: patches A, B and C by their counts.

The experiments ran under an emulator, so counts are reliable and times are not used. A setting of
an experiment says whether reclaim had two LRU lists or generations (MGLRU), what a folio was, and
how many CPUs there were.
"""

from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.checks import checked
from swapsim.claims.tables import RESULTS
from swapsim.errors import InputError
from swapsim.frames.table import Table
from swapsim.newer.tables import CLUSTERS_A_LIST, RULES_THAT_RUN, WRITEBACK_A_PAGE

REMOVALS: Final = "removal-lists-newer"
DECISIONS: Final = "stall-rules-generations"
"""Experiments, by the names of their folders in data/measured."""

_RECLAIMERS: Final = ("kswapd", "direct", "cgroup")

_REASONS: Final = ("WRITEBACK", "CONGESTED", "NOPROGRESS", "ISOLATED")

_RULES: Final = {
    "passes of reclaim over a node": ("passes",),
    "passes after which a node's state is decided": ("passes that decide",),
    "passes that begin on a node marked as under writeback": ("passes flagged WRITEBACK",),
    "passes that begin on a node marked as dirty": ("passes flagged DIRTY",),
    "flusher threads woken by reclaim": ("flushers woken",),
    "throttle requested: writeback": ("throttles WRITEBACK",),
    "throttle requested: congested": ("throttles CONGESTED",),
    "throttle requested: no progress": ("throttles NOPROGRESS",),
    "throttle requested: isolated": ("throttles ISOLATED",),
    "tasks that slept": tuple(f"stalls {reason}" for reason in _REASONS),
}
"""What patch C's rules do -> the counts whose sum it is."""

_SETTINGS: Final = ("lists", "generations")


@checked
def clusters_a_list(results: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return how many clusters a list of reclaim touches as it empties the swap cache.

    Parameters
    ----------
    results : polars.DataFrame, optional
        Schema RESULTS; default: the experiment REMOVALS.

    Returns
    -------
    polars.DataFrame
        Schema CLUSTERS_A_LIST, one row per kernel and setting.

    Raises
    ------
    InputError
        A count is missing.

    Source
    ------
    mm/vmscan.c: shrink_folio_list, __remove_mapping; data/measured/removal-lists-newer.
    """
    rounds = _rounds(
        claims.measured_results(REMOVALS) if results is None else results,
        ("lists", "folios removed", "clusters of lists", "trunks of lists"),
    )
    lists, folios = pl.col("lists"), pl.col("folios removed")
    holds = pl.col("clusters of lists") / folios
    found = rounds.group_by("kernel", "setting", maintain_order=True).agg(
        rounds=pl.len(),
        lists=lists.sum(),
        folios_a_list=folios.sum() / lists.sum(),
        clusters_a_list=pl.col("clusters of lists").sum() / lists.sum(),
        trunks_a_list=pl.col("trunks of lists").sum() / lists.sum(),
        holds_a_folio=pl.col("clusters of lists").sum() / folios.sum(),
        low=holds.min(),
        high=holds.max(),
    )
    return _checked(CLUSTERS_A_LIST, found)


@checked
def writeback_a_page(results: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return how often writeback of swap starts and ends per page swapped out.

    Parameters
    ----------
    results : polars.DataFrame, optional
        Schema RESULTS; default: the experiment REMOVALS.

    Returns
    -------
    polars.DataFrame
        Schema WRITEBACK_A_PAGE, one row per kernel and setting.

    Raises
    ------
    InputError
        A count is missing.

    Source
    ------
    mm/page-writeback.c: __folio_start_writeback, __folio_end_writeback.
    """
    rounds = _rounds(
        claims.measured_results(REMOVALS) if results is None else results,
        ("writeback starts", "writeback ends"),
    )
    both = pl.col("writeback starts") + pl.col("writeback ends")
    found = rounds.group_by("kernel", "setting", maintain_order=True).agg(
        rounds=pl.len(),
        starts=pl.col("writeback starts").median(),
        ends=pl.col("writeback ends").median(),
        acquisitions=both.median(),
        low=both.min(),
        high=both.max(),
    )
    return _checked(WRITEBACK_A_PAGE, found)


@checked
def rules_that_run(results: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return how often reclaim applies patch C's rules, with two LRU lists and with generations.

    Parameters
    ----------
    results : polars.DataFrame, optional
        Schema RESULTS; default: the experiment DECISIONS.

    Returns
    -------
    polars.DataFrame
        Schema RULES_THAT_RUN, one row per kernel and rule: medians over the rounds, of kswapd,
        direct reclaim and a cgroup's reclaim together.

    Raises
    ------
    InputError
        A count is missing.

    Source
    ------
    mm/vmscan.c: shrink_node, lru_gen_shrink_node; data/measured/stall-rules-generations.
    """
    measured = claims.measured_results(DECISIONS) if results is None else results
    RESULTS.check(measured)
    by_rule = pl.concat(
        measured.filter(
            pl.col("metric").is_in([f"{name} {by}" for name in names for by in _RECLAIMERS])
        )
        .group_by("kernel", "policy", "seed", maintain_order=True)
        .agg(count=pl.col("value").sum())
        .with_columns(rule=pl.lit(rule))
        for rule, names in _RULES.items()
    )
    if by_rule.is_empty():
        raise InputError("the results have no decisions of reclaim", field="metric")
    order = {rule: at for at, rule in enumerate(_RULES)}
    found = (
        by_rule.group_by("kernel", "rule", maintain_order=True)
        .agg(
            pl.col("seed").n_unique().alias("rounds"),
            *(
                summary(pl.col("count").filter(policy=setting)).alias(f"{setting}{suffix}")
                for setting in _SETTINGS
                for suffix, summary in (
                    ("", pl.Expr.median),
                    ("_low", pl.Expr.min),
                    ("_high", pl.Expr.max),
                )
            ),
        )
        .sort("kernel", pl.col("rule").replace_strict(order))
    )
    return _checked(RULES_THAT_RUN, found)


def _rounds(results: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return one row per kernel, setting and round, with a column for each metric."""
    RESULTS.check(results)
    keys = ["kernel", "setting", "seed"]
    wide = (
        results.rename({"policy": "setting"})
        .filter(pl.col("metric").is_in(metrics))
        .pivot("metric", index=keys, values="value")
    )
    for name in metrics:
        if name not in wide.columns or wide[name].null_count():
            raise InputError(f"a round has no {name!r}: measure again", field="metric")
    return wide


def _checked(table: Table, found: pl.DataFrame) -> pl.DataFrame:
    columns = [pl.col(name).cast(dtype) for name, dtype in table.schema.items()]
    return table.check(found.select(columns))
