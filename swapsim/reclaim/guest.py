# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's guest as a world: the same test made small, with the guest's size, disk and clock."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.ffi.facts import WORLD_COST_MAX, WORLD_COSTS
from swapsim.reclaim import _native_window as vm_window
from swapsim.reclaim.config import ReclaimConfig
from swapsim.study import constants as files

MACHINE: Final = (
    "available_pages",
    "kernel_pages",
    "gap_pages",
    "dirty_percent",
    "background_percent",
    "swap_pages",
    "disk_pages",
    "disk_rate",
    "seek_ns",
    "nr_requests",
    "writes_turn_ms",
)
"""Constants of the guest, besides what work costs."""

_FILE: Final = files.ConstantsFile(
    name="guest.csv", costs=WORLD_COSTS, others=MACHINE, most=WORLD_COST_MAX
)

SECTORS: Final = 8
"""Of a page."""

ITEM_PAGES: Final = 4
SERVE_NS: Final = 20_000_000_000
HZ: Final = 250
Window = vm_window.Window


def guest_constants(
    changed: Mapping[str, int] | None = None, root: Path | None = None
) -> pl.DataFrame:
    """Read the guest's constants (data/guest.csv).

    Parameters
    ----------
    changed : mapping of str to int, optional
        Other values of some of them.
    root : Path, optional
        The folder of guest.csv; default: data.

    Returns
    -------
    polars.DataFrame
        Schema CONSTANTS, one row per constant: the costs, then those of MACHINE.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit, or the constant that is
        missing, or to be changed and unknown.
    """
    return files.change(_FILE, files.read(_FILE, root), changed or {})


def guest(
    rules: str, file_share: float, constants: pl.DataFrame | None = None, *, seed: int = 1
) -> ReclaimConfig:
    """Return the lab's guest: one zone, for the lists of 6.1 are a node's.

    Parameters
    ----------
    rules : str
        One of STALL_RULES.
    file_share : float
        The file's size, in multiples of the memory that the pool leaves.
    constants : polars.DataFrame, optional
        As `guest_constants` returns them.
    seed : int
        Of the client's draws.

    Returns
    -------
    ReclaimConfig
        Of one round. 6.1's watermarks lie gap_pages apart, where the world's lie a fourth of the
        lowest: with four gaps for the lowest, and so much more memory, what is free above the
        marks is the guest's.

    Source
    ------
    data/capture/experiments/stall-rules.toml, programs/parallelio.c, guest/slow-disk;
    calculate_totalreserve_pages, si_mem_available; mq-deadline's fifo_batch.
    """
    found = files.values(_FILE, guest_constants() if constants is None else constants)
    available, gap = found["available_pages"], found["gap_pages"]
    rest = available - available // 5 * 4
    return ReclaimConfig(
        rules=rules,
        dma32_pages=available - found["kernel_pages"] + 6 * gap,
        normal_pages=0,
        min_free_pages=4 * gap,
        dirty_percent=found["dirty_percent"],
        background_percent=found["background_percent"],
        swap_pages=found["swap_pages"],
        disk_pages=found["disk_pages"],
        disk_rate=found["disk_rate"],
        seek_near_ns=found["seek_ns"],
        seek_far_ns=found["seek_ns"],
        sync_turn_ns=1,
        async_turn_ns=found["writes_turn_ms"] * 1_000_000,
        nr_requests=found["nr_requests"],
        items=available // 5 * 4 // ITEM_PAGES,
        item_pages=ITEM_PAGES,
        serve_ns=SERVE_NS,
        files=(int(file_share * rest),),
        hz=HZ,
        seed=seed,
    )


def watch_guest(config: ReclaimConfig, constants: pl.DataFrame | None = None) -> Window:
    """Run a guest, and count while its pool is served, as the lab does.

    Raises
    ------
    ConfigError
        A config whose parts do not fit together.
    NativeMemoryError
    """
    found = files.values(_FILE, guest_constants() if constants is None else constants)
    return vm_window.window(config, {name: found[name] for name in WORLD_COSTS})


def guest_rows(window: Window) -> list[tuple[str, float, str]]:
    """Return what the lab's rig tells of a turn, as far as a world has it: name, value, unit.

    Source
    ------
    data/capture/rig/stalls.py.
    """
    counters, zones = window.counters, window.zones
    seconds = SERVE_NS / 1e9
    rows: list[tuple[str, float, str]] = [
        ("Ops memcachetest", window.ops / seconds, "operations/s"),
        ("Ops io-duration", window.io_ns / 1e9, "s"),
        ("Ops swaptotal", counters["swapped_in"] + counters["swapped_out"], "pages"),
        ("Ops swapin", counters["swapped_in"], "pages"),
        ("Ops majorfaults", counters["major_faults"], "faults"),
        ("Major Faults", counters["major_faults"], "faults"),
        ("Swap Ins", counters["swapped_in"], "pages"),
        ("Swap Outs", counters["swapped_out"], "pages"),
        ("Page writes anon", counters["swapped_out"], "pages"),
        ("Page writes file", counters["reclaim_writes_file"], "pages"),
        (
            "Page writes by reclaim",
            counters["reclaim_writes_file"] + counters["swapped_out"],
            "pages",
        ),
        ("Page reclaim immediate", counters["reclaim_immediate"], "pages"),
        ("Sector Reads", SECTORS * counters["disk_read"], "sectors"),
        ("Sector Writes", SECTORS * counters["disk_written"], "sectors"),
    ]
    for who in ("kswapd", "direct"):
        name = who.capitalize()
        rows += [
            (f"{name} pages scanned", zones[f"scanned_{who}"], "pages"),
            (f"{name} pages reclaimed", zones[f"reclaimed_{who}"], "pages"),
        ]
    for told, value in window.sleeps.items():
        what, reason = told.split()
        if what == "slept":
            rows.append((f"Stalls {reason}", value, "1"))
        else:
            rows.append((f"Time stalled {reason}", value / 1e9, "s"))
    return rows
