# SPDX-License-Identifier: GPL-2.0-or-later
"""What would the others have decided? A recording's lists under each set of rules.

Each set leads its own flags from list to list: what it sets, it finds set at the next one, until
kswapd balances the node or has shrunk it. Pages and their order are those of the recording. A
kernel that had slept where these did not, or had written other pages, would have met other lists:
this tells where the rules part on the same lists, not how a machine would have gone on. That, a
kernel that is switched to these rules tells.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim.errors import InputError
from swapsim.ffi.facts import STALL_BY_PASS, STALL_CLEARS, STALL_FATES, STALL_FLAGS, STALL_RULES
from swapsim.progress import bar, over
from swapsim.stall._native_replay import Decided, History, decide_lists
from swapsim.stall._native_sleeps import decide_rounds, decide_sleeps
from swapsim.stall.counters import DECIDING
from swapsim.stall.judged import with_decisions
from swapsim.stall.lists import ReclaimLists, gather
from swapsim.stall.recording import ReclaimRows, check_reclaim_rows, reclaim_rows
from swapsim.stall.tables import (
    DECIDED_LISTS,
    FOLIO_FATES,
    RECLAIM_LISTS,
    RULE_SET,
    STALL_DECISIONS,
    STALL_SLEEPS_ASKED,
    THROTTLE,
    THROTTLES,
)
from swapsim.traces import require_events

_REPLAY: Final = "stall-decisions"
_FORCED: Final = ("congestion_wait", "writeback")
_FOR_CONGESTION: Final = ("wait_iff_congested", "congested")
_FOLIOS: Final = ("turned", "not_written", "waited", "file_written", "anon_written", "untold")

_MIXER: Final = 1_099_511_628_211
"""An odd number whose powers no two places of a list share (that of the FNV hash)."""

UNTOLD: Final = (
    "whether a device was congested: 6.1 has no such state, so until series-5 no page counts as "
    "congested by it, and no wait for congestion can be said to sleep",
    "what pageout would have said of a page that 6.1 did not write",
    "how a page would have gone on that 6.1 stopped under writeback, where a set leads it on",
    "reclaim zone by zone: flags are the node's here",
    "what a kernel that slept, or wrote other pages, would have met next",
)
"""What a recording of 6.1 cannot tell an older set of rules."""


def stall_decisions(folder: Path | str, *, progress: bool = False) -> pl.DataFrame:
    """Count what each set of rules decides of a trace's lists.

    Parameters
    ----------
    folder : Path or str
        A trace folder with reclaim_folios, reclaim_lists and reclaim_passes.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    polars.DataFrame
        Schema STALL_DECISIONS, one row per rule set; the trace's name is the folder's.

    Raises
    ------
    InputError
        The missing event is named; or as for `traces.reclaim_rows` and `stall_lists.gather`.
    """
    return stall_decisions_of({Path(folder).name: Path(folder)}, progress=progress)


def stall_decisions_of(folders: Mapping[str, Path], *, progress: bool = False) -> pl.DataFrame:
    """Run `stall_decisions` on several traces.

    Parameters
    ----------
    folders : mapping of str to Path
        Name of a trace -> its folder.

    Returns
    -------
    polars.DataFrame
        Schema STALL_DECISIONS, trace after trace.
    """
    frames = []
    for name, folder in over(folders.items(), "decide", "traces"):
        rows = _rows(folder)
        try:
            lists = _decided(rows, progress=progress)
        except InputError as error:
            raise error.of(folder) from None
        frames.append(summed_decisions(lists, rows.rounds, trace=name))
    frame = pl.concat(frames) if frames else pl.DataFrame(schema=STALL_DECISIONS.schema)
    return STALL_DECISIONS.check(frame)


def summed_decisions(decided: pl.DataFrame, rounds: pl.DataFrame, *, trace: str) -> pl.DataFrame:
    """Add up what each set of rules decides.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.
    rounds : polars.DataFrame
        Schema RECLAIM_ROUNDS: those of the same trace.
    trace : str
        Its name.

    Returns
    -------
    polars.DataFrame
        Schema STALL_DECISIONS, one row per rule set.
    """
    naps = [decide_rounds(rounds, rules)["throttle"].count() for rules in STALL_RULES]
    of_rounds = pl.DataFrame(
        {"rules": STALL_RULES, "naps": naps}, schema={"rules": RULE_SET.dtype, "naps": pl.UInt64}
    )
    flags = {name: ((pl.col("flags_set") & bit) != 0).sum() for name, bit in STALL_FLAGS.items()}
    frame = (
        decided.group_by("rules", maintain_order=True)
        .agg(
            lists=pl.len(),
            forced=pl.col("sleeps").list.eval(pl.element().is_in(_FORCED)).list.sum().sum(),
            waits=pl.col("waits").sum(),
            **flags,
            **{name: pl.col(name).cast(pl.UInt64).sum() for name in _FOLIOS},
        )
        .join(of_rounds, on="rules", how="left", maintain_order="left")
        .with_columns(trace=pl.lit(trace))
        .select(pl.col(name).cast(dtype) for name, dtype in STALL_DECISIONS.schema.items())
    )
    return STALL_DECISIONS.check(frame)


def decided_lists(source: ReclaimRows | Path | str, *, progress: bool = False) -> pl.DataFrame:
    """Decide each list of a trace by each set of rules.

    Parameters
    ----------
    source : ReclaimRows, Path or str
        The tables, or the trace folder of them.
    progress : bool

    Returns
    -------
    polars.DataFrame
        Schema DECIDED_LISTS, rule set after rule set.

    Raises
    ------
    InputError
        As for `stall_decisions`.
    """
    rows = _rows(source)
    return DECIDED_LISTS.check(_decided(rows, progress=progress))


def folio_fates(source: ReclaimRows | Path | str, numbers: Collection[int]) -> pl.DataFrame:
    """Tell of each folio of some lists what each set of rules makes of it: by which they part.

    Parameters
    ----------
    source : ReclaimRows, Path or str
    numbers : collection of int
        Of the lists, as the kernel gave them out.

    Returns
    -------
    polars.DataFrame
        Schema FOLIO_FATES, rule set after rule set.

    Raises
    ------
    InputError
        As for `stall_decisions`.
    """
    rows = _rows(source)
    lists = gather(rows)
    frames = [
        lists.folios.with_columns(fate=decided.fates, rules=pl.lit(rules, dtype=RULE_SET.dtype))
        .filter(pl.col("list").is_in(list(numbers)))
        .select(FOLIO_FATES.names())
        for rules, decided in _by_rules(rows, lists, progress=False)
    ]
    return FOLIO_FATES.check(pl.concat(frames))


def sleeps_asked(decided: pl.DataFrame, rounds: pl.DataFrame, *, hz: int = 250) -> pl.DataFrame:
    """Count the sleeps that each set of rules asks for, by reason.

    Parameters
    ----------
    decided : polars.DataFrame
        Schema DECIDED_LISTS.
    rounds : polars.DataFrame
        Schema RECLAIM_ROUNDS: those of the same trace.
    hz : int
        Timer ticks a second.

    Returns
    -------
    polars.DataFrame
        Schema STALL_SLEEPS_ASKED, in order of age and reason.
    """
    flagged = (pl.col("flags_after") & STALL_FLAGS["congested"]) != 0
    of_lists = (
        decided.select("rules", "sleeps", flagged=flagged)
        .explode("sleeps")
        .drop_nulls("sleeps")
        .select("rules", "flagged", reason="sleeps")
    )
    of_rounds = pl.concat(
        [
            rounds.select(
                "pass",
                rules=pl.lit(rules, dtype=RULE_SET.dtype),
                reason=decide_rounds(rounds, rules)["throttle"],
            ).drop_nulls("reason")
            for rules in STALL_RULES
        ]
    )
    # A round finds the flags that the last list of its last pass left.
    left = decided.group_by("rules", "pass").agg(flagged=flagged.last())
    of_rounds = of_rounds.join(left, on=["rules", "pass"], how="left").select(
        "rules", pl.col("flagged").fill_null(value=False), "reason"
    )
    declines = pl.col("reason").is_in(_FOR_CONGESTION) & ~pl.col("flagged")
    longest = pl.DataFrame(
        {"reason": THROTTLE.dtype.categories, "longest_us": _longest(hz)},
        schema={"reason": THROTTLE.dtype, "longest_us": pl.UInt32},
    )
    frame = (
        pl.concat([of_lists, of_rounds])
        .group_by("rules", "reason")
        .agg(asked=pl.len(), can_sleep=(~declines).sum())
        .join(longest, on="reason", how="left")
        .with_columns(most_us=pl.col("can_sleep").cast(pl.UInt64) * pl.col("longest_us"))
        .sort("rules", "reason")
        .select(pl.col(name).cast(dtype) for name, dtype in STALL_SLEEPS_ASKED.schema.items())
    )
    return STALL_SLEEPS_ASKED.check(frame)


def _longest(hz: int) -> pl.Series:
    """Return how long each sleep is that nothing declines."""
    asked = pl.DataFrame(
        {"reason": THROTTLE.dtype.categories}, schema={"reason": THROTTLE.dtype}
    ).with_columns(
        kthread=pl.lit(value=False), write_pending=1, congested_devices=1, flags=_ALL_FLAGS
    )
    filled = asked.select(
        (pl.col(name) if name in asked.columns else pl.lit(0)).cast(dtype).alias(name)
        for name, dtype in THROTTLES.schema.items()
    )
    return decide_sleeps(filled, hz=hz)["timeout_us"]


_ALL_FLAGS: Final = sum(STALL_FLAGS.values())


def _rows(source: ReclaimRows | Path | str) -> ReclaimRows:
    if isinstance(source, ReclaimRows):
        return check_reclaim_rows(source)
    require_events(source, _REPLAY)
    return reclaim_rows(source)


def _decided(rows: ReclaimRows, *, progress: bool) -> pl.DataFrame:
    lists = gather(rows)
    return pl.concat(
        [
            _frame(lists, decided, rules)
            for rules, decided in _by_rules(rows, lists, progress=progress)
        ]
    )


def _by_rules(
    rows: ReclaimRows, lists: ReclaimLists, *, progress: bool
) -> Iterator[tuple[str, Decided]]:
    """Lead the lists through each set of rules."""
    if not lists.lists.height:
        raise InputError("the trace has no whole list: record a longer one")
    known, history = lists.lists.select(RECLAIM_LISTS.names()), _history(rows, lists)
    total = lists.folios.height * len(STALL_RULES)
    with bar(total, "decide", "folios", shown=progress) as counted:
        for rules in STALL_RULES:
            own = None if rules in STALL_BY_PASS else history
            yield rules, decide_lists(lists.folios, known, rules, history=own, tick=counted.update)


def _history(rows: ReclaimRows, lists: ReclaimLists) -> History:
    """Return what cleared flags before each list: kswapd balanced its node, or shrank it once.

    What a case 1 clears on the way is its list's own.
    """
    order = lists.lists.select("nid", seq="first").with_row_index("nth")
    occasions = pl.concat(
        [
            rows.clears.filter(pl.col("why") == "balanced").select(
                "nid", "seq", why=pl.lit("balanced")
            ),
            rows.passes.filter("kswapd").select("nid", "seq", why=pl.lit("shrunk")),
        ]
    ).sort("seq")
    bits = {why: 1 << place for place, why in enumerate(STALL_CLEARS)}
    met = occasions.join_asof(
        order.sort("seq"), on="seq", by="nid", strategy="forward", check_sortedness=False
    ).drop_nulls("nth")
    clears = np.zeros(order.height, dtype=np.uint8)
    np.bitwise_or.at(
        clears,
        met["nth"].to_numpy(),
        met["why"].replace_strict(bits, return_dtype=pl.UInt8).to_numpy(),
    )
    return History(node=order["nid"].rank("dense").cast(pl.UInt32) - 1, clears=pl.Series(clears))


def _frame(lists: ReclaimLists, decided: Decided, rules: str) -> pl.DataFrame:
    """Give what a set decides of lists their names, and their folios counted by fate."""
    known = lists.lists.select("pass", "seq", "pid", "kswapd", "priority", "file", "taken")
    frame = decided.lists.with_columns(
        *known.get_columns(), **_folios(lists, decided), nth=pl.int_range(pl.len(), dtype=pl.UInt32)
    ).with_columns(
        # Each case 1 that slept asked for a sleep on the way.
        sleeps=pl.concat_list(
            pl.lit("congestion_wait", dtype=THROTTLE.dtype).repeat_by("slept"), "sleeps"
        ),
        rules=pl.lit(rules, dtype=RULE_SET.dtype),
    )
    if rules in STALL_BY_PASS:
        frame = _with_passes(frame, lists.passes, rules)
    asks, flag = pl.col("sleeps").list.eval(pl.element().is_in(_FORCED)).list.any(), "flags_after"
    waits = pl.col("sleeps").list.eval(pl.element().is_in(_FOR_CONGESTION)).list.any()
    return frame.with_columns(
        forced=asks, waits=waits & ((pl.col(flag) & STALL_FLAGS["congested"]) != 0)
    ).select(pl.col(name).cast(dtype) for name, dtype in DECIDED_LISTS.schema.items())


def _with_passes(frame: pl.DataFrame, passes: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Give the last list of each pass what the pass decides of its lists' sums."""
    added = frame.group_by("pass").agg(
        *(pl.col(name).sum() for name in (*DECIDING, "taken")),
        file_taken=pl.col("taken").filter("file").sum(),
    )
    summed = passes.drop(*DECIDING, "taken", "file_taken").join(
        added, on="pass", maintain_order="left"
    )
    of_pass = with_decisions(summed, rules).select("pass", "sets", "asks", saw="flags_after")
    last = (pl.col("nth") == pl.col("nth").max().over("pass")) & pl.col("saw").is_not_null()
    ask = pl.when(last & pl.col("asks").is_not_null()).then(pl.concat_list("asks"))
    return frame.join(of_pass, on="pass", how="left", maintain_order="left").with_columns(
        flags_set=pl.when(last).then(pl.col("flags_set") | pl.col("sets")).otherwise("flags_set"),
        flags_after=pl.when(last).then(pl.col("saw")).otherwise("flags_after"),
        sleeps=pl.concat_list("sleeps", ask.otherwise(pl.lit([], dtype=pl.List(THROTTLE.dtype)))),
    )


def _folios(lists: ReclaimLists, decided: Decided) -> dict[str, pl.Series]:
    """Count each list's folios by what the rules make of them."""
    fates = decided.fates.to_physical().to_numpy()
    file = lists.folios["file"].to_numpy()
    starts = np.concatenate([[0], lists.ends[:-1]]).astype(np.int64)

    def those(*names: str) -> Any:
        return np.isin(fates, [STALL_FATES.index(name) for name in names])

    counted = {
        "turned": those("case-1", "case-2"),
        "not_written": those("not-written"),
        "waited": those("case-3"),
        "file_written": those("write") & file,
        "anon_written": those("write") & ~file,
    }
    # A digest that two lists of the same fates share, and hardly any others.
    place = np.arange(len(fates)) - np.repeat(starts, np.diff(lists.ends, prepend=0).astype(int))
    longest = int(np.max(place)) + 1
    powers = np.multiply.accumulate(np.full(longest, _MIXER, dtype=np.uint64))
    mixed = (fates.astype(np.uint64) + np.uint64(1)) * powers[place]
    return {
        name: pl.Series(np.add.reduceat(which.astype(np.uint32), starts))
        for name, which in counted.items()
    } | {"fates": pl.Series(np.add.reduceat(mixed, starts))}
