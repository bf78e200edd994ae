# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a real kernel's MGLRU: choices and turns of its loop; tables of the replay."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import ffi
from swapsim import tables as columns
from swapsim.errors import InputError, errors_of
from swapsim.tables import Column, Table
from swapsim.traces.folder import Trace
from swapsim.traces.verification import AGAIN, check_tables, read_tables

_RULES_TYPE: Final = pl.Enum(ffi.MGLRU_RULES)
_TYPE: Final = pl.Enum(ffi.MGLRU_TYPES[:2])
TERM: Final = pl.Enum(ffi.MGLRU_TERMS)
EQUAL: Final = pl.Enum(ffi.MGLRU_EQUALS)
"""``ambiguous``: a change within the recorded bounds could turn the decision; ``not-compared``: no
row shows it, or each rule has the same result."""

TYPES: Final = ffi.MGLRU_TYPES[:2]
TIERS: Final = range(ffi.MGLRU_TIERS)
GENERATIONS: Final = range(ffi.GENERATIONS_MAX)
COUNTERS: Final = {
    "avg_refaulted": "average of refaulted pages",
    "avg_total": "average of evicted and protected pages",
    "protected": "protected pages of the oldest generation",
    "evicted": "evicted pages of the oldest generation",
    "refaulted": "refaulted pages of the oldest generation",
}
"""Counters in the order of the kernel's structure."""
MORE: Final = ("protected", "evicted", "refaulted")
"""Counters that may change during a call, in this order."""

_SEQ: Final = Column("seq", pl.UInt64, "position of the row's first event in the recording")
_T_NS: Final = Column("t_ns", pl.Int64, "time at which it begins")
_LRUVEC: Final = Column("lruvec", pl.UInt32, "number of the lists of a memory cgroup and node")
_RULES: Final = Column("rules", _RULES_TYPE, "rules of the kernel that was recorded")
_SWAPPINESS: Final = Column("swappiness", pl.Int32, "swappiness that reclaim uses, 0 to 201")
_PRIORITY: Final = Column("priority", pl.UInt8, "priority of reclaim, 12 at first")
_MAX_SEQ: Final = Column("max_seq", pl.UInt64, "number of the newest generation")


def _min_seq(suffix: str = "", when: str = "") -> tuple[Column, ...]:
    return tuple(
        Column(f"min_seq_{each}{suffix}", pl.UInt64, f"oldest generation of {each} pages{when}")
        for each in TYPES
    )


def _counted(name: str, meaning: str) -> tuple[Column, ...]:
    return tuple(
        Column(f"{name}_{each}_{tier}", pl.UInt32, f"{meaning}: {each}, tier {tier}")
        for each in TYPES
        for tier in TIERS
    )


def _sizes(suffix: str = "", when: str = "") -> tuple[Column, ...]:
    return (
        Column(f"max_seq{suffix}", pl.UInt64, f"number of the newest generation{when}"),
        *_min_seq(suffix, when),
        *(
            Column(
                f"pages_{each}_{gen}{suffix}",
                pl.UInt32,
                f"pages of the {each} generation whose number modulo 4 is {gen}{when}",
            )
            for each in TYPES
            for gen in GENERATIONS
        ),
    )


MGLRU_CHOICES: Final = Table(
    "MGLRU_CHOICES",
    "One row per choice between anonymous and file pages (a call of isolate_folios), in order of "
    "time: the controller's state, and the lists that were scanned. 6.12 has no protected pages of "
    "tier 0.",
    *(_SEQ, _T_NS, columns.CPU, columns.PID, _LRUVEC, _RULES, _SWAPPINESS, _PRIORITY),
    Column("io", pl.Boolean, "whether the caller may start IO"),
    Column("batch", pl.UInt32, "pages to scan; null where the kernel has no such number"),
    *(_MAX_SEQ, *_min_seq()),
    *(column for name, meaning in COUNTERS.items() for column in _counted(name, meaning)),
    *(
        column
        for name in MORE
        for column in _counted(f"{name}_more", f"rise of {name} during the call")
    ),
    *(
        column
        for nth, word in ((1, "first"), (2, "second"))
        for column in (
            Column(f"scan_{nth}", _TYPE, f"type of the {word} list that was scanned, or null"),
            Column(f"pages_{nth}", pl.UInt32, f"pages of the {word} list that were scanned"),
            Column(f"taken_{nth}", pl.UInt32, f"pages of the {word} list that were isolated"),
        )
    ),
    Column("result", pl.UInt32, "pages scanned, by the value that the call returned"),
)

