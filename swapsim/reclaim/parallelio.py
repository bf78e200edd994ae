# SPDX-License-Identifier: GPL-2.0-or-later
"""mmtests' parallelio: memcached with four fifths of memory next to a file that is written.

The constants of the mail's machine are data/reclaim.csv.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim.errors import check_number, check_share
from swapsim.ffi import RECLAIM_COST_MAX, RECLAIM_COSTS, RECLAIM_DEFAULTS, RECLAIM_RANGES
from swapsim.reclaim.config import ReclaimConfig
from swapsim.study import constants as files

MIB_PAGES: Final = 256
MS_NS: Final = 1_000_000
SECOND_NS: Final = 1_000_000_000
FILES_MIB: Final = (0, 715, 2385, 4055)  # sizes of the mail's files; 0: a round without a file
WARM_UP: Final = 1  # rounds without a file before those that are reported

ITERATIONS: Final = {"disk": 1, "nfs": 5}
"""Rounds of each size: the mail's times are those of 1 + 4 and 1 + 20 rounds."""

_SHRUNK: Final = (
    *("dma32_pages", "normal_pages", "program_pages", "working_pages", "cached_pages"),
    *("min_free_pages", "start_used_pages", "swap_pages", "disk_pages", "items", "serve_ns"),
    *("write_delay_ns", "gap_ns", "start_look_ns", "program_interval_ns", "working_interval_ns"),
)

MAIL: Final = files.ConstantsFile(
    name="reclaim.csv",
    costs=RECLAIM_COSTS,
    others=(
        *("memory_pages", "pool_pages", "dma32_pages", "other_pages", "program_pages"),
        *("program_interval_ms", "working_pages", "working_interval_ms", "executable_percent"),
        *("read_around_pages", "cached_pages", "cached_normal_percent", "min_free_pages"),
        *("swap_pages", "disk_rate", "seek_near_ns", "seek_far_ns", "nr_requests", "net_rate"),
        *("server_rate", "server_seek_ns", "item_pages", "gap_ms", "start_percent"),
        *("start_look_ms", "write_delay_ms"),
    ),
    most=RECLAIM_COST_MAX,
)
"""What work costs, and what the mail does not print of its machine."""


def constants(root: Path | None = None) -> pl.DataFrame:
    """Read the constants of the mail's machine (CONSTANTS), costs first, from data/reclaim.csv.

    An InputError names file, line and field of the first row that does not fit, or what is missing.
    """
    return files.read(MAIL, root)


def change_constants(frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the mail's constants with other values, and ranges that hold these."""
    return files.change(MAIL, frame, values)


def values(frame: pl.DataFrame | None) -> dict[str, int]:
    """Return each constant's value; without a frame those of data/reclaim.csv."""
    return files.values(MAIL, files.read(MAIL) if frame is None else frame)


def costs(frame: pl.DataFrame | None) -> dict[str, int]:
    """Return the costs among the constants, in ns."""
    found = values(frame)
    return {name: found[name] for name in RECLAIM_COSTS}


def parallelio(
    rules: str = "3.9",
    constants: pl.DataFrame | None = None,
    *,
    nfs: bool = False,
    iterations: int | None = None,
    seed: int = 1,
) -> ReclaimConfig:
    """Return the config of the mail's tables: a warm-up round, then the iterations of each size.

    ``rules`` is one of RECLAIM_RULES, ``constants`` are CONSTANTS (default: data/reclaim.csv); with
    ``nfs`` the file is on a server, as in the second table. ``iterations`` are rounds of each size,
    by default those of ITERATIONS.

    Source: mmtests' parallelio and memcachetest of May 2013: facts of `patches/03-stall-decisions`.
    The file starts when ``start_percent`` of the pool's target, four fifths of memory, are in use;
    other_pages are in use, too, outside of the zones.
    """
    found = values(constants)
    target = "nfs" if nfs else "disk"
    most = (RECLAIM_RANGES["rounds"][1] - WARM_UP) // len(FILES_MIB)
    rounds = ITERATIONS[target] if iterations is None else iterations
    check_number("iterations", rounds, 1, most)
    normal = found["memory_pages"] - found["dma32_pages"] - found["other_pages"]
    start = found["memory_pages"] * 4 // 5 * found["start_percent"] // 100 - found["other_pages"]
    return ReclaimConfig(
        rules=rules,
        **_of_the_same_name(found),
        **_in_ns(found, "program_interval", "working_interval", "gap", "start_look", "write_delay"),
        normal_pages=max(normal, 0),
        nfs=nfs,
        items=found["pool_pages"] // found["item_pages"],
        start_used_pages=max(start, 0),
        files=(*[0] * WARM_UP, *(mib * MIB_PAGES for mib in FILES_MIB for _ in range(rounds))),
        seed=seed,
    )


def _in_ns(constants: dict[str, int], *names: str) -> dict[str, Any]:
    """Return the times of a config that are constants in ms."""
    return {f"{name}_ns": constants[f"{name}_ms"] * MS_NS for name in names}


def _of_the_same_name(constants: dict[str, int]) -> dict[str, Any]:
    """Return the constants that are fields of a config."""
    return {name: value for name, value in constants.items() if name in RECLAIM_DEFAULTS}


def shrink(config: ReclaimConfig, share: float) -> ReclaimConfig:
    """Return a config with a share of the memory, the pool, the files and the time.

    The disk is as fast as before, so each page of a file takes as long. A InputError says that the
    share is not above 0 and up to 1, or leaves too little.
    """
    check_share("share", share)
    parts: dict[str, Any] = {name: int(getattr(config, name) * share) for name in _SHRUNK}
    return replace(config, **parts, files=tuple(int(size * share) for size in config.files))
