# SPDX-License-Identifier: GPL-2.0-or-later
"""The models of the live panels, run by the native library: the rows that JavaScript returns, too.

A setting is a dictionary of plain values that JSON can hold: the fields of the model's config by
their names. A model of the same name in ``models/NAME.js`` returns the same rows for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

import polars as pl

from swapsim.machine import MachineConfig
from swapsim.machine.costs import change_costs, costs, costs_by_name
from swapsim.machine.run import run

Setting = Mapping[str, Any]
_NOT_SET: Final = ("patch", "streams")


def machine_setting(config: MachineConfig, constants: pl.DataFrame | None = None) -> dict[str, Any]:
    """Return a machine and its costs as a setting; the seed is text, which JSON does not round."""
    names = (field.name for field in fields(config) if field.name not in _NOT_SET)
    values = {name: getattr(config, name) for name in names}
    return values | {"seed": str(config.seed), "costs": costs_by_name(constants)}


def machine(setting: Setting) -> pl.DataFrame:
    """Run the contention machine; return its metrics, values and units as `machine.run`."""
    values = {name: value for name, value in setting.items() if name != "costs"}
    config = MachineConfig(**values | {"seed": int(setting["seed"])})
    constants = change_costs(costs(), setting["costs"])
    return run(config, constants).select("metric", "value", "unit")


MODELS: Final[dict[str, Callable[[Setting], pl.DataFrame]]] = {"machine": machine}
"""The models by name."""
