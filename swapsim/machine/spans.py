# SPDX-License-Identifier: GPL-2.0-or-later
"""A run of the contention machine, wait by wait and hold by hold."""

import polars as pl

from swapsim.machine._native_log import MachineLog
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import check_costs, costs
from swapsim.machine.tables import MACHINE_SPANS


def spans(config: MachineConfig, constants: pl.DataFrame | None = None) -> pl.DataFrame:
    """Run a machine and tell each wait for a lock, behind whom, each hold and each sleep.

    Parameters
    ----------
    config : MachineConfig
        After its warm-up it is watched for ``duration_ns``. A ms of 8 busy CPUs is some 10,000
        rows of 60 bytes: watch for a few.
    constants : polars.DataFrame, optional
        Schema CONSTANTS; default: data/costs.csv.

    Returns
    -------
    polars.DataFrame
        Schema MACHINE_SPANS, each CPU's spans in the order of their ends. Of a site the waits
        add up to what `run` counts, and so do the holds.

    Raises
    ------
    ConfigError
    InputError
        A cost does not fit, or the devices fill up.
    NativeMemoryError
    """
    checked = costs() if constants is None else check_costs(constants)
    log = MachineLog(config, dict(checked.select("name", "value").iter_rows()))
    parts = [sample.spans for sample in log.samples(config.duration_ns)]
    return MACHINE_SPANS.check(pl.concat(parts))
