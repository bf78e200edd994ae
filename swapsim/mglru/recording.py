# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a real kernel's MGLRU: choices and turns of its loop; tables of the replay."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import ffi
from swapsim.errors import InputError, errors_of
from swapsim.traces.folder import Trace
from swapsim.traces.verification import AGAIN, check_tables, read_tables

TERM: Final = pl.Enum(ffi.MGLRU_TERMS)
EQUAL: Final = pl.Enum(ffi.MGLRU_EQUALS)
"""``ambiguous``: a change within the recorded bounds could turn the decision; ``not-compared``: no
row shows it, or each rule has the same result."""

TYPES: Final = ffi.MGLRU_TYPES[:2]
TIERS: Final = range(ffi.MGLRU_TIERS)
GENERATIONS: Final = range(ffi.GENERATIONS_MAX)
COUNTERS: Final = ("avg_refaulted", "avg_total", "protected", "evicted", "refaulted")
"""Counters in the order of the kernel's structure: averages of refaulted pages, and of those
evicted and protected; then pages of the oldest generation."""
MORE: Final = ("protected", "evicted", "refaulted")
"""Counters that may change during a call, in this order."""


def tiered(name: str) -> list[str]:
    """Return a counter's columns: each type, each tier."""
    return [f"{name}_{each}_{tier}" for each in TYPES for tier in TIERS]


def _sizes(suffix: str = "") -> dict[str, pl.DataType]:
    seqs = ("max_seq", *(f"min_seq_{each}" for each in TYPES))
    pages = (f"pages_{each}_{gen}" for each in TYPES for gen in GENERATIONS)
    return {
        **{f"{name}{suffix}": pl.UInt64() for name in seqs},
        **{f"{name}{suffix}": pl.UInt32() for name in pages},
    }


_HEAD: Final[dict[str, pl.DataType]] = {
    "seq": pl.UInt64(),
    "t_ns": pl.Int64(),
    "cpu": pl.UInt16(),
    "pid": pl.Int32(),
    "lruvec": pl.UInt32(),
    "rules": pl.Enum(ffi.MGLRU_RULES),
    "swappiness": pl.Int32(),
    "priority": pl.UInt8(),
}

MGLRU_CHOICES: Final = pl.Schema(
    _HEAD
    | {"io": pl.Boolean(), "batch": pl.UInt32(), "max_seq": pl.UInt64()}
    | {f"min_seq_{each}": pl.UInt64() for each in TYPES}
    | {each: pl.UInt32() for name in COUNTERS for each in tiered(name)}
    | {each: pl.UInt32() for name in MORE for each in tiered(f"{name}_more")}
    | {"scan_1": pl.Enum(TYPES), "pages_1": pl.UInt32(), "taken_1": pl.UInt32()}
    | {"scan_2": pl.Enum(TYPES), "pages_2": pl.UInt32(), "taken_2": pl.UInt32()}
    | {"result": pl.UInt32()}
)
"""A row per choice between anonymous and file pages (a call of isolate_folios), in order of time:
the controller's state, and the lists that were scanned.

``lruvec`` is a number for the lists of a memory cgroup and node, ``rules`` those of the recorded
kernel; ``swappiness`` is 0 to 201. ``io``: the caller may start IO; ``batch``: pages to scan, null
where the kernel has no such number. ``max_seq`` is the newest generation, ``min_seq_X`` the oldest
of a type. 6.12 has no protected pages of tier 0. ``X_more`` is a counter's rise during the call.
Of the first and second list: the type, pages scanned and isolated, or null; ``result``: pages
scanned, by the value that the call returned."""

MGLRU_STEPS: Final = pl.Schema(
    _HEAD
    | {"call": pl.UInt32()}
    | dict.fromkeys(("root", "online", "shielded"), pl.Boolean())
    | _sizes()
    | _sizes("_acts")
    | dict.fromkeys(("aged", "grew", "evicted"), pl.Boolean())
    | {"batch": pl.UInt32(), "scanned": pl.UInt32(), "stop": pl.Boolean()}
    | {"freed": pl.UInt64(), "wanted": pl.UInt64(), "order": pl.UInt8()}
)
"""A row per turn of the loop in which reclaim scans an lruvec (try_to_shrink_lruvec), in order of
time; in the last turn of a ``call`` nothing may be done.

``root``: all of memory is reclaimed; ``online``: the cgroup still exists; ``shielded``: memory.low
or memory.min protects it. ``pages_X_N`` are those of the generation whose number modulo 4 is N,
before the turn; ``_acts``: when the kernel acts, or if it does not when next recorded, or null. A
new generation was asked for (``aged``) and made (``grew``); ``stop``: the loop is to stop, null if
that was not asked, and pages ``freed`` so far then, those ``wanted``, the allocation's
``order``."""

TABLES: Final[Mapping[str, pl.Schema]] = {
    "generation_choices": MGLRU_CHOICES,
    "generation_steps": MGLRU_STEPS,
}
MAY_BE_NULL: Final = {
    "generation_choices": {
        *("batch", "scan_1", "pages_1", "taken_1", "scan_2", "pages_2", "taken_2")
    },
    "generation_steps": {
        *(name for name in MGLRU_STEPS if name.endswith("_acts")),
        *("batch", "stop", "freed", "wanted", "order"),
    },
}
"""Columns of each table that may have nulls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recording of reclaim with generations: MGLRU_CHOICES and MGLRU_STEPS."""

    choices: pl.DataFrame
    steps: pl.DataFrame
    name: str = "the recording"
    """Its folder, for messages."""

    def __post_init__(self) -> None:
        """Require complete tables of one kernel."""
        frames = dict(zip(TABLES, (self.choices, self.steps), strict=True))
        check_tables(frames, TABLES, MAY_BE_NULL)
        if pl.concat(frame["rules"] for frame in frames.values()).n_unique() != 1:
            raise InputError(f"its rows are of two kernels: {AGAIN}", field="rules")

    @property
    def rules(self) -> str:
        """The rules of the kernel that was recorded."""
        return str(self.choices["rules"][0])


Source = Recording | Trace | Path | str


def recording(source: Source) -> Recording:
    """Return the recording of a trace, which lost no event and has both tables."""
    if isinstance(source, Recording):
        return source
    tables = read_tables(source, TABLES, MAY_BE_NULL)
    with errors_of(source):
        return Recording(
            choices=tables["generation_choices"],
            steps=tables["generation_steps"],
            name=fspath(source),
        )
