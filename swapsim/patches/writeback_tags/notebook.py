# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of notebook 01 alone."""

import polars as pl

from swapsim.mapping import MappingConfig, nodes_after_swap_out, totals_per_page
from swapsim.patches import rounds
from swapsim.patches.lab import PAGES_OF_MEBIBYTE
from swapsim.patches.writeback_tags import prediction
from swapsim.patches.writeback_tags.fits import with_tags_up_to as with_tags_up_to
from swapsim.published import data
from swapsim.published.data import results
from swapsim.study import against, over


def compare_acquisitions(sites: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Compare the replay's acquisitions per page (LOCK_SITES of 6.1) with a real kernel's."""
    totals = totals_per_page(sites).filter(pl.col("flow") == "swap, written")
    rows = totals.select(
        "kernel",
        policy=pl.when("tags").then(pl.lit("on")).otherwise(pl.lit("off")),
        metric=pl.lit("xa_lock acquisitions"),
        value="acquisitions",
        unit=pl.lit("1/page"),
    )
    simulated = results(rows, {"patch": prediction.PATCH, "n_tasks": 8, "seed": 0})
    return rounds.compare_counts(simulated, medians)


def compare_nodes(experiment: str) -> pl.DataFrame:
    """Compare the model's tree nodes with the medians of a real kernel, by policy and set."""
    medians = rounds.medians(data.measured_results(experiment))
    return rounds.compare_counts(simulated_nodes(experiment), medians)


def simulated_nodes(experiment: str) -> pl.DataFrame:
    """Return the model's nodes for each set of slots that a real kernel had in use (RESULTS).

    The metric is "SET: nodes" for each set, policy and round of the experiment.
    """
    sets = data.measured_table(experiment, "slots_in_use")
    provenance = data.measured_provenance(experiment)
    config = MappingConfig(
        kernel="6.1",
        swap_slots=provenance["guest"]["swap"]["mebibytes"] * PAGES_OF_MEBIBYTE,
        trunk_shift=provenance["kernel"]["trunk_shift"],
        tree_shift=provenance["kernel"]["tree_shift"],
    )
    rows = []
    groups = sets.group_by("policy", "seed", "set", maintain_order=True)
    for (policy, seed, name), extents in groups:
        offsets = (
            offset
            for first, count in extents.select("first", "count").iter_rows()
            for offset in range(first, first + count)
        )
        nodes = nodes_after_swap_out(offsets, config)
        rows.append((policy, seed, f"{name}: nodes", float(nodes)))
    counted = pl.DataFrame(rows, schema=["policy", "seed", "metric", "value"], orient="row")
    patch = provenance["experiment"]["patch"]
    return results(counted, {"patch": patch, "kernel": config.kernel, "n_tasks": 1, "unit": "node"})


def gains_of_fits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the change of throughput by the patch in each stored fit, by its shares."""
    rates = rows.sort("map_share", maintain_order=True)
    rates = rates.filter(metric=prediction.THROUGHPUT).select(
        "tag_share", pl.col("map_share").cast(pl.String), "kernel", "seed", "value"
    )
    means = over(rates, stat="mean").drop("runs", "low", "high")
    return against(means, kernel=prediction.BASE, value="middle").rename({"middle": "change"})