MGLRU_STEPS: Final = Table(
    "MGLRU_STEPS",
    "One row per turn of the loop in which reclaim scans an lruvec (try_to_shrink_lruvec), in "
    "order of time; in the last turn of a call nothing may be done.",
    *(_SEQ, _T_NS, columns.CPU, columns.PID, _LRUVEC, _RULES, _SWAPPINESS, _PRIORITY),
    Column("call", pl.UInt32, "number of the call"),
    Column("root", pl.Boolean, "whether all of memory is reclaimed, and not a cgroup's"),
    Column("online", pl.Boolean, "whether the memory cgroup still exists"),
    Column("shielded", pl.Boolean, "whether memory.low or memory.min protects the cgroup"),
    *_sizes(when=", before the turn"),
    *_sizes("_acts", ", when the kernel acts; if it does not, when next recorded, or null"),
    Column("aged", pl.Boolean, "whether a new generation was asked for"),
    Column("grew", pl.Boolean, "whether it was made"),
    Column("evicted", pl.Boolean, "whether pages were scanned"),
    Column("batch", pl.UInt32, "pages to scan; null where the kernel has no such number"),
    Column("scanned", pl.UInt32, "pages that were scanned"),
    Column("stop", pl.Boolean, "whether the loop is to stop; null if it was not asked"),
    Column("freed", pl.UInt64, "pages freed so far, when that was asked"),
    Column("wanted", pl.UInt64, "pages to free"),
    Column("order", pl.UInt8, "log2 of the pages of the allocation"),
)

MGLRU_FLIPS: Final = Table(
    "MGLRU_FLIPS",
    "One row per pair of rule sets, types and terms: choices of a recording, open loop.",
    Column("rules", pl.String, "rules by which the states are decided"),
    Column("base", _RULES_TYPE, "rules of the kernel that was recorded"),
    Column("base_type", pl.String, "type that the base scans first, or neither"),
    Column("base_term", TERM, "what decides it by the base"),
    Column("type", pl.String, "type that these rules scan first, or neither"),
    Column("term", TERM, "what decides it by these rules"),
    Column("choices", pl.UInt64, "number of choices"),
    Column("flips", pl.Boolean, "whether the types differ"),
)

MGLRU_SWITCHED: Final = Table(
    "MGLRU_SWITCHED",
    "One row per switch in which other rules differ from the recorded kernel's, set alone, one for "
    "all of them, and one per rule that no kernel has: what it turns of a recording's choices, "
    "open loop.",
    Column("rules", pl.String, "rules of which the switch is taken, or none"),
    Column("switch", pl.String, "switch of mglru.h, all, or a rule that no kernel has"),
    Column("choices", pl.UInt64, "number of choices"),
    Column("flips", pl.UInt64, "choices that scan another type first, or neither"),
    Column("to_anon", pl.UInt64, "choices among these that scan anonymous pages"),
    Column("tiers", pl.UInt64, "choices with another tier index"),
)

MGLRU_TIMELINE: Final = Table(
    "MGLRU_TIMELINE",
    "One row per part of a recording and lruvec: what was chosen, and by what.",
    Column("start_s", pl.Float64, "begin of the part, from the recording's first decision"),
    _LRUVEC,
    Column("choices", pl.UInt64, "choices of a type"),
    Column("anon_percent", pl.Float64, "choices whose first list was of anonymous pages"),
    *(
        Column(
            f"rate_{each}_percent",
            pl.Float64,
            f"{each} pages that came back, of those evicted and protected, over all tiers",
        )
        for each in TYPES
    ),
    Column(
        "swappiness",
        pl.Float64,
        "swappiness, mean: the gain of anon; that of file is 200 less it",
        "1",
    ),
    *(
        Column(f"generations_{each}", pl.Float64, f"generations of {each} pages, mean", "1")
        for each in TYPES
    ),
    Column("agings", pl.UInt64, "new generations that were asked for"),
)

TABLES: Final[Mapping[str, Table]] = {
    "generation_choices": MGLRU_CHOICES,
    "generation_steps": MGLRU_STEPS,
}
MAY_BE_NULL: Final = {
    "generation_choices": {
        *("batch", "scan_1", "pages_1", "taken_1", "scan_2", "pages_2", "taken_2")
    },
    "generation_steps": {
        *(name for name in MGLRU_STEPS.names() if name.endswith("_acts")),
        *("batch", "stop", "freed", "wanted", "order"),
    },
}
"""Columns of each table that may have nulls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recording of reclaim with generations: MGLRU_CHOICES and MGLRU_STEPS.

    InputError if a table has another schema, is empty or out of order, or has rows of two kernels.
    The rules find states that cannot be.
    """

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

    @property
    def cpus(self) -> int:
        """Number of CPUs, by the highest one that occurs."""
        return 1 + int(pl.concat([self.choices["cpu"], self.steps["cpu"]]).to_numpy().max())


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
