# SPDX-License-Identifier: GPL-2.0-or-later
"""Decide the lists of a recording, or one list page by page, by each set of rules.

Each set keeps its own flags from list to list: what it sets, it finds set at the next list, until
kswapd balances the node or has shrunk it. Pages and their order are those of the recording.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import ffi
from swapsim.errors import InputError, check_choice, errors_of
from swapsim.progress import bar
from swapsim.stall import _native
from swapsim.stall.recording import ReclaimRows, Recording, gather, reclaim_rows
from swapsim.stall.sums import is_of_sums, root_stalls
from swapsim.stall.tables import RULE_SET, THROTTLE
from swapsim.traces.folder import Trace

RULES: Final = ffi.STALL_RULES
"""The rule sets of patch C in order of age: 3.9, mmotm, its eight patches, 3.11, 6.1."""

_FOLIO_SUMS: Final = (
    *("turned", "not_written", "waited", "file_written", "anon_written", "unrecorded"),
)
_CERTAIN: Final = ("congestion_wait", "writeback")  # sleeps that no test can skip
_FOR_CONGESTION: Final = ("wait_iff_congested", "congested")  # sleeps that need the flag congested
_FLAGGED: Final = (pl.col("flags_after") & ffi.STALL_FLAGS["congested"]) != 0


def replay(
    trace: Trace | Path | str, rules: str | Sequence[str] | None = None, *, progress: bool = False
) -> pl.DataFrame:
    """Decide the lists of a recording by other rules, and count what each set decides.

    Pages, their order and the moments at which flags are cleared are those of the recording, flags
    those that each set has left itself. A kernel that had slept, or had written other pages, would
    have met other lists.

    Parameters
    ----------
    trace : Trace, Path or str
        A recording with reclaim_folios, reclaim_lists and reclaim_passes, as `swapsim.open` takes
        it; or one of a stock 7.3, with stall_lists and stall_passes.
    rules : str or sequence of str
        Of RULES, all by default; 7.3-generations, 7.3-lists and each-list for a stock 7.3.
    progress : bool
        Whether a terminal shows a bar.

    Returns
    -------
    polars.DataFrame
        A row per rule set: ``trace``, ``rules``, its ``lists``; how many set the
        flags ``tail_lru_dirty``, ``writeback``, ``congested``; request a sleep that is ``forced``,
        or that ``waits`` if a device is congested; rounds with ``naps``; folios ``turned`` away
        under writeback, ``not_written``, ``waited`` for, ``file_written``, ``anon_written``, and
        processed further than the recording knows (``unrecorded``). By 6.1 passes decide.

        For a stock 7.3 a row per rule set and ``reclaimer`` (kswapd, direct, cgroup): its
        ``passes`` and their ``lists``; passes that ``asked`` for a throttle, of which the counts do
        not say whether (``may_ask``), and others that woke the flushers (``woken``) or did
        ``neither``; those whose task ``slept``, null by rules that the kernel has not; throttles
        for ``writeback`` and ``congested``; ``wakes``, lists that woke the flushers.

    Raises
    ------
    InputError
        A table is missing or a row is none that a kernel writes; no list is complete; there is no
        such rule set.

    Source
    ------
    mm/vmscan.c: shrink_page_list, shrink_inactive_list (3.9, mmotm, patches 1 to 8, 3.11),
    shrink_folio_list, shrink_node (6.1), handle_reclaim_writeback (7.3).

    Examples
    --------
    >>> from swapsim import stall
    >>> found = stall.replay("stalls-disk-1", ["mmotm", "series-8", "6.1"])
    >>> found.select("rules", "tail_lru_dirty", "forced").rows()
    [('mmotm', 791, 826), ('series-8', 4, 848), ('6.1', 307, 112)]
    """
    path, named = Path(trace), [rules] if isinstance(rules, str) else rules
    if is_of_sums(path):
        return root_stalls(path, named)
    rows = reclaim_rows(path)
    with errors_of(path):
        decided = decided_lists(rows, named, progress=progress)
    return summed_decisions(decided, rows.rounds, trace=path.name)


def decided_lists(
    rows: ReclaimRows, rules: Sequence[str] | None = None, *, progress: bool = False
) -> pl.DataFrame:
    """Return a row per rule set and complete list, in the order in which lists began."""
    lists = gather(rows)
    if not lists.lists.height:
        raise InputError("the trace has no complete list: record a longer one")
    history, named = _history(rows, lists), ffi.STALL_RULES if rules is None else rules
    frames = []
    with bar(lists.folios.height * len(named), "decide", "folios", shown=progress) as counted:
        for name in named:
            own = None if _native.rules_of(name).by_pass else history
            found = _native.decide_lists(
                lists.folios, lists.lists, name, history=own, tick=counted.update
            )
            frames.append(_named(lists, *found, name))
    return pl.concat(frames)


def _history(rows: ReclaimRows, lists: Recording) -> pl.DataFrame:
    """Return the node of each list, and what cleared flags there before: `decide_lists`' history.

    kswapd balanced the node, or shrank it once. What a case 1 clears belongs to its list.
    """
    order = lists.lists.select("nid", seq="first").with_row_index("nth")
    balanced = rows.clears.filter(pl.col("why") == "balanced").select("nid", "seq")
    shrunk = rows.passes.filter("kswapd").select("nid", "seq")
    clears = np.zeros(order.height, dtype=np.uint8)
    for why, occasions in (("balanced", balanced), ("shrunk", shrunk)):
        met = occasions.sort("seq").join_asof(
            order.sort("seq"), on="seq", by="nid", strategy="forward", check_sortedness=False
        )
        clears[met["nth"].drop_nulls().to_numpy()] |= 1 << ffi.STALL_CLEARS.index(why)
    return pl.DataFrame({"node": order["nid"].rank("dense").cast(pl.UInt32) - 1, "clears": clears})


def _named(
    lists: Recording, decided: pl.DataFrame, branches: pl.Series, rules: str
) -> pl.DataFrame:
    """Return the rows of one set of rules."""
    known = lists.lists.select("pass", "seq", "pid", "kswapd", "priority", "file", "taken")
    case_1 = pl.lit("congestion_wait", dtype=THROTTLE).repeat_by("slept")
    frame = decided.hstack(known).select(
        pl.lit(rules, dtype=RULE_SET).alias("rules"),
        pl.int_range(pl.len(), dtype=pl.UInt32).alias("nth"),
        pl.exclude("slept", "writes", "wakes", "sleeps"),
        pl.concat_list(case_1, "sleeps").alias("sleeps"),
        **_folios(lists, branches),
    )
    if _native.rules_of(rules).by_pass:
        frame = _with_passes(frame, lists.passes, rules)
    forced, waits = (
        pl.col("sleeps").list.eval(pl.element().is_in(names)).list.any()
        for names in (_CERTAIN, _FOR_CONGESTION)
    )
    return frame.with_columns(forced=forced, waits=waits & _FLAGGED)


def _with_passes(frame: pl.DataFrame, passes: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Give the last list of each pass what the pass decides of its lists' sums."""
    added = frame.group_by("pass").agg(
        *(pl.col(name).sum() for name in (*ffi.STALL_COUNTERS, "taken")),
        file_taken=pl.col("taken").filter("file").sum(),
    )
    summed = passes.drop(*ffi.STALL_COUNTERS, "taken", "file_taken").join(
        added, on="pass", maintain_order="left"
    )
    decided = _native.decide_passes(summed, rules).select(pl.all().name.suffix("_rules"))
    of_pass = summed.select("pass", read="flags_after").hstack(decided)
    last = (pl.col("nth") == pl.col("nth").max().over("pass")) & pl.col("read").is_not_null()
    requests = pl.when(last & pl.col("throttle_rules").is_not_null())
    sleep = requests.then(pl.concat_list("throttle_rules"))
    no_sleep = pl.lit([], dtype=pl.List(THROTTLE))
    flags_set = pl.col("flags_set") | pl.when(last).then("flags_set_rules").otherwise(0)
    joined = frame.join(of_pass, on="pass", how="left", maintain_order="left").with_columns(
        flags_set=flags_set,
        flags_after=pl.when(last).then("read").otherwise("flags_after"),
        sleeps=pl.concat_list("sleeps", sleep.otherwise(no_sleep)),
    )
    return joined.select(frame.columns)


