# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of patch A's mail, simulated: base and patched machine with the same constants.

Rows bear the mail's own names, so that they stand beside the published ones in
`claims.three_columns`. A lock of the mail that the machine does not have is no row here.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from swapsim.claims import results
from swapsim.errors import require_some
from swapsim.machine.run import TABLE_SEEDS, labels, metric_values, run
from swapsim.patches.writeback_tags.fitting import TREE_ROWS, run_rates
from swapsim.patches.writeback_tags.machines import machine

_PROFILE: Final = "perf-profile.cycles-pp."


def predict(constants: pl.DataFrame, seeds: Sequence[int] = TABLE_SEEDS) -> pl.DataFrame:
    """Simulate the table of patch A's mail.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema CONSTANTS, as `fit` finds them.
    seeds : sequence of int

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: throughput and swap.so of a whole run, and the four profile rows, for the
        kernels base and base+patch, for each seed.

    Raises
    ------
    InputError
        No seed is given.
    """
    require_some(seeds, "seeds")
    frames = []
    for seed in seeds:
        for kernel, tags in (("base", True), ("base+patch", False)):
            config = machine(tags=tags, seed=seed)
            value = metric_values(config, constants)
            throughput, swap_out = run_rates(value["swap_out"], constants)
            rows = [
                ("vm-scalability.throughput", throughput, "KiB/s"),
                ("vmstat.swap.so", swap_out, "KiB/s"),
                *(
                    (_PROFILE + row, value[f"cycles.{site}"], "% of cycles")
                    for site, row in TREE_ROWS.items()
                ),
            ]
            frames.append(results(rows, labels(config, kernel=kernel)))
    return pl.concat(frames)


def runs(constants: pl.DataFrame, *, channels: int = 0, seed: int = 1) -> dict[str, pl.DataFrame]:
    """Run patch A's test once without the patch and once with it.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema CONSTANTS.
    channels : int
        Pages that a drive serves at a time; 0: the device is memory.
    seed : int

    Returns
    -------
    dict of str to polars.DataFrame
        base and base+patch -> schema RESULTS, all metrics of `run.run`.
    """
    return {
        kernel: run(replace(machine(tags=tags, seed=seed), channels=channels), constants)
        for kernel, tags in (("base", True), ("base+patch", False))
    }
