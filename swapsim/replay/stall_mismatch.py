# SPDX-License-Identifier: GPL-2.0-or-later
"""The first row of a trace of reclaim that differs from the rules, with all that it rests on."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim.replay.stall_counters import DECIDING, TELLING, CountedLists
from swapsim.replay.stall_lists import ReclaimLists
from swapsim.replay.stall_sleeps import Sleeps
from swapsim.traces import ReclaimRows

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
) -> tuple[str, ...]:
    """Say in some lines where a trace first differs: the kernel's row, the rules', what it met.

    Parameters
    ----------
    faults : polars.DataFrame
        Schema STALL_FAULTS.
    rows, lists, counted, passes, sleeps
        What was judged; ``passes`` as `stall_tables.decided_passes` returns them.

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
    tell = {"reclaim_lists": _tell_list, "reclaim_passes": _tell_pass}.get(table, _tell_row)
    return (head, *tell(row, rows, lists, counted))


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
    row: Mapping[str, Any], rows: ReclaimRows, lists: ReclaimLists, counted: CountedLists
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
    lines += [_tell_folio(folio) for folio in folios.head(_MOST_FOLIOS).iter_rows(named=True)]
    if folios.height > _MOST_FOLIOS:
        lines.append(f"  and {folios.height - _MOST_FOLIOS} folios more")
    return lines


def _tell_folio(folio: Mapping[str, Any]) -> str:
    flags = [name for name in _FOLIO_FLAGS if folio[name]]
    if folio["fs_dirty"] is not None:
        flags.append(f"fs_dirty={folio['fs_dirty']:d} fs_writeback={folio['fs_writeback']:d}")
    if folio["node_flags"] is not None:
        flags.append(f"saw {folio['node_flags']}")
    here = "  <- here" if folio["at"] else ""
    way = f"{folio['step']}, {folio['outcome']}"
    return f"    folio at seq {folio['seq']}: {way}: {' '.join(flags)}{here}"


def _tell_pass(
    row: Mapping[str, Any], rows: ReclaimRows, _lists: ReclaimLists, _counted: CountedLists
) -> list[str]:
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


def _tell_row(
    row: Mapping[str, Any], _rows: ReclaimRows, _lists: ReclaimLists, _counted: CountedLists
) -> list[str]:
    """Tell the fields of a row that has no more to it."""
    besides = ("seq", "pid", "kind", "fault")
    told = [f"{name} {value}" for name, value in row.items() if name not in besides]
    return [f"  {', '.join(told)}"]
