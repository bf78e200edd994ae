# SPDX-License-Identifier: GPL-2.0-or-later
"""mmtests' parallelio: memcached with four fifths of memory next to a file that is written.

The mail ran it on its own machine, and the lab runs a small version in its guest.
"""

from dataclasses import replace
from typing import Any, Final

import polars as pl

from swapsim.checks import check_share
from swapsim.ffi import RECLAIM_DEFAULTS
from swapsim.reclaim.config import ReclaimConfig
from swapsim.reclaim.constants import LAB_GUEST, MAIL, values

MIB_PAGES: Final = 256
MS_NS: Final = 1_000_000
SECOND_NS: Final = 1_000_000_000
FILES_MIB: Final = (0, 715, 2385, 4055)
"""Sizes of the mail's files, one per round."""

_SHRUNK: Final = (
    *("dma32_pages", "normal_pages", "program_pages", "cached_pages", "min_free_pages"),
    *("swap_pages", "disk_pages", "items", "serve_ns", "write_delay_ns"),
)

LAB_ITEM_PAGES: Final = 4
LAB_SERVE_NS: Final = 20_000_000_000
LAB_HZ: Final = 250


def parallelio(
    rules: str = "3.9",
    constants: pl.DataFrame | None = None,
    *,
    nfs: bool = False,
    seed: int = 1,
) -> ReclaimConfig:
    """Return the config of the mail's tables.

    Parameters
    ----------
    rules : str
        One of RECLAIM_RULES.
    constants : polars.DataFrame, optional
        Schema CONSTANTS; default: data/reclaim.csv.
    nfs : bool
        Whether the file is on a server, as in the second table.
    seed : int
        Of the client's draws.

    Returns
    -------
    ReclaimConfig
        ``pool_pages`` of the client, in items of ``item_pages``; four rounds.

    Raises
    ------
    InputError
        A constant that does not fit.
    ConfigError
        A value that is out of its range.

    Source
    ------
    mmtests' parallelio and memcachetest, config of 2013: facts of `patches/03-stall-decisions`.
    """
    found = values(MAIL, constants)
    normal = found["memory_pages"] - found["dma32_pages"] - found["other_pages"]
    return ReclaimConfig(
        rules=rules,
        **_of_the_same_name(found),
        normal_pages=max(normal, 0),
        nfs=nfs,
        items=found["pool_pages"] // found["item_pages"],
        write_delay_ns=found["write_delay_ms"] * MS_NS,
        files=tuple(size * MIB_PAGES for size in FILES_MIB),
        seed=seed,
    )


def _of_the_same_name(constants: dict[str, int]) -> dict[str, Any]:
    """Return the constants that are fields of a config."""
    return {name: value for name, value in constants.items() if name in RECLAIM_DEFAULTS}


def shrink(config: ReclaimConfig, share: float) -> ReclaimConfig:
    """Return a config with a share of the memory, the pool, the files and the time.

    The disk is as fast as before, so each page of a file takes as long.

    Parameters
    ----------
    config : ReclaimConfig
    share : float
        Above 0, up to 1.

    Raises
    ------
    ConfigError
        A share that is not above 0 and up to 1, or one that leaves too little.
    """
    check_share("share", share)
    parts: dict[str, Any] = {name: int(getattr(config, name) * share) for name in _SHRUNK}
    return replace(config, **parts, files=tuple(int(size * share) for size in config.files))


def lab_guest(
    rules: str, file_share: float, constants: pl.DataFrame | None = None, *, seed: int = 1
) -> ReclaimConfig:
    """Return the config of one round in the lab guest, with one zone: 6.1's lists are per node.

    Parameters
    ----------
    rules : str
        One of STALL_RULES.
    file_share : float
        The file's size, in multiples of the memory that the pool leaves.
    constants : polars.DataFrame, optional
        Schema CONSTANTS; default: data/reclaim-lab-guest.csv.
    seed : int
        Of the client's draws.

    Returns
    -------
    ReclaimConfig
        6.1's watermarks are gap_pages apart, those of the simulator a fourth of the lowest. So the
        lowest is four gaps, and memory is larger by as much: the space above the watermarks is
        the guest's.

    Source
    ------
    data/capture/experiments/stall-rules.toml, programs/parallelio.c, guest/slow-disk;
    calculate_totalreserve_pages, si_mem_available; mq-deadline's fifo_batch.
    """
    found = values(LAB_GUEST, constants)
    available, gap = found["available_pages"], found["gap_pages"]
    pool = available // 5 * 4
    return ReclaimConfig(
        rules=rules,
        **_of_the_same_name(found),
        dma32_pages=available - found["kernel_pages"] + 6 * gap,
        normal_pages=0,
        min_free_pages=4 * gap,
        seek_near_ns=found["seek_ns"],
        seek_far_ns=found["seek_ns"],
        sync_turn_ns=1,
        async_turn_ns=found["writes_turn_ms"] * MS_NS,
        items=pool // LAB_ITEM_PAGES,
        item_pages=LAB_ITEM_PAGES,
        serve_ns=LAB_SERVE_NS,
        files=(int(file_share * (available - pool)),),
        hz=LAB_HZ,
        seed=seed,
    )
