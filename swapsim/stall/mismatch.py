# SPDX-License-Identifier: GPL-2.0-or-later
"""The first row of a trace of reclaim that differs from the rules, with all that it rests on."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim.stall._native_page import explain_page
from swapsim.stall._native_sleeps import why_round
from swapsim.stall.config import StallContext
from swapsim.stall.counters import DECIDING, TELLING, CountedLists
from swapsim.stall.lists import ReclaimLists
from swapsim.stall.recording import ReclaimRows
from swapsim.stall.sleeps import Sleeps

_TOLD: Final = {
    "counters": "its counters are not those of its folios",
    "way": "a folio's way ended where the rules do not end it",
    "outcome": "something else became of a folio than does where its way ended",
    "sums": "its sums are not those of its lists",
    "flags set": "it set other flags",
    "flags seen": "it saw flags that no row left so",
    "sleeps": "it asked for another sleep",
    "asker": "the rules do not ask for this sleep",
    "length": "it is of another length",
    "cleared": "it cleared other flags",
}
_FOLIO_FLAGS: Final = ("file", "lazyfree", "dirty", "writeback", "reclaim", "marked", "swap")
_MOST_FOLIOS: Final = 64


def describe_first(
    faults: pl.DataFrame,
    rows: ReclaimRows,
    lists: ReclaimLists,
    counted: CountedLists,
    passes: pl.DataFrame,
    sleeps: Sleeps,
    rules: str,
) -> tuple[str, ...]:
    """Say in some lines where a trace first differs: the kernel's row, the rules', what it met.

    Parameters
    ----------
    faults : polars.DataFrame
        Schema STALL_FAULTS.
    rows, lists, counted, passes, sleeps
        What was judged; ``passes`` as `stall_tables.decided_passes` returns them.
    rules : str
        By which.

    Returns
    -------
    tuple of str
        None where nothing differs.
    """
    if faults.is_empty():
        return ()
    seq, table, fault = faults.row(0)
    frames = {
        "reclaim_lists": lists.lists,
        "reclaim_passes": passes,
        "throttles": sleeps.throttles,
        "reclaim_rounds": sleeps.rounds,
        "reclaim_clears": rows.clears,
    }
    row = frames[table].row(by_predicate=pl.col("seq") == seq, named=True)
    head = f"first mismatch: {_name(table, row)} at seq {seq} of task {row['pid']}: {_TOLD[fault]}"
    if table == "reclaim_lists":
        return (head, *_tell_list(row, rows, lists, counted, rules))
    if table == "reclaim_passes":
        return (head, *_tell_pass(row, rows))
    why = why_round(row, rules) if table == "reclaim_rounds" else []
    return (head, *_tell_row(row), *(f"  rules:  {each}" for each in why))


def _name(table: str, row: Mapping[str, Any]) -> str:
    by = "kswapd's " if row.get("kswapd") else ""
    return {
        "reclaim_lists": lambda: f"{by}list {row['list']} in pass {row['pass']}",
        "reclaim_passes": lambda: f"{by}pass {row['pass']}",
        "throttles": lambda: f"the call {row['reason']} of pass {row['pass']}, list {row['list']}",
        "reclaim_rounds": lambda: f"the round of pass {row['pass']}",
        "reclaim_clears": lambda: f"the clear of flags ({row['why']})",
    }[table]()


def _fields(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return " ".join(f"{name} {row[name]}" for name in names)


def _tell_list(
    row: Mapping[str, Any],
    rows: ReclaimRows,
    lists: ReclaimLists,
    counted: CountedLists,
    rules: str,
) -> list[str]:
    """Tell both counters, flags and sleeps of a list, and its folios."""
    mine = counted.ours.row(by_predicate=pl.col("list") == row["list"], named=True)
    called = rows.throttles.filter(pl.col("list") == row["list"])["reason"].to_list()
    asked = [*["congestion_wait"] * mine["slept"], *mine["sleeps"]]
    lines = [
        f"  priority {row['priority']}, target cgroup {row['target']}, taken {row['taken']}",
        f"  kernel: {_fields(row, (*DECIDING, *TELLING))}",
        f"  rules:  {_fields(mine, (*DECIDING, *TELLING))}",
        f"  flags:  before {row['flags_before']}, set {row['flags_set']} (rules: "
        f"{mine['flags_set']}), after {row['flags_after']}",
        f"  sleeps: {', '.join(called) or 'none'} (rules: {', '.join(asked) or 'none'})",
    ]
    at = pl.Series("at", counted.wrong_way | counted.wrong_outcome)
    folios = lists.folios.with_columns(at).filter(pl.col("list") == row["list"])
    for folio in folios.head(_MOST_FOLIOS).iter_rows(named=True):
        lines += _tell_folio(folio, row, rules)
    if folios.height > _MOST_FOLIOS:
        lines.append(f"  and {folios.height - _MOST_FOLIOS} folios more")
    return lines


def _tell_folio(folio: Mapping[str, Any], row: Mapping[str, Any], rules: str) -> list[str]:
    """Tell a folio of a list, and of one that is at fault what the rules make of it, and why."""
    flags = [name for name in _FOLIO_FLAGS if folio[name]]
    if folio["fs_dirty"] is not None:
        flags.append(f"fs_dirty={folio['fs_dirty']:d} fs_writeback={folio['fs_writeback']:d}")
    if folio["node_flags"] is not None:
        flags.append(f"saw {folio['node_flags']}")
    way = f"{folio['step']}, {folio['outcome']}"
    line = f"    folio at seq {folio['seq']}: {way}: {' '.join(flags)}"
    if not folio["at"]:
        return [line]
    seen = folio["node_flags"]
    context = StallContext(
        rules=rules,
        priority=row["priority"],
        kswapd=row["kswapd"],
        memcg=row["target"] != 0,
        sane=row["sane"],
        hibernation=row["hibernation"],
        io=row["io"],
        fs=row["fs"],
        flags=row["flags_before"] if seen is None else seen,
    )
    return [f"{line}  <- here", f"      rules: {'; '.join(explain_page(context, folio))}"]


def _tell_pass(row: Mapping[str, Any], rows: ReclaimRows) -> list[str]:
    """Tell a pass's sums, flags and sleep, and its lists."""
    sums = (*DECIDING, "taken", "file_taken", "scanned", "reclaimed")
    added = {name: row[f"{name}_added"] for name in sums}
    own = rows.lists.filter(pl.col("pass") == row["pass"])
    return [
        f"  priority {row['priority']}, target cgroup {row['memcg']}",
        f"  kernel: {_fields(row, sums)}",
        f"  lists:  {_fields(added, sums)}",
        f"  flags:  before {row['flags_before']}, set {row['flags_set']} (rules: {row['sets']}), "
        f"after {row['flags_after']}",
        f"  sleep:  {row['throttle'] or 'none'} (rules: {row['asks'] or 'none'})",
        *(
            f"    list {a_list['list']} at seq {a_list['seq']}: taken {a_list['taken']} "
            f"{_fields(a_list, DECIDING)}"
            for a_list in own.head(_MOST_FOLIOS).iter_rows(named=True)
        ),
    ]


def _tell_row(row: Mapping[str, Any]) -> list[str]:
    """Tell the fields of a row that has no more to it."""
    besides = ("seq", "pid", "kind", "fault")
    told = [f"{name} {value}" for name, value in row.items() if name not in besides]
    return [f"  {', '.join(told)}"]
