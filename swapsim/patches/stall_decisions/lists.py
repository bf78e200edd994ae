# SPDX-License-Identifier: GPL-2.0-or-later
"""One list of pages, put together in words, and led through the rules of each set."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi.facts import STALL_FLAGS, STALL_RULES
from swapsim.stall._native import decide, explain, lead
from swapsim.stall._native_rules import rules_of
from swapsim.stall.config import StallContext
from swapsim.stall.tables import LED_ENDS, LED_PAGES, LED_WHY, LIST_OF_PAGES, STALL_PAGES

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
"""What a page is, in words that may stand together. It is of a file unless it is anonymous.

``writing`` and ``finishing`` are under writeback, and the latter's write is done within 100 ms.
``marked``: it was met before, and is to be freed as soon as it is written. ``congested``: its disk
is. ``used``: a program has just looked at it. ``locked``: somebody else has it. The last four are
what a file system says, whatever the page's flags: buffer heads in two states, NFS in two, whose
pages cannot be freed yet."""

_KIND: Final = re.compile(r"(\d+) +(\S.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Led:
    """What rule sets made of a list.

    Attributes
    ----------
    ends : polars.DataFrame
        Schema LED_ENDS: what was counted, flagged and asked for at its end.
    pages : polars.DataFrame
        Schema LED_PAGES: what became of each page.
    why : polars.DataFrame
        Schema LED_WHY: a sentence for each act of a rule set, done or not.
    """

    ends: pl.DataFrame
    pages: pl.DataFrame
    why: pl.DataFrame


def list_of(*kinds: str) -> pl.DataFrame:
    """Put a list together.

    Parameters
    ----------
    *kinds : str
        A number of pages and what they are, in WORDS: ``"5 dirty"``, ``"2 writing marked"``; in the
        order in which reclaim meets them.

    Returns
    -------
    polars.DataFrame
        Schema LIST_OF_PAGES.

    Raises
    ------
    InputError
        A kind does not begin with a number, or has another word; or there is no page.
    """
    rows: list[dict[str, Any]] = []
    for kind in kinds:
        found = _KIND.fullmatch(kind.strip())
        if not found:
            raise InputError(f"{kind!r}: give a number and what these pages are", field="kinds")
        words = found[2].split()
        unknown = [word for word in words if word not in WORDS]
        if unknown:
            raise InputError(f"{unknown[0]!r}: take of {', '.join(WORDS)}", field="kinds")
        fields = dict(_PLAIN)
        for word in words:
            fields |= WORDS[word]
        rows += [{"page": " ".join(words), **fields}] * int(found[1])
    if not rows:
        raise InputError("a list has a page", field="kinds")
    frame = pl.DataFrame(rows, schema_overrides=STALL_PAGES.schema).with_columns(
        place=pl.int_range(1, len(rows) + 1, dtype=pl.UInt32)
    )
    return LIST_OF_PAGES.check(frame.select(LIST_OF_PAGES.names()))


def led(
    pages: pl.DataFrame,
    rules: Sequence[str] = STALL_RULES,
    *,
    priority: int = 12,
    kswapd: bool = True,
    flags: Sequence[str] = (),
    meetings: int = 1,
) -> Led:
    """Lead a list through rule sets, each from the same flags on.

    Parameters
    ----------
    pages : polars.DataFrame
        Schema LIST_OF_PAGES.
    rules : sequence of str
        Of `facts.STALL_RULES`.
    priority : int
        12 to 0: how hard memory is sought.
    kswapd : bool
        Whether kswapd reclaims, or a program itself.
    flags : sequence of str
        Of the zone as the list begins: of ``tail_lru_dirty``, ``writeback``, ``congested``.
    meetings : int
        How often such a list is met, one after another: each finds the flags that the last left.

    Returns
    -------
    Led

    Raises
    ------
    ConfigError, InputError
        A rule set, a flag or a priority that is none.
    """
    LIST_OF_PAGES.check(pages)
    unknown = [flag for flag in flags if flag not in STALL_FLAGS]
    if unknown:
        raise InputError(f"no flag {unknown[0]!r}: take of {', '.join(STALL_FLAGS)}", field="flags")
    bits = sum(STALL_FLAGS[flag] for flag in set(flags))
    found = [
        one
        for name in rules
        for one in _meetings(
            StallContext(rules=name, priority=priority, kswapd=kswapd, flags=bits), pages, meetings
        )
    ]
    why = pl.concat(one.why for one in found)
    return Led(
        ends=LED_ENDS.check(pl.concat(one.ends for one in found)),
        pages=LED_PAGES.check(pl.concat(one.pages for one in found)),
        why=LED_WHY.check(why),
    )


def _meetings(context: StallContext, pages: pl.DataFrame, meetings: int) -> Iterator[Led]:
    """Lead such lists one after another."""
    for meeting in range(1, meetings + 1):
        ways, end = _met(context, pages)
        labels = {"meeting": meeting, "rules": context.rules}
        told = labels | _told(end, context, ways)
        columns = [pl.lit(value).alias(name) for name, value in labels.items()]
        fates = _fates(pages, ways).with_columns(columns)
        yield Led(
            ends=pl.DataFrame([told], schema=LED_ENDS.schema),
            pages=fates.select(LED_PAGES.names()).cast(LED_PAGES.schema),
            why=pl.DataFrame([labels | {"why": one} for one in end["why"]], schema=LED_WHY.schema),
        )
        context = replace(context, flags=end["flags_after"])


def _met(context: StallContext, pages: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Lead a list to its end, and where that is decided by pass, a pass of this list alone."""
    looked_at = pages.filter(~pl.col("locked")).select(STALL_PAGES.names())
    ways, end = lead(context, looked_at, unseen=pages.height - looked_at.height)
    counts = {name: end[name] for name in _COUNTS}
    why = [_IN_THE_MIDDLE.format(end["slept"])] if end["slept"] else []
    why += explain(context, counts)
    if rules_of(context.rules).decides == "pass":
        end |= decide(context, counts, "pass")
        why += explain(context, counts, "pass")
    return ways, end | {"why": why}


