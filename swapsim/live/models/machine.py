# SPDX-License-Identifier: GPL-2.0-or-later
"""The contention machine, by its metrics."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

import polars as pl

from swapsim.machine import MachineConfig
from swapsim.machine.costs import change_costs, costs, costs_by_name
from swapsim.machine.run import run

_NOT_SET: Final = ("patch", "streams")


def setting(config: MachineConfig, constants: pl.DataFrame | None = None) -> dict[str, Any]:
    """Return a machine and its costs (default: data/costs.csv) as a setting."""
    names = [field.name for field in fields(config) if field.name not in _NOT_SET]
    values = {name: getattr(config, name) for name in names}
    return values | {"seed": str(config.seed), "costs": costs_by_name(constants)}


def rows(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return a row for each metric of `machine.run`: ``metric, value, unit``."""
    known = {name: value for name, value in values.items() if name != "costs"}
    config = MachineConfig(**known | {"seed": int(values["seed"])})
    return run(config, change_costs(costs(), values["costs"])).select("metric", "value", "unit")


def as_python() -> dict[str, Any]:
    """Return the fields of a panel that say which Python the machine stands for."""
    return {
        "defaults": setting(MachineConfig(walkers=0, writers=1)),
        "head": "from swapsim import live, machine",
        "call": "machine.run.run(machine.MachineConfig({fields}), "
        "machine.costs.change_costs(machine.costs.costs(), {costs}))",
    }
