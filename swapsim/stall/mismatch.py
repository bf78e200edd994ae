# SPDX-License-Identifier: GPL-2.0-or-later
"""The first row of a trace of reclaim that differs from the rules, with all that it rests on."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim.ffi import STALL_COUNTERS
from swapsim.stall._native import round_pages
from swapsim.stall.config import StallContext
from swapsim.stall.recording import OUTCOME_COUNTERS, ReclaimRows
from swapsim.stall.rules import explain_page, explain_round

_WORDS: Final = {
    "counters": "its counters are not those of its folios",
    "step": "a folio ended at another step than by the rules",
    "outcome": "a folio had another outcome than it has at its step",
    "sums": "its sums are not those of its lists",
    "flags set": "it set other flags",
    "flags seen": "it read flags that no row left so",
    "sleeps": "it requested another sleep",
    "request": "the rules do not request this sleep",
    "length": "it is of another length",
    "cleared": "it cleared other flags",
}
_FOLIO_FLAGS: Final = ("file", "lazyfree", "dirty", "writeback", "reclaim", "marked", "swap")
_NOT_SHOWN: Final = ("seq", "pid", "kind", "not_requested", "fault", "verdict", "raced")
_MOST_ROWS: Final = 64

Row = Mapping[str, Any]


def describe_first(
    faults: pl.DataFrame,
    rows: ReclaimRows,
    judged: Mapping[str, pl.DataFrame],
    folios: pl.DataFrame,
    rules: str,
) -> tuple[str, ...]:
    """Describe in lines where a trace first differs: the kernel's row, the rules' values, folios.

    The tables have the rules' values in columns that end in ``_rules``.
    """
    seq, table, fault = faults.row(0)
    row = judged[table].row(by_predicate=pl.col("seq") == seq, named=True)
    head = f"first mismatch: {_name(table, row)} at seq {seq} of task {row['pid']}: {_WORDS[fault]}"
    if table == "reclaim_lists":
        return (head, *_list_lines(row, rows, folios, rules))
    if table == "reclaim_passes":
        return (head, *_pass_lines(row, rows))
    fields = [f"{name} {value}" for name, value in row.items() if name not in _NOT_SHOWN]
    why = []
    if table == "reclaim_rounds":
        caller = {name: row[name] for name in ("priority", "kswapd", "hibernation")}
        context = StallContext(rules=rules, memcg=row["memcg"] != 0, **caller)
        why = explain_round(context, round_pages(row))
    return (head, f"  {', '.join(fields)}", *(f"  rules:  {each}" for each in why))


def _name(table: str, row: Row) -> str:
    by = "kswapd's " if row.get("kswapd") else ""
    number, a_list = row.get("pass"), row.get("list")
    return {
        "reclaim_lists": f"{by}list {a_list} in pass {number}",
        "reclaim_passes": f"{by}pass {number}",
        "throttles": f"the call {row.get('reason')} of pass {number}, list {a_list}",
        "reclaim_rounds": f"the round of pass {number}",
        "reclaim_clears": f"the clear of flags ({row.get('why')})",
    }[table]


def _fields(row: Row, names: tuple[str, ...], suffix: str = "") -> str:
    return " ".join(f"{name} {row[name + suffix]}" for name in names)


def _list_lines(row: Row, rows: ReclaimRows, folios: pl.DataFrame, rules: str) -> list[str]:
    """Return both counters, flags and sleeps of a list, and its folios."""
    called = rows.throttles.filter(pl.col("list") == row["list"])["reason"].to_list()
    requested = [*["congestion_wait"] * row["slept_rules"], *row["sleeps_rules"]]
    counters = (*STALL_COUNTERS, *OUTCOME_COUNTERS)
    lines = [
        f"  priority {row['priority']}, target cgroup {row['target']}, taken {row['taken']}",
        f"  kernel: {_fields(row, counters)}",
        f"  rules:  {_fields(row, counters, '_rules')}",
        f"  flags:  before {row['flags_before']}, set {row['flags_set']} (rules: "
        f"{row['flags_set_rules']}), after {row['flags_after']}",
        f"  sleeps: {', '.join(called) or 'none'} (rules: {', '.join(requested) or 'none'})",
    ]
    of_list = folios.filter(pl.col("list") == row["list"])
    for folio in of_list.head(_MOST_ROWS).iter_slices(1):
        lines += _folio_lines(folio, row, rules)
    if of_list.height > _MOST_ROWS:
        lines.append(f"  and {of_list.height - _MOST_ROWS} more folios")
    return lines


def _folio_lines(folio: pl.DataFrame, row: Row, rules: str) -> list[str]:
    """Return a folio of a list; if it is at fault, also what the rules make of it and why."""
    values = folio.row(0, named=True)
    flags = [name for name in _FOLIO_FLAGS if values[name]]
    if values["fs_dirty"] is not None:
        flags.append(f"fs_dirty={values['fs_dirty']:d} fs_writeback={values['fs_writeback']:d}")
    read = values["node_flags"]
    if read is not None:
        flags.append(f"saw {read}")
    end = f"{values['step']}, {values['outcome']}"
    line = f"    folio at seq {values['seq']}: {end}: {' '.join(flags)}"
    if not (values["step_differs"] or values["outcome_differs"]):
        return [line]
    names = ("priority", "kswapd", "sane", "hibernation", "io", "fs")
    context = StallContext(
        rules=rules,
        memcg=row["target"] != 0,
        flags=row["flags_before"] if read is None else read,
        **{name: row[name] for name in names},
    )
    return [f"{line}  <- here", f"      rules: {'; '.join(explain_page(context, folio))}"]


def _pass_lines(row: Row, rows: ReclaimRows) -> list[str]:
    """Return a pass's sums, flags and sleep, and its lists."""
    sums = (*STALL_COUNTERS, "taken", "file_taken", "scanned", "reclaimed")
    own = rows.lists.filter(pl.col("pass") == row["pass"]).head(_MOST_ROWS)
    return [
        f"  priority {row['priority']}, target cgroup {row['memcg']}",
        f"  kernel: {_fields(row, sums)}",
        f"  lists:  {_fields(row, sums, '_added')}",
        f"  flags:  before {row['flags_before']}, set {row['flags_set']} "
        f"(rules: {row['flags_set_rules']}), after {row['flags_after']}",
        f"  sleep:  {row['throttle'] or 'none'} (rules: {row['throttle_rules'] or 'none'})",
        *(
            f"    list {a_list['list']} at seq {a_list['seq']}: taken {a_list['taken']} "
            f"{_fields(a_list, STALL_COUNTERS)}"
            for a_list in own.iter_rows(named=True)
        ),
    ]