_IN_THE_MIDDLE: Final = (
    "sleep congestion_wait is asked for in the middle, {} x: a marked page, and the flag writeback"
)

_COUNTS: Final = (
    "dirty", "unqueued_dirty", "congested", "writeback", "immediate", "taken", "file_taken",
)  # fmt: skip


def _told(end: dict[str, Any], context: StallContext, ways: pl.DataFrame) -> dict[str, Any]:
    return {name: end[name] for name in _COUNTS} | {
        "flags_before": _flag_names(context.flags),
        "flags_set": _flag_names(end["flags_set"]),
        "flags_after": _flag_names(end["flags_after"]),
        "slept": end["slept"],
        "sleeps": end["sleeps"],
        "written": ways["fate"].eq("write").sum(),
        "freed": ways["freed"].sum(),
        "freed_under_writeback": ways["freed_under_writeback"].sum(),
    }


def _flag_names(flags: int) -> list[str]:
    return [name for name, bit in STALL_FLAGS.items() if flags & bit]


_STOPPED_AS: Final = {
    "case-1": "counted for a sleep",
    "case-2": "under writeback",
    "case-3": "waited for",
    "not-written": "dirty",
    "no-write": "not to be written now",
    "goes-on": "by another test",
}
"""What stopped a page that was neither freed nor written."""


def _fates(pages: pl.DataFrame, ways: pl.DataFrame) -> pl.DataFrame:
    """Say in words what became of each page; one that was locked was not looked at."""
    stopped = pl.col("fate").cast(pl.String).replace(_STOPPED_AS)
    fate = (
        pl.when("freed_under_writeback")
        .then(pl.lit("freed under writeback"))
        .when("freed")
        .then(pl.lit("freed"))
        .when(pl.col("fate") == "write")
        .then(pl.lit("written"))
        .when("slept")
        .then(pl.lit("kept: slept for"))
        .when("activated")
        .then(pl.format("activated: {}", stopped))
        .otherwise(pl.format("kept: {}", stopped))
    )
    places = pages.filter(~pl.col("locked")).select("place")
    return pages.join(
        places.with_columns(ways.select(fate=fate)), on="place", how="left", maintain_order="left"
    ).with_columns(pl.col("fate").fill_null("kept: locked"))
