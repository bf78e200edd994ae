# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's test with other constants, machines and lists."""

from collections.abc import Mapping
from itertools import product
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim.ffi import RECLAIM_RULES
from swapsim.patches.stall_decisions.mail import BASE, RULES
from swapsim.patches.stall_decisions.runs import (
    FILE_PAGES,
    ONE_ROUND,
    Run,
    labelled,
    mail_rows,
    mails_constants,
)
from swapsim.reclaim import MIB_PAGES, run_config

_OF_RUN: Final = {"rules": pl.String, "seed": pl.UInt64, "metric": pl.String, "value": pl.Float64}
_OF_MACHINE: Final = {"factor": pl.String, "setting": pl.Float64, **_OF_RUN}
"""The columns of the rows of other machines."""

# Other machines in one round of the mail's first test; the grids were chosen before any run.

WHAT_IF_SEEDS: Final = (1, 2, 3)
SWAPPINESS: Final = (0, 10, 30, 60, 100)
DIRTY_PERCENT: Final = (5, 10, 20, 40, 60)
DISK_MB: Final = (20, 60, 120, 250, 500, 1000, 2000)
MEMORY_GB: Final = (4, 7, 16, 32, 64)
_MAILED_MB: Final = 120  # megabytes per second of the disk whose seeks data/reclaim.csv has
MACHINE_ROWS: Final = ("Kswapd pages scanned", "Page writes file", "Swap Outs")


class Machine(NamedTuple):
    """A machine: the factor that is varied, its setting, and what differs from the mail's."""

    factor: str
    setting: float
    constants: Mapping[str, int] = {}
    fields: Mapping[str, Any] = {}


def other_machines() -> list[Machine]:
    """Return all machines, factor by factor."""
    return [
        *(Machine("swappiness", value, fields={"swappiness": value}) for value in SWAPPINESS),
        *(Machine("dirty ratio, %", value, fields=_dirty_limits(value)) for value in DIRTY_PERCENT),
        *(Machine("disk, MB/s", value, _disk(value)) for value in DISK_MB),
        *map(_memory, MEMORY_GB),
    ]


def _dirty_limits(percent: int) -> dict[str, int]:
    return {"dirty_percent": percent, "background_percent": max(percent // 2, 1)}


def _disk(megabytes: int) -> dict[str, int]:
    """Return a disk; the seeks of a faster one are shorter in proportion."""
    share = min(_MAILED_MB / megabytes, 1)
    config = Run(rules=BASE).config()[0]
    seeks = {name: int(getattr(config, name) * share) for name in ("seek_near_ns", "seek_far_ns")}
    return {"disk_rate": megabytes * MIB_PAGES} | seeks


def _memory(gigabytes: int) -> Machine:
    """Return a memory; pool and file are the same shares of it as in the mail."""
    pages = gigabytes * 1024 * MIB_PAGES
    mailed = mails_constants()
    share = pages / mailed["memory_pages"]
    changed = {
        "memory_pages": pages,
        "pool_pages": int(mailed["pool_pages"] * share),
        "swap_pages": max(mailed["swap_pages"], pages),
    }
    return Machine("memory, GB", gigabytes, changed, {"files": (int(FILE_PAGES * share),)})


def machine_points() -> list[tuple[Machine, str, int]]:
    """Return each machine by each kernel of the mail, with each seed."""
    return list(product(other_machines(), RULES, WHAT_IF_SEEDS))


def run_machine(point: tuple[Machine, str, int]) -> pl.DataFrame:
    """Run one round of the mail's test on a machine."""
    machine, rules, seed = point
    fields = {**ONE_ROUND, **machine.fields}
    run = Run(rules=rules, seed=seed, constants=machine.constants, fields=fields)
    result = run_config(*run.config())
    counts = result.vmstat.filter(pl.col("metric").is_in(MACHINE_ROWS))
    (served,) = result.rounds.iter_rows(named=True)
    of_client = {
        "metric": ["Operations a second", "Seconds for the file"],
        "value": [served["ops_per_second"], served["io_ns"] / 1e9],
    }
    rows = pl.concat([counts, pl.DataFrame(of_client)])
    return labelled(rows, _OF_MACHINE, machine.factor, machine.setting, rules, seed)


# The lists of a node, as since 4.8, in place of those of two zones.

NODE_RULES: Final = ("3.9", "mmotm", "series-8", "3.11", "6.1")
"""Without a node's lists, 6.1 has no decisions."""

ZONES: Final = "two zones"
NODE: Final = "one node"


def node_points() -> list[tuple[str, Run]]:
    """Return each rule set on the lists that it has, with each seed."""
    found = mails_constants()
    # A node is one zone with the memory and the watermarks of both.
    memory = {"dma32_pages": found["memory_pages"] - found["other_pages"]}
    return [
        (lists, Run(rules=rules, seed=seed, constants=memory if lists == NODE else {}))
        for lists in (ZONES, NODE)
        for rules in NODE_RULES
        if lists == NODE or rules in RECLAIM_RULES
        for seed in WHAT_IF_SEEDS
    ]


def run_node(point: tuple[str, Run]) -> pl.DataFrame:
    """Run a point and return its rows (RESULTS); the kernel names the lists."""
    lists, run = point
    return mail_rows(run).with_columns(kernel=pl.lit(lists))
