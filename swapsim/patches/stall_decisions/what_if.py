# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's test with other constants, servers, machines and lists."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim import claims, reclaim
from swapsim.claims.judging import STAYS_WITHIN_PERCENT
from swapsim.claims.rounds import difference
from swapsim.ffi import RECLAIM_RULES
from swapsim.patches.stall_decisions.judgement import cells, orders
from swapsim.patches.stall_decisions.mail import BASE, BEFORE, RULES, SERIES
from swapsim.patches.stall_decisions.rounds import FILE_PAGES, ONE_ROUND
from swapsim.patches.stall_decisions.runs import Run, labelled, mail_rows, mails_constants
from swapsim.patches.stall_decisions.tables import (
    SIMULATED_MATTERS,
    SIMULATED_OPEN,
    SIMULATED_RANGES,
    SIMULATED_SERVERS,
    SIMULATED_WHAT_IF,
)
from swapsim.reclaim.parallelio import MIB_PAGES
from swapsim.study.constants import Moved, ends

# Open constants: each at the ends of its range, the others at their values, no new fit.

OF_THE_SERVER: Final = ("net_rate", "server_rate", "server_seek_ns")
"""Constants that are moved in the second test, all others in the first."""


def open_points() -> list[tuple[Moved, str]]:
    """Return each constant at both ends of its range, by each kernel of the mail."""
    return list(product(ends(reclaim.constants()), RULES))


def run_open(point: tuple[Moved, str]) -> pl.DataFrame:
    """Run the mail's test with a constant at an end of its range (SIMULATED_OPEN)."""
    moved, rules = point
    target = "nfs" if moved.constant in OF_THE_SERVER else "disk"
    run = Run(rules=rules, target=target, iterations=1, constants={moved.constant: moved.value})
    return labelled(cells(mail_rows(run)), SIMULATED_OPEN, moved.constant, moved.end)


def ranges(found: pl.DataFrame, simulated: pl.DataFrame) -> pl.DataFrame:
    """Return the range of each cell over the open constants, and how often its order holds.

    Parameters
    ----------
    found, simulated : polars.DataFrame
        Schemas SIMULATED_OPEN and RESULTS, of `mail_rows`.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_RANGES.
    """
    value = pl.col("simulated")
    frame = (
        SIMULATED_OPEN.check(found)
        .group_by("table", "metric", "rules", maintain_order=True)
        .agg(
            low=value.min(),
            low_by=pl.col("constant").get(value.arg_min()),
            high=value.max(),
            high_by=pl.col("constant").get(value.arg_max()),
            settings=pl.len(),
            inside=pl.col("inside").sum(),
        )
        .join(_ordered(found, simulated), on=["table", "metric"], how="left", maintain_order="left")
    )
    return SIMULATED_RANGES.check(frame.cast(SIMULATED_RANGES.schema))


def _ordered(found: pl.DataFrame, simulated: pl.DataFrame) -> pl.DataFrame:
    """Count the settings in which each row's kernels are in the mail's order."""
    setting = ["constant", "end", "table", "metric"]
    one, other = (
        found.select(*setting, pl.col("rules").alias(name), pl.col("simulated").alias(f"of_{name}"))
        for name in ("one", "other")
    )
    pairs = (
        orders(simulated)
        .join(one, on=["table", "metric", "one"])
        .join(other, on=[*setting, "other"])
    )
    rise = pl.col("of_other") - pl.col("of_one")
    right = pl.when(pl.col("claimed") == "rises").then(rise > 0).otherwise(rise < 0)
    by_setting = pairs.group_by(setting).agg(right=right.all())
    return by_setting.group_by("table", "metric").agg(ordered=pl.col("right").sum())


# Other servers in the mail's second test, whose network the mail calls weak.

NET_MB: Final = (20, 45, 115)
SERVER_MB: Final = (30, 60, 150)
"""Megabytes per second: over the network, and to the server's disk at a commit. Nothing is fitted
here, as 3.9's column does not distinguish servers; the grid was chosen after single runs."""

WHAT_IF_SEEDS: Final = (1, 2, 3)
SERVER_SEEDS: Final = (1, 2)

SERVER_ROWS: Final = (
    "Ops memcachetest-4055M",
    "Ops io-duration-4055M",
    "Kswapd pages scanned",
    "Page writes file",
    "Page reclaim immediate",
    "Swap Outs",
)


