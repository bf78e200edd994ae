# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of patch D's mails, simulated: base and patched machine with the same constants.

Rows bear the mails' own names, so that they stand beside the published ones in
`claims.three_columns`. A lock of the mails that the machine does not have is no row here.
"""

import math
from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim.claims import results
from swapsim.errors import require_some
from swapsim.machine.run import TABLE_SEEDS, labels, metric_values, run
from swapsim.patches.cluster_next.fitting import mail_of
from swapsim.patches.cluster_next.machines import DEVICE_GIGABYTES, machine
from swapsim.policies.policy import Policy

TABLE_GIGABYTES: Final = DEVICE_GIGABYTES // 2
"""Of a device of patch D's table: 384 trunks for nine CPUs, which hardly meet on as many or on 768,
and to fill more takes longer than to run."""

_GB_PER_KIB: Final = 1024 / 1e9


def predict(
    constants: pl.DataFrame,
    seeds: Sequence[int] = TABLE_SEEDS,
    *,
    version: str = "V1",
    policy: str | Policy | None = None,
) -> pl.DataFrame:
    """Simulate the table of one of the patch's mails.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema CONSTANTS, as `fit` finds them.
    seeds : sequence of int
    version : {"V1", "V3"}
    policy : str or Policy, optional
        Of the patched kernel; default: the version's own, "percpu" or "percpu-rerandomise".

    Returns
    -------
    polars.DataFrame
        Schema RESULTS: pmbench's score, both throughputs and the profile rows, for the mail's two
        kernels, for each seed.

    Raises
    ------
    ConfigError
        There is no such version.
    InputError
        No seed is given.
    """
    require_some(seeds, "seeds")
    mail = mail_of(version)
    patched = mail.policy if policy is None else policy
    frames = []
    for seed in seeds:
        for kernel, used in ((mail.base, "shared"), (mail.patched, patched)):
            config = machine(policy=used, seed=seed, kernel=mail.machine, gigabytes=TABLE_GIGABYTES)
            value = metric_values(config, constants)
            rows = [
                ("pmbench score", value["accesses"], "accesses/s"),
                ("swapin throughput", value["swap_in"] * _GB_PER_KIB, "GB/s"),
                ("swapout throughput", value["swap_out"] * _GB_PER_KIB, "GB/s"),
                *(
                    (row, math.fsum(value[f"cycles.{site}"] for site in sites), "% of cycles")
                    for row, sites in mail.rows.items()
                ),
            ]
            frames.append(results(rows, labels(config, kernel=kernel)))
    return pl.concat(frames)


def runs(
    constants: pl.DataFrame,
    policies: Sequence[str | Policy] = ("shared", "percpu"),
    *,
    seed: int = 1,
) -> dict[str, pl.DataFrame]:
    """Run patch D's test once with each of some policies, on devices of TABLE_GIGABYTES.

    Parameters
    ----------
    constants : polars.DataFrame
        Schema CONSTANTS.
    policies : sequence of str or Policy
    seed : int

    Returns
    -------
    dict of str to polars.DataFrame
        A policy's name -> schema RESULTS, all metrics of `run.run`.
    """
    return {
        policy if isinstance(policy, str) else policy.name: run(
            machine(policy=policy, seed=seed, gigabytes=TABLE_GIGABYTES), constants
        )
        for policy in policies
    }
