# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A and the lab kernel: the machines of its experiment, and the nodes of the trees."""

import polars as pl

from swapsim import claims
from swapsim.claims import results
from swapsim.errors import InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.lab import PAGES_OF_MEBIBYTE, UNTIL_DONE
from swapsim.mapping import MappingConfig
from swapsim.mapping._native import nodes_after_swap_out
from swapsim.patches.writeback_tags.prediction import PATCH


def lab_machine(*, policy: str = "off", seed: int = 1) -> MachineConfig:
    """Return the machine of data/measured/writeback-tags: eight writers of 32 MiB that exit.

    ``policy`` is the switch swap_tags, "off" or "on": whether the swap cache has writeback tags.
    Source: data/capture/experiments/writeback-tags.toml.
    """
    if policy not in ("off", "on"):
        raise InputError(f"choose off or on, not {policy!r}", field="policy")
    return MachineConfig(
        patch=PATCH,
        kernel="6.1",
        swap_writeback_tags=policy == "on",
        writers=8,
        accesses=32 * PAGES_OF_MEBIBYTE,
        memory_max=64 * PAGES_OF_MEBIBYTE,
        frames=2**16,
        slots=2**17,
        warmup_ns=0,
        duration_ns=UNTIL_DONE,
        seed=seed,
    )


def simulated_nodes(experiment: str) -> pl.DataFrame:
    """Return the model's nodes for each set of slots that a real kernel had in use (RESULTS).

    The metric is "SET: nodes" for each set, policy and round of the experiment.
    """
    sets = claims.measured_table(experiment, "slots_in_use")
    provenance = claims.measured_provenance(experiment)
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
