# SPDX-License-Identifier: GPL-2.0-or-later
"""A world's counters and rounds under the names that the mail prints."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim.reclaim.run import World
from swapsim.reclaim.tables import WORLD_COUNTERS

PAGE_KIB: Final = 4
MIB_PAGES: Final = 256


def vmstat(world: World) -> pl.DataFrame:
    """Return the rows of the mail's vmstat block that a world has.

    Parameters
    ----------
    world : World

    Returns
    -------
    polars.DataFrame
        Columns ``metric`` and ``value``: faults, swap, scans and what they brought, velocities in
        pages a second of the world's own time, writes from reclaim, and the disk's traffic in KiB,
        which the mail calls sectors.

    Source
    ------
    mmtests' report: efficiency is 100 * reclaimed / scanned, 100 where nothing was scanned; pages
    written from reclaim are those of files and those of swap.
    """
    counters = dict(world.counters.select(WORLD_COUNTERS.names()).iter_rows())
    sums = dict(zip(world.zones.columns[1:], world.zones.drop("zone").sum().row(0), strict=True))
    seconds = world.elapsed_ns / 1e9
    scanned = sums["scanned_kswapd"] + sums["scanned_direct"]
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
        ("Percentage direct scans", _share(sums["scanned_direct"], scanned)),
        *(
            (f"Zone {row['zone']} velocity", _scanned(row) / seconds)
            for row in world.zones.reverse().iter_rows(named=True)
        ),
        ("Page writes by reclaim", counters["reclaim_writes_file"] + counters["swapped_out"]),
        ("Page writes file", counters["reclaim_writes_file"]),
        ("Page writes anon", counters["swapped_out"]),
        ("Page reclaim immediate", counters["reclaim_immediate"]),
        ("Sector Reads", counters["disk_read"] * PAGE_KIB),
        ("Sector Writes", counters["disk_written"] * PAGE_KIB),
    ]
    return _table(rows)


def ops(world: World) -> pl.DataFrame:
    """Return the rows of the mail's parallelio table.

    Parameters
    ----------
    world : World

    Returns
    -------
    polars.DataFrame
        Columns ``metric`` and ``value``: of each round, named by its file in MiB, operations a
        second, seconds for the file, pages swapped in and out together and in alone, faults.
    """
    rows: list[tuple[str, float]] = []
    for row in world.rounds.iter_rows(named=True):
        figures = {
            "memcachetest": row["ops_per_second"],
            "io-duration": row["io_ns"] / 1e9,
            "swaptotal": row["swapped_in"] + row["swapped_out"],
            "swapin": row["swapped_in"],
            "minorfaults": row["minor_faults"],
            "majorfaults": row["major_faults"],
        }
        size = row["file_pages"] // MIB_PAGES
        rows += [(f"Ops {name}-{size}M", value) for name, value in figures.items()]
    return _table(rows)


def _table(rows: Sequence[tuple[str, float]]) -> pl.DataFrame:
    return pl.DataFrame(
        [(metric, float(value)) for metric, value in rows],
        schema={"metric": pl.String, "value": pl.Float64},
        orient="row",
    )


def _percent(part: int, whole: int) -> int:
    return 100 * part // whole if whole else 100


def _share(part: int, whole: int) -> int:
    return 100 * part // whole if whole else 0


def _scanned(zone: dict[str, int]) -> int:
    return zone["scanned_kswapd"] + zone["scanned_direct"]
