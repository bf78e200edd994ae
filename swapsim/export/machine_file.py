# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that a TOML file describes."""

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
"""Fields that a TOML file cannot contain."""


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
        data/costs.csv, in ns. Other fields have their defaults.

    Returns
    -------
    MachineFile

    Raises
    ------
    InputError
        The file cannot be read, or a field is unknown or does not fit.
    """
    path = Path(path)
    settings = io.read_toml(path)
    changes = settings.pop(_COSTS, {})
    known = [field.name for field in fields(MachineConfig) if field.name not in _NO_TEXT]
    for name in settings:
        if name not in known:
            raise InputError(
                f"no such field of a machine; choose of {', '.join(known)} and [{_COSTS}]",
                path=path,
                field=name,
            )
    if not isinstance(changes, dict):
        raise InputError("must be a table: [costs], and a line NAME = NS for each", path=path)
    try:
        return MachineFile(config=MachineConfig(**settings), costs=change_costs(costs(), changes))
    except (ConfigError, TypeError) as error:
        raise InputError(" ".join(str(error).split()), path=path) from None
    except InputError as error:
        raise error.of(path) from None
