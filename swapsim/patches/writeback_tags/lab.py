# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A beside the lab kernel: machines of its experiment, and the replay's acquisitions."""

from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims import results
from swapsim.errors import InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.lab import PAGES_OF_MEBIBYTE, UNTIL_DONE, machines_of
from swapsim.mapping.replay import totals_per_page
from swapsim.patches.writeback_tags.machines import PATCH


def measured_as_mailed() -> None:
    """Return None: the lab's test counts locks and has no row of the mail's table."""


def lab_machine(*, policy: str = "off", seed: int = 1) -> MachineConfig:
    """Return the machine of data/measured/writeback-tags: eight writers of 32 MiB that exit.

    Parameters
    ----------
    policy : {"off", "on"}
        The switch swap_tags: does the swap cache keep writeback tags?
    seed : int

    Source
    ------
    data/capture/experiments/writeback-tags.toml.
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


EXPERIMENTS: Final = {
    "writeback-tags": lambda: [lab_machine(policy=policy) for policy in ("off", "on")]
}
"""Those of data/measured that are machines here."""


def lab_machines(experiment: str) -> list[MachineConfig]:
    """Return the machines of an experiment, one per value of the switch.

    Parameters
    ----------
    experiment : str
        One of EXPERIMENTS.

    Raises
    ------
    InputError
        There is no machine of it.
    """
    return machines_of(EXPERIMENTS, experiment)


def acquisitions_held_against(sites: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Hold the replay's acquisitions a page against those of a real kernel, tags off and on.

    Parameters
    ----------
    sites : polars.DataFrame
        Schema LOCK_SITES of kernel 6.1, the measured one, tags kept and not.
    medians : polars.DataFrame
        Schema MEDIANS of the experiment writeback-tags.

    Returns
    -------
    polars.DataFrame
        Schema MEASURED_COUNTS; the policy is the boot parameter swap_tags, "off" or "on".
    """
    totals = totals_per_page(sites).filter(pl.col("flow") == "swap, written")
    rows = totals.select(
        "kernel",
        policy=pl.when("tags").then(pl.lit("on")).otherwise(pl.lit("off")),
        metric=pl.lit("xa_lock acquisitions"),
        value="acquisitions",
        unit=pl.lit("1/page"),
    )
    simulated = results(rows, {"patch": PATCH, "n_tasks": 8, "seed": 0})
    return claims.held_against(simulated, medians)
