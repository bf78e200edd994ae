# SPDX-License-Identifier: GPL-2.0-or-later
"""Is it the zones that collapse? The mail's machine with the lists of a node, as since 4.8."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from swapsim import claims, reclaim
from swapsim.ffi.facts import RECLAIM_RULES
from swapsim.patches.stall_decisions.worlds import Run, told

SEEDS: Final = (1, 2, 3)
RULES: Final = ("3.9", "mmotm", "series-8", "3.11", "6.1")
"""6.1's decisions are of a node's lists: zones have them not."""

ZONES: Final = "two zones"
NODE: Final = "one node"


class NodeCase(NamedTuple):
    """A run of the mail's first test: whose lists, by whose rules, which draws."""

    lists: str
    rules: str
    seed: int


def node_cases() -> list[NodeCase]:
    """Return each rule set on the lists that it has, with each seed."""
    return [
        NodeCase(lists, rules, seed)
        for lists in (ZONES, NODE)
        for rules in RULES
        if lists == NODE or rules in RECLAIM_RULES
        for seed in SEEDS
    ]


def run_of(case: NodeCase) -> Run:
    """Return the run; a node is a world of one zone, with the watermarks of both."""
    found = dict(reclaim.constants().select("name", "value").iter_rows())
    whole = {"dma32_pages": found["memory_pages"] - found["other_pages"]}
    return Run(rules=case.rules, seed=case.seed, constants=whole if case.lists == NODE else {})


def told_on_a_node(case: NodeCase) -> pl.DataFrame:
    """Run a case and return its rows.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS; the kernel says whose the lists are.
    """
    return told(run_of(case)).with_columns(kernel=pl.lit(case.lists))


def node_beside_zones(results: pl.DataFrame, rows: Sequence[str]) -> pl.DataFrame:
    """Set rows of the mail side by side, a line for each kind of lists and each rule set.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of `told_on_a_node`.
    rows : sequence of str
        As the mail calls them, without the table's name.

    Returns
    -------
    polars.DataFrame
        ``lists``, ``rules``, and a Float64 column per row: medians.
    """
    named = {f"disk: {row}": row for row in rows}
    medians = claims.medians(results.filter(pl.col("metric").is_in(list(named))))
    wide = medians.pivot("metric", index=["kernel", "policy"], values="median", maintain_order=True)
    return wide.select(
        pl.col("kernel").alias("lists"),
        pl.col("policy").alias("rules"),
        *(pl.col(metric).round(1).alias(row) for metric, row in named.items()),
    )
