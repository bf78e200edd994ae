# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's test: memcached with four fifths of memory, and a file that is written beside it."""

from dataclasses import replace
from typing import Final

import polars as pl

from swapsim.checks import check_share
from swapsim.reclaim.config import ReclaimConfig
from swapsim.reclaim.constants import constants as read_constants
from swapsim.reclaim.constants import values

MIB_PAGES: Final = 256
MS_NS: Final = 1_000_000
FILES_MIB: Final = (0, 715, 2385, 4055)
"""Sizes of the file, one a round."""


def parallelio(
    rules: str = "3.9",
    constants: pl.DataFrame | None = None,
    *,
    nfs: bool = False,
    seed: int = 1,
) -> ReclaimConfig:
    """Return the world of the mail's tables.

    Parameters
    ----------
    rules : str
        One of RECLAIM_RULES.
    constants : polars.DataFrame, optional
        Schema CONSTANTS; default: data/world.csv.
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
        A value that a world cannot have.

    Source
    ------
    mmtests' parallelio and memcachetest, config of 2013: facts of `patches/03-stall-decisions`.
    """
    found = values(read_constants() if constants is None else constants)
    memory = found["memory_pages"]
    return ReclaimConfig(
        rules=rules,
        dma32_pages=found["dma32_pages"],
        normal_pages=max(memory - found["dma32_pages"] - found["other_pages"], 0),
        program_pages=found["program_pages"],
        cached_pages=found["cached_pages"],
        min_free_pages=found["min_free_pages"],
        swap_pages=found["swap_pages"],
        disk_rate=found["disk_rate"],
        seek_near_ns=found["seek_near_ns"],
        seek_far_ns=found["seek_far_ns"],
        nr_requests=found["nr_requests"],
        nfs=nfs,
        net_rate=found["net_rate"],
        server_rate=found["server_rate"],
        server_seek_ns=found["server_seek_ns"],
        items=found["pool_pages"] // found["item_pages"],
        item_pages=found["item_pages"],
        write_delay_ns=found["write_delay_ms"] * MS_NS,
        files=tuple(size * MIB_PAGES for size in FILES_MIB),
        seed=seed,
    )


def shrink(config: ReclaimConfig, share: float) -> ReclaimConfig:
    """Return a world with a share of the memory, the pool, the files and the time.

    The disk is as fast as before, so each page of a file takes as long.

    Parameters
    ----------
    config : ReclaimConfig
    share : float
        Above 0, up to 1.

    Returns
    -------
    ReclaimConfig

    Raises
    ------
    ConfigError
        A share that is none, or one that leaves too little.
    """
    check_share("share", share)

    def part(size: int) -> int:
        return int(size * share)

    return replace(
        config,
        dma32_pages=part(config.dma32_pages),
        normal_pages=part(config.normal_pages),
        program_pages=part(config.program_pages),
        cached_pages=part(config.cached_pages),
        min_free_pages=part(config.min_free_pages),
        swap_pages=part(config.swap_pages),
        disk_pages=part(config.disk_pages),
        items=part(config.items),
        serve_ns=part(config.serve_ns),
        write_delay_ns=part(config.write_delay_ns),
        files=tuple(map(part, config.files)),
    )
