# SPDX-License-Identifier: GPL-2.0-or-later
"""The contention machine, by its metrics."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

import polars as pl

from swapsim.machine import Machine
from swapsim.machine.constants import costs, costs_by_name
from swapsim.machine.running import run_rows

_NOT_SET: Final = ("patch", "streams")


def setting(config: Machine, constants: pl.DataFrame | None = None) -> dict[str, Any]:
    """Return a machine and its costs (default: its own) as a setting."""
    names = [field.name for field in fields(config) if field.init and field.name not in _NOT_SET]
    values = {name: getattr(config, name) for name in names}
    return values | {
        "seed": str(config.seed),
        "costs": costs_by_name(costs(config) if constants is None else constants),
    }


def rows(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return a row for each metric of `machine.run`: ``metric, value, unit``."""
    config = Machine(**{**values, "seed": int(values["seed"])})
    return run_rows(config).select("metric", "value", "unit")


def as_python() -> dict[str, Any]:
    """Return the fields of a panel that say which Python the machine stands for."""
    return {
        "defaults": setting(Machine(walkers=0, writers=1)),
        "head": "from swapsim import live, machine",
        "call": "machine.run(machine.Machine(costs={costs}, {fields})).rows",
    }
