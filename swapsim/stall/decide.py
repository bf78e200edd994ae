# SPDX-License-Identifier: GPL-2.0-or-later
"""One list of pages, decided by each set of rules."""

from collections.abc import Collection, Iterable
from typing import Any, Final

import polars as pl

from swapsim.errors import check_choice
from swapsim.ffi import STALL_FLAGS, STALL_PRIORITY_MAX, STALL_RULES
from swapsim.stall._native import SUMS, StallContext, decide_counts, process_pages, rules_of

RULES: Final = STALL_RULES
"""The rule sets of patch C in order of age: 3.9, mmotm, its eight patches, 3.11, 6.1."""

_FLAG: Final = pl.lit(value=False)
_UNASKED: Final = pl.lit(None, dtype=pl.Boolean)
_USUAL: Final = {
    "file": pl.lit(value=True),
    **dict.fromkeys(("dirty", "writeback", "reclaim", "congested"), _FLAG),
    **dict.fromkeys(("buffers", "fs_dirty", "fs_writeback"), _UNASKED),
    "pages": pl.lit(1, dtype=pl.UInt32),
    "still": pl.col("writeback"),
    "arrives": pl.lit(value=True),
    "dirty_late": pl.col("dirty"),
    "kept": _FLAG,
}
"""The columns of a page, in order, and what each is where it is not given."""

PAGES: Final = pl.Schema(
    {name: pl.UInt32() if name == "pages" else pl.Boolean() for name in _USUAL}
)


def decide(
    pages: pl.DataFrame,
    rules: str | Iterable[str] = RULES,
    *,
    kswapd: bool = True,
    priority: int = STALL_PRIORITY_MAX,
    flags: Collection[str] = (),
    unseen: int = 0,
    **caller: bool,
) -> pl.DataFrame:
    """Decide a list of pages, met in this order, by each set of rules.

    Where a pass decides, as in 6.1, it has this list alone.

    Parameters
    ----------
    pages : polars.DataFrame
        A row per page. All columns may be missing: ``file`` (True), ``dirty``, ``writeback``,
        ``reclaim`` (the page's flags), ``congested`` (its device is); ``buffers``, ``fs_dirty``,
        ``fs_writeback`` (what its filesystem answers; null: it is not asked); ``pages`` of 4 KiB
        (1). Later events are given in advance: ``still`` under writeback after a sleep of case 1
        (as ``writeback``), ``arrives`` at the dirty test unless a rule stops it (True),
        ``dirty_late``, dirty there (as ``dirty``), and ``kept`` by pageout.
    rules : str or iterable of str
        Of RULES.
    kswapd : bool
        Whether kswapd reclaims, or a task.
    priority : int
        0 to 12; a lower one is more pressure.
    flags : collection of str
        Flags of the zone or node that are set before: tail_lru_dirty, writeback, congested.
    unseen : int
        Pages that were taken as well, but are locked, not evictable or not to be unmapped.
    **caller : bool
        ``memcg`` (reclaim for a cgroup), ``hibernation``; and, unless they are False: ``sane``
        (writers of that cgroup are throttled, as in v2), ``may_throttle`` (not a task that writes
        for others, PF_LOCAL_THROTTLE), ``io`` and ``fs`` (what the allocation allows).

    Returns
    -------
    polars.DataFrame
        A row per rule set: ``rules``; the pages counted as ``dirty``, ``unqueued_dirty``,
        ``congested``, ``writeback``, ``immediate``, and those ``taken``, ``file_taken``;
        ``flags_set``, ``flags_after`` and ``sleeps`` at the end, as names in order; ``slept``,
        sleeps before the end; pages ``written``, ``freed``, ``freed_under_writeback``.

    Raises
    ------
    InputError
        A column, a rule set or a flag is unknown, or a number is out of its range.

    Source
    ------
    mm/vmscan.c: shrink_page_list, shrink_inactive_list (3.9, mmotm, patches 1 to 8, 3.11),
    shrink_folio_list, shrink_node (6.1).

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim import stall
    >>> dirty = pl.DataFrame({"dirty": [True] * 32})
    >>> found = stall.decide(dirty, ["3.9", "mmotm", "series-8"], priority=9)
    >>> found.select("rules", "written", pl.col("sleeps").list.join(" ")).rows()
    [('3.9', 32, ''), ('mmotm', 0, ''), ('series-8', 0, 'congestion_wait')]
    """
    for name in pages.columns:
        check_choice("column of pages", name, PAGES)
    for name in flags:
        check_choice("flag", name, STALL_FLAGS)
    known = pages
    for name, usual in _USUAL.items():
        if name not in pages.columns:
            known = known.with_columns(usual.alias(name))
    known = known.select(pl.col(name).cast(dtype) for name, dtype in PAGES.items())
    bits = sum(STALL_FLAGS[name] for name in {*flags})
    rows = []
    for each in [rules] if isinstance(rules, str) else rules:
        context = StallContext(rules=each, kswapd=kswapd, priority=priority, flags=bits, **caller)
        paths, end = process(context, known, unseen=unseen)
        named = {
            name: [flag for flag, bit in STALL_FLAGS.items() if end[name] & bit]
            for name in ("flags_set", "flags_after")
        }
        counts = {name: end[name] for name in SUMS}
        others = {"sleeps": end["sleeps"], "slept": end["slept"]}
        freed = {name: paths[name].sum() for name in ("freed", "freed_under_writeback")}
        written = (paths["branch"] == "write").sum()
        rows.append({"rules": each, **counts, **named, **others, "written": written, **freed})
    words = dict.fromkeys(("flags_set", "flags_after", "sleeps"), pl.List(pl.String))
    return pl.DataFrame(rows, schema_overrides=words)


def process(
    context: StallContext, pages: pl.DataFrame, *, unseen: int = 0
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Process pages (PAGES) as `process_pages`; where a pass decides, it has this list alone."""
    paths, end = process_pages(context, pages, unseen=unseen)
    if rules_of(context.rules).by_pass:
        end |= decide_counts(context, {name: end[name] for name in SUMS}, "pass")
    return paths, end