def _folios(lists: Recording, branches: pl.Series) -> dict[str, pl.Series]:
    """Count each list's folios by what the rules make of them."""
    branch, file = branches.to_physical().to_numpy(), lists.folios["file"].to_numpy()

    def those(*names: str) -> Any:
        return np.isin(branch, [ffi.STALL_BRANCHES.index(name) for name in names])

    counted = {
        "turned": those("case-1", "case-2"),
        "not_written": those("not-written"),
        "waited": those("case-3"),
        "file_written": those("write") & file,
        "anon_written": those("write") & ~file,
    }
    return {
        name: pl.Series(np.add.reduceat(which.astype(np.uint32), lists.starts))
        for name, which in counted.items()
    }


# What lists, and rounds, come to.


def summed_decisions(decided: pl.DataFrame, rounds: pl.DataFrame, *, trace: str) -> pl.DataFrame:
    """Return `replay`'s rows for `decided_lists` and RECLAIM_ROUNDS of the trace of this name."""
    naps = {name: _native.decide_rounds(rounds, name).count() for name in decided["rules"].unique()}
    flags = {
        name: ((pl.col("flags_set") & bit) != 0).sum() for name, bit in ffi.STALL_FLAGS.items()
    }
    summed = decided.group_by("rules", maintain_order=True).agg(
        lists=pl.len(),
        **flags,
        forced=pl.col("sleeps").list.eval(pl.element().is_in(_CERTAIN)).list.sum().sum(),
        waits=pl.col("waits").sum(),
        naps=pl.col("rules").first().replace_strict(naps, return_dtype=pl.UInt64),
        **{name: pl.col(name).sum() for name in _FOLIO_SUMS},
    )
    return summed.select(pl.lit(trace).alias("trace"), "rules", pl.exclude("rules").cast(pl.UInt64))


