# SPDX-License-Identifier: GPL-2.0-or-later
"""Decide the lists of a recording by each set of rules.

Each set keeps its own flags from list to list: what it sets, it finds set at the next list, until
kswapd balances the node or has shrunk it. Pages and their order are those of the recording. A
kernel that had slept where this one did not, or had written other pages, would have met other
lists. So the comparison shows where the rules differ on the same lists, not how a machine would
have continued; a kernel that is switched to these rules shows that.
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import ffi
from swapsim.errors import InputError, errors_of
from swapsim.progress import bar
from swapsim.stall import _native
from swapsim.stall.recording import ReclaimRows, Recording, gather, reclaim_rows
from swapsim.stall.sums import is_of_sums, root_stalls
from swapsim.stall.tables import RULE_SET, THROTTLE, THROTTLES
from swapsim.stall.verify import TICKS
from swapsim.traces.folder import Trace

NOT_RECORDED: Final = (
    "whether a device was congested, a state that 6.1 lacks, so no wait for congestion can be said "
    "to sleep, and no page counts as congested by its device: by series-2 to series-5 none does; "
    "3.9, mmotm and series-1 count the pages that pageout left on the list, and from series-6 on "
    "the rules count pages that are marked for reclaim",
    "what pageout would have done with a page that 6.1 did not write",
    "how a page would have gone on that 6.1 stopped under writeback, where a set lets it go on",
    "reclaim zone by zone: flags are the node's here",
    "what a kernel that slept, or wrote other pages, would have met next",
)
"""What an older set of rules needs and a recording of 6.1 does not have."""

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


def requested_sleeps(decided: pl.DataFrame, rounds: pl.DataFrame) -> pl.DataFrame:
    """Return a row per rule set and reason for which it requests a throttle, at 250 ticks a second.

    Of its ``requests`` those ``can_sleep`` whose tested flag is set; ``longest_us`` is the timeout
    of one, and ``most_us`` the upper limit of all.
    """
    of_lists = decided.select("rules", flagged=_FLAGGED, reason="sleeps").explode("reason")
    # A round finds the flags that the last list of its last pass left.
    left = decided.group_by("rules", "pass").agg(flagged=_FLAGGED.last())
    of_rounds = [
        rounds.select(
            "pass", rules=pl.lit(rules, RULE_SET), reason=_native.decide_rounds(rounds, rules)
        )
        .join(left, on=["rules", "pass"], how="left")
        .select("rules", pl.col("flagged").fill_null(value=False), "reason")
        for rules in decided["rules"].unique(maintain_order=True)
    ]
    # The longest sleep of each reason is that of a call whose tests do not skip it.
    nothing = dict.fromkeys(THROTTLES, 0)
    sleeps = {"write_pending": 1, "congested_devices": 1, "flags": ffi.STALL_FLAGS_ALL}
    rows = [nothing | sleeps | {"kthread": False, "reason": each} for each in THROTTLE.categories]
    calls = pl.DataFrame(rows, schema=THROTTLES)
    longest = calls.select("reason", longest_us=_native.sleep_lengths(calls, hz=TICKS))
    skipped = pl.col("reason").is_in(_FOR_CONGESTION) & ~pl.col("flagged")
    return (
        pl.concat([of_lists, *of_rounds])
        .drop_nulls("reason")
        .group_by("rules", "reason")
        .agg(requests=pl.len(), can_sleep=(~skipped).sum())
        .join(longest, on="reason", how="left")
        .with_columns(most_us=pl.col("can_sleep").cast(pl.UInt64) * pl.col("longest_us"))
        .sort("rules", "reason")
    )


def agreement(decided: pl.DataFrame) -> pl.DataFrame:
    """Return on how many of `decided_lists` two rule sets decide alike, ``one`` the older."""
    acts = pl.col("flags_set") + 8 * pl.col("forced") + 16 * pl.col("waits")
    coded = {
        str(rules): rows["acts"].to_numpy()
        for (rules,), rows in decided.select("rules", acts=acts).group_by("rules")
    }
    pairs = combinations([name for name in ffi.STALL_RULES if name in coded], 2)
    shares = [(one, other, 100 * (coded[one] == coded[other]).mean()) for one, other in pairs]
    alike = pl.col("alike")
    return pl.DataFrame(shares, schema=["one", "other", "alike"], orient="row").with_columns(
        alike=pl.when(alike < 100).then(pl.min_horizontal(alike.round(1), 99.9)).otherwise(alike)
    )
