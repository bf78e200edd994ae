# SPDX-License-Identifier: GPL-2.0-or-later
"""The contention machine under policies for the scan base, by the metrics of `run_policies`."""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import product
from operator import add
from typing import Any

import polars as pl

from swapsim.ffi import POLICIES
from swapsim.live.models import machine
from swapsim.machine import MachineConfig
from swapsim.machine.run import PAGE_KIB, PAGES_MOVED


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
    """Return ``policy, seed, metric, value, unit``; figures are added in order."""
    found = []
    for policy, seed in product(values["policies"], values["seeds"]):
        run = machine.rows({**values["machine"], "policy": policy, "seed": seed})
        value = dict(run.select("metric", "value").iter_rows())

        def total(prefix: str, value: dict[str, float] = value) -> float:
            return reduce(add, (value[name] for name in value if name.startswith(prefix)), 0.0)

        moved = (value["swap_out"] + value["swap_in"]) / PAGE_KIB
        found += [
            (policy, int(seed), PAGES_MOVED, moved, "pages/s"),
            (policy, int(seed), "waits", total("cycles."), "% of cycles"),
            (policy, int(seed), "tested", total("slots.tested_"), "per slot"),
            (policy, int(seed), "si->lock", total("acquisitions.si_lock."), "per page"),
        ]
    names = ["policy", "seed", "metric", "value", "unit"]
    return pl.DataFrame(found, schema=names, orient="row")
