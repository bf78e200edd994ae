# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes of a real kernel's swap cache beside those of the model, for the same slots in use."""

import polars as pl

from swapsim import claims
from swapsim.claims import results
from swapsim.claims.tables import MEASURED_COUNTS
from swapsim.mapping._native import nodes_after_swap_out
from swapsim.mapping.config import MappingConfig

SLOTS_OF_A_MEBIBYTE = 256


def simulated_nodes(experiment: str) -> pl.DataFrame:
    """Count the model's nodes for each set of slots that a real kernel had in use.

    Parameters
    ----------
    experiment : str
        Name of an experiment that counted tree nodes.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, the metric "SET: nodes" of each set, policy and round, as it was measured.

    Raises
    ------
    InputError
        If there is no such experiment, or it counted no tree nodes.
    """
    sets = claims.measured_slots(experiment)
    told = claims.measured_provenance(experiment)
    config = MappingConfig(
        kernel="6.1",
        swap_slots=told["guest"]["swap"]["mebibytes"] * SLOTS_OF_A_MEBIBYTE,
        trunk_shift=told["kernel"]["trunk_shift"],
        tree_shift=told["kernel"]["tree_shift"],
    )
    keys = ["policy", "seed", "set"]
    rows = []
    for (policy, seed, name), extents in sets.group_by(keys, maintain_order=True):
        offsets = (
            offset
            for first, count in extents.select("first", "count").iter_rows()
            for offset in range(first, first + count)
        )
        nodes = nodes_after_swap_out(offsets, config)
        rows.append((policy, seed, f"{name}: nodes", float(nodes)))
    counted = pl.DataFrame(rows, schema=["policy", "seed", "metric", "value"], orient="row")
    patch = told["experiment"]["patch"]
    return results(counted, {"patch": patch, "kernel": config.kernel, "n_tasks": 1, "unit": "node"})


def nodes_held_against(experiment: str) -> pl.DataFrame:
    """Hold the model's nodes against the median of a real kernel's rounds.

    Parameters
    ----------
    experiment : str
        Name of an experiment that counted tree nodes.

    Returns
    -------
    polars.DataFrame
        Schema MEASURED_COUNTS, one row per policy and set.

    Raises
    ------
    InputError
        As `simulated_nodes`.
    """
    medians = claims.medians(claims.measured_results(experiment))
    held = claims.held_against(simulated_nodes(experiment), medians)
    return MEASURED_COUNTS.check(held)
