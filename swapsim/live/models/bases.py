# SPDX-License-Identifier: GPL-2.0-or-later
"""The contention machine under policies for the scan base."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from swapsim.ffi import POLICIES
from swapsim.live.models import machine
from swapsim.machine import MachineConfig
from swapsim.machine.run import run_policy


def setting(
    config: MachineConfig,
    policies: Sequence[str] = POLICIES,
    seeds: Sequence[int] = (1,),
    constants: pl.DataFrame | None = None,
) -> dict[str, Any]:
    """Return a machine, policies and seeds as a setting."""
    made = machine.setting(config, constants)
    return {"machine": made, "policies": [*policies], "seeds": [*seeds]}


def rows(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return the metrics of `run_policies`: ``policy, seed, metric, value, unit``."""
    config = machine.config_of(values["machine"])
    constants = machine.constants_of(values["machine"])

    def changed(policy: str, seed: int) -> MachineConfig:
        return replace(config, policy=policy, seed=seed)

    return pl.concat(
        run_policy(changed, (policy, int(seed)), constants=constants).select(
            pl.lit(policy).alias("policy"),
            pl.lit(int(seed)).alias("seed"),
            "metric",
            "value",
            "unit",
        )
        for policy in values["policies"]
        for seed in values["seeds"]
    )
