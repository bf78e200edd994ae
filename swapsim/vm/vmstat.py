# SPDX-License-Identifier: GPL-2.0-or-later
"""A world's counters under the names that the mail prints."""

import polars as pl

from swapsim.schemas import WORLD_COUNTERS
from swapsim.vm.run import World


def vmstat(world: World) -> pl.DataFrame:
    """Return the rows of the mail's vmstat block that a world has.

    Parameters
    ----------
    world : World

    Returns
    -------
    polars.DataFrame
        Columns ``metric`` and ``value``: faults, swap, scans and what they brought, velocities in
        pages a second of the world's own time, writes from reclaim, the disk's traffic and waits.

    Source
    ------
    mmtests' report: efficiency is 100 * reclaimed / scanned, 100 where nothing was scanned; pages
    written from reclaim are those of files and those of swap.
    """
    counters = dict(world.counters.select(WORLD_COUNTERS.names()).iter_rows())
    sums = dict(zip(world.zones.columns[1:], world.zones.drop("zone").sum().row(0), strict=True))
    seconds = world.elapsed_ns / 1e9
    rows = [
        ("Minor Faults", counters["minor_faults"]),
        ("Major Faults", counters["major_faults"]),
        ("Swap Ins", counters["swapped_in"]),
        ("Swap Outs", counters["swapped_out"]),
        ("Direct pages scanned", sums["scanned_direct"]),
        ("Kswapd pages scanned", sums["scanned_kswapd"]),
        ("Kswapd pages reclaimed", sums["reclaimed_kswapd"]),
        ("Direct pages reclaimed", sums["reclaimed_direct"]),
        ("Kswapd efficiency", _percent(sums["reclaimed_kswapd"], sums["scanned_kswapd"])),
        ("Kswapd velocity", sums["scanned_kswapd"] / seconds),
        ("Direct efficiency", _percent(sums["reclaimed_direct"], sums["scanned_direct"])),
        ("Direct velocity", sums["scanned_direct"] / seconds),
        *(
            (f"Zone {row['zone']} velocity", _scanned(row) / seconds)
            for row in world.zones.reverse().iter_rows(named=True)
        ),
        ("Page writes by reclaim", counters["reclaim_writes_file"] + counters["swapped_out"]),
        ("Page writes file", counters["reclaim_writes_file"]),
        ("Page writes anon", counters["swapped_out"]),
        ("Page reclaim immediate", counters["reclaim_immediate"]),
        ("Commits", counters["commits"]),
        ("Pages read", counters["disk_read"]),
        ("Pages written", counters["disk_written"]),
        ("Mean avgqz", counters["queue_ns"] / max(world.elapsed_ns, 1)),
        ("Mean r_await", counters["read_ns"] / 1e6 / max(counters["reads"], 1)),
        ("Mean w_await", counters["write_ns"] / 1e6 / max(counters["writes"], 1)),
        ("Max r_await", counters["longest_read_ns"] / 1e6),
        ("Max w_await", counters["longest_write_ns"] / 1e6),
    ]
    return pl.DataFrame(
        [(metric, float(value)) for metric, value in rows],
        schema={"metric": pl.String, "value": pl.Float64},
        orient="row",
    )


def _percent(part: int, whole: int) -> int:
    return 100 * part // whole if whole else 100


def _scanned(zone: dict[str, int]) -> int:
    return zone["scanned_kswapd"] + zone["scanned_direct"]
