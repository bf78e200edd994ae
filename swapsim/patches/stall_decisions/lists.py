# SPDX-License-Identifier: GPL-2.0-or-later
"""A list of pages in words, what each set of rules decides on it, and what each patch changes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi import STALL_FLAGS, STALL_RULES
from swapsim.stall._native import StallContext
from swapsim.stall.replay import PAGES, process
from swapsim.tables import cases as first

_PLAIN: Final[dict[str, bool | int | None]] = {
    "file": True, "dirty": False, "writeback": False, "reclaim": False, "congested": False,
    "buffers": None, "fs_dirty": None, "fs_writeback": None, "pages": 1, "still": False,
    "arrives": True, "dirty_late": False, "kept": False, "locked": False,
}  # fmt: skip

WORDS: Final[dict[str, dict[str, bool]]] = {
    "clean": {},
    "dirty": {"dirty": True, "dirty_late": True},
    "writing": {"writeback": True, "still": True},
    "finishing": {"writeback": True},
    "marked": {"reclaim": True},
    "anonymous": {"file": False},
    "congested": {"congested": True},
    "used": {"arrives": False},
    "locked": {"locked": True},
    "clean-buffers": {"buffers": True, "fs_dirty": False, "fs_writeback": False},
    "locked-buffers": {"buffers": True, "fs_dirty": False, "fs_writeback": True},
    "unstable": {"buffers": False, "fs_dirty": True, "fs_writeback": False, "arrives": False},
    "committing": {"buffers": False, "fs_dirty": False, "fs_writeback": True, "arrives": False},
}
"""Words for a page, which may be combined. It is a file page unless it is anonymous.

``writing`` and ``finishing`` are under writeback; the write of the latter ends within 100 ms.
``marked``: PageReclaim is set. ``congested``: its disk is congested. ``used``: it was referenced.
``locked``: another task holds its lock. The last four are answers of the file system, whatever the
page's flags: two states of buffer heads and two of NFS, whose pages cannot be freed yet."""

_COLUMNS: Final = ("page", *PAGES, "locked")
_KIND: Final = re.compile(r"(\d+) +(\S.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Processed:
    """What rule sets decided on a list, in rows by ``meeting`` and ``rules``.

    ``ends`` has the counters, flags and throttles at the end of the list, and how many pages were
    written, freed, and freed under writeback; ``pages`` the ``outcome`` in words of each ``page``
    at its ``place``.
    """

    ends: pl.DataFrame
    pages: pl.DataFrame


def make_list(*kinds: str) -> pl.DataFrame:
    """Return the pages that texts describe, in the order of reclaim's scan.

    They have a ``place`` from 1, the ``page`` in words, the columns of PAGES, and whether
    another task has ``locked`` it, so that reclaim skips it. Each text is a number of pages and
    WORDS for them: ``"5 dirty"``, ``"2 writing marked"``.
    """
    rows: list[dict[str, Any]] = []
    for kind in kinds:
        found = _KIND.fullmatch(kind.strip())
        if not found:
            raise InputError(f"{kind!r}: give a number and what these pages are", field="kinds")
        words = found[2].split()
        unknown = [word for word in words if word not in WORDS]
        if unknown:
            raise InputError(f"{unknown[0]!r}: choose of {', '.join(WORDS)}", field="kinds")
        fields = dict(_PLAIN)
        for word in words:
            fields |= WORDS[word]
        rows += [{"page": " ".join(words), **fields}] * int(found[1])
    if not rows:
        raise InputError("the list is empty: give at least one page", field="kinds")
    frame = pl.DataFrame(rows, schema_overrides=PAGES)
    return frame.select(pl.int_range(1, pl.len() + 1, dtype=pl.UInt32).alias("place"), *_COLUMNS)


def process_list(
    pages: pl.DataFrame,
    rules: Sequence[str] = STALL_RULES,
    *,
    priority: int = 12,
    kswapd: bool = True,
    flags: Sequence[str] = (),
    meetings: int = 1,
) -> Processed:
    """Process a list of `make_list` by the rules of each set, each time from the same flags.

    ``flags`` are of `swapsim.ffi.STALL_FLAGS`: those of the zone at the start. Such a list is
    processed ``meetings`` times, one after another, each with the flags that the one before it
    left.
    """
    if pages.columns != ["place", *_COLUMNS]:
        raise InputError("has other columns: make it by make_list", field="pages")
    unknown = [flag for flag in flags if flag not in STALL_FLAGS]
    if unknown:
        raise InputError(
            f"no flag {unknown[0]!r}: choose of {', '.join(STALL_FLAGS)}", field="flags"
        )
    bits = sum(STALL_FLAGS[flag] for flag in set(flags))
    ends: list[dict[str, Any]] = []
    outcomes: list[pl.DataFrame] = []
    for name in rules:
        context = StallContext(rules=name, priority=priority, kswapd=kswapd, flags=bits)
        for meeting in range(1, meetings + 1):
            labels = {"meeting": meeting, "rules": name}
            scanned = pages.filter(~pl.col("locked")).select(*PAGES)
            paths, end = process(context, scanned, unseen=pages.height - scanned.height)
            ends.append(labels | _end_row(end, context, paths))
            columns = [pl.lit(value).alias(column) for column, value in labels.items()]
            outcomes.append(_outcomes(pages, paths).select(*columns, "place", "page", "outcome"))
            context = replace(context, flags=end["flags_after"])
    return Processed(
        ends=pl.DataFrame(ends, schema_overrides=_LISTS_OF_WORDS), pages=pl.concat(outcomes)
    )


_LISTS_OF_WORDS: Final = dict.fromkeys(
    ("flags_before", "flags_set", "flags_after", "sleeps"), pl.List(pl.String)
)

_COUNTS: Final = (
    "dirty", "unqueued_dirty", "congested", "writeback", "immediate", "taken", "file_taken",
)  # fmt: skip


def _end_row(end: dict[str, Any], context: StallContext, paths: pl.DataFrame) -> dict[str, Any]:
    flags = end | {"flags_before": context.flags}
    return {
        **{name: end[name] for name in (*_COUNTS, "slept", "sleeps")},
        **{
            name: [flag for flag, bit in STALL_FLAGS.items() if flags[name] & bit]
            for name in ("flags_before", "flags_set", "flags_after")
        },
        "written": paths["branch"].eq("write").sum(),
        **{name: paths[name].sum() for name in ("freed", "freed_under_writeback")},
    }


_STOPPED_AS: Final = {
    "case-1": "counted for a sleep",
    "case-2": "under writeback",
    "case-3": "waited for",
    "not-written": "dirty",
    "no-write": "not to be written now",
    "goes-on": "by another test",
}
"""What stopped a page that was neither freed nor written."""


def _outcomes(pages: pl.DataFrame, paths: pl.DataFrame) -> pl.DataFrame:
    """Return the outcome of each page in words; a locked page is not scanned."""
    stopped = pl.col("branch").cast(pl.String).replace(_STOPPED_AS)
    outcome = first(
        ("freed_under_writeback", "freed under writeback"),
        ("freed", "freed"),
        (pl.col("branch") == "write", "written"),
        ("slept", "kept: slept for"),
        ("activated", pl.format("activated: {}", stopped)),
        (pl.lit(value=True), pl.format("kept: {}", stopped)),
    )
    scanned = pages.filter(~pl.col("locked")).select("place")
    found = scanned.with_columns(paths.select(outcome=outcome))
    return pages.join(found, on="place", how="left", maintain_order="left").with_columns(
        pl.col("outcome").fill_null("kept: locked")
    )
