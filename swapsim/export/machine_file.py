# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine as a TOML file tells it."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import io
from swapsim.errors import ConfigError, InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs

_COSTS: Final = "costs"
_NO_TEXT: Final = ("streams",)
"""Fields that no text can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFile:
    """A machine, and its costs (schema CONSTANTS)."""

    config: MachineConfig
    costs: pl.DataFrame


def machine_config(path: Path | str) -> MachineFile:
    """Read a machine from a TOML file.

    Parameters
    ----------
    path : Path or str
        Its keys are fields of `config.MachineConfig`; those of its table ``[costs]`` are names of
        data/costs.csv, in ns. What it does not name is as by default.

    Returns
    -------
    MachineFile

    Raises
    ------
    InputError
        It cannot be read, or naming the field that is unknown or does not fit.
    """
    path = Path(path)
    told = io.read_toml(path)
    changes = told.pop(_COSTS, {})
    known = [field.name for field in fields(MachineConfig) if field.name not in _NO_TEXT]
    for name in told:
        if name not in known:
            raise InputError(
                f"no field of a machine; there are: {', '.join(known)} and [{_COSTS}]",
                path=path,
                field=name,
            )
    if not isinstance(changes, dict):
        raise InputError("must be a table: [costs], and a line NAME = NS for each", path=path)
    try:
        return MachineFile(config=MachineConfig(**told), costs=change_costs(costs(), changes))
    except (ConfigError, TypeError) as error:
        raise InputError(" ".join(str(error).split()), path=path) from None
    except InputError as error:
        raise error.of(path) from None