# One list, page by page.

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
    priority: int = ffi.STALL_PRIORITY_MAX,
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
        check_choice("flag", name, ffi.STALL_FLAGS)
    known = pages
    for name, usual in _USUAL.items():
        if name not in pages.columns:
            known = known.with_columns(usual.alias(name))
    known = known.select(pl.col(name).cast(dtype) for name, dtype in PAGES.items())
    bits = sum(ffi.STALL_FLAGS[name] for name in {*flags})
    rows = []
    for each in [rules] if isinstance(rules, str) else rules:
        context = _native.StallContext(
            rules=each, kswapd=kswapd, priority=priority, flags=bits, **caller
        )
        paths, end = process(context, known, unseen=unseen)
        named = {
            name: [flag for flag, bit in ffi.STALL_FLAGS.items() if end[name] & bit]
            for name in ("flags_set", "flags_after")
        }
        counts = {name: end[name] for name in _native.SUMS}
        others = {"sleeps": end["sleeps"], "slept": end["slept"]}
        freed = {name: paths[name].sum() for name in ("freed", "freed_under_writeback")}
        written = (paths["branch"] == "write").sum()
        rows.append({"rules": each, **counts, **named, **others, "written": written, **freed})
    words = dict.fromkeys(("flags_set", "flags_after", "sleeps"), pl.List(pl.String))
    return pl.DataFrame(rows, schema_overrides=words)


def process(
    context: _native.StallContext, pages: pl.DataFrame, *, unseen: int = 0
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Process pages (PAGES) as `process_pages`; where a pass decides, it has this list alone."""
    paths, end = _native.process_pages(context, pages, unseen=unseen)
    if _native.rules_of(context.rules).by_pass:
        end |= _native.decide_counts(context, {name: end[name] for name in _native.SUMS}, "pass")
    return paths, end