def server_points() -> list[tuple[int, int, Run]]:
    """Return each pair of rates by the mail's kernels, and by the series without NFS's patch 8."""
    rules = (BEFORE, BASE, "series-7", SERIES)
    found = []
    for net, server, name, seed in product(NET_MB, SERVER_MB, rules, SERVER_SEEDS):
        rates = {"net_rate": net * MIB_PAGES, "server_rate": server * MIB_PAGES}
        run = Run(rules=name, target="nfs", seed=seed, iterations=1, constants=rates)
        found.append((net, server, run))
    return found


def run_server(point: tuple[int, int, Run]) -> pl.DataFrame:
    """Run the mail's test over NFS with a server (SIMULATED_SERVERS)."""
    net_mb, server_mb, run = point
    result = reclaim.run(*run.config())
    rows = pl.concat([reclaim.ops(result), reclaim.vmstat(result)]).sort("metric")
    chosen = rows.filter(pl.col("metric").is_in(SERVER_ROWS))
    return labelled(chosen, SIMULATED_SERVERS, net_mb, server_mb, run.rules, run.seed)


# Other machines in one round of the mail's first test; the grids were chosen before any run.

SWAPPINESS: Final = (0, 10, 30, 60, 100)
DIRTY_PERCENT: Final = (5, 10, 20, 40, 60)
DISK_MB: Final = (20, 60, 120, 250, 500, 1000, 2000)
MEMORY_GB: Final = (4, 7, 16, 32, 64)
_MAILED_MB: Final = 120
"""Megabytes per second of the disk whose seeks data/reclaim.csv has."""

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
    """Run one round of the mail's test on a machine (SIMULATED_WHAT_IF)."""
    machine, rules, seed = point
    fields = {**ONE_ROUND, **machine.fields}
    run = Run(rules=rules, seed=seed, constants=machine.constants, fields=fields)
    result = reclaim.run(*run.config())
    counts = reclaim.vmstat(result).filter(pl.col("metric").is_in(MACHINE_ROWS))
    (served,) = result.rounds.iter_rows(named=True)
    of_client = {
        "metric": ["Operations a second", "Seconds for the file"],
        "value": [served["ops_per_second"], served["io_ns"] / 1e9],
    }
    rows = pl.concat([counts, pl.DataFrame(of_client)])
    return labelled(rows, SIMULATED_WHAT_IF, machine.factor, machine.setting, rules, seed)


def differences(found: pl.DataFrame) -> pl.DataFrame:
    """Return on which machines the series differs from mmotm.

    Parameters
    ----------
    found : polars.DataFrame
        Schema SIMULATED_WHAT_IF.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_MATTERS: it differs where all seeds have one sign and the change is
        more than STAYS_WITHIN_PERCENT.
    """
    groups = SIMULATED_WHAT_IF.check(found).group_by(
        "factor", "setting", "metric", maintain_order=True
    )
    rows = []
    for label, of_one in groups:
        base, series = (
            of_one.filter(rules=rules).select("seed", "value") for rules in (BASE, SERIES)
        )
        seen = difference(base, series)
        if seen is not None:
            change = 100 * (seen["value"] / seen["base"] - 1) if seen["base"] else None
            large = change is None or abs(change) > STAYS_WITHIN_PERCENT
            differs = seen["seen"] != "either" and large
            rows.append((*label, seen["base"], seen["value"], change, differs))
    frame = pl.DataFrame(rows, schema=SIMULATED_MATTERS.schema, orient="row")
    return SIMULATED_MATTERS.check(frame)


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


_ROWS_BY_LISTS: Final = (
    *("Ops memcachetest-2385M", "Ops memcachetest-4055M", "Swap Outs"),
    *("Kswapd pages scanned", "Page writes file"),
)


def by_figure(differing: pl.DataFrame) -> pl.DataFrame:
    """Return the result of `differences` with a column per figure, null where nothing differs."""
    change = pl.when("differs").then("change").alias("change")
    shown = differing.with_columns(change)
    return shown.pivot("metric", index=["factor", "setting"], values="change")


def by_lists(results: pl.DataFrame, rows: Sequence[str] = _ROWS_BY_LISTS) -> pl.DataFrame:
    """Return medians of some rows, a line for each kind of lists and each rule set.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of `studies.node`.
    rows : sequence of str
        As the mail calls them, without the table's name.

    Returns
    -------
    polars.DataFrame
        ``lists``, ``rules``, and a Float64 column per row.
    """
    named = {f"disk: {row}": row for row in rows}
    medians = claims.medians(results.filter(pl.col("metric").is_in(list(named))))
    wide = medians.pivot("metric", index=["kernel", "policy"], values="median", maintain_order=True)
    return wide.select(
        pl.col("kernel").alias("lists"),
        pl.col("policy").alias("rules"),
        *(pl.col(metric).round(1).alias(row) for metric, row in named.items()),
    )
