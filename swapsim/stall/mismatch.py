# SPDX-License-Identifier: GPL-2.0-or-later
"""The first row of a trace of reclaim that differs from the rules, with all that it rests on."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import polars as pl

from swapsim.ffi import STALL_COUNTERS
from swapsim.stall.recording import OUTCOME_COUNTERS, Recording
from swapsim.traces.verification import mismatch

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
    recording: Recording,
    judged: Mapping[str, pl.DataFrame],
    folios: pl.DataFrame,
) -> str:
    """Describe in lines where a trace first differs: the kernel's row, the rules' values, folios.

    The tables have the rules' values in columns that end in ``_rules``.
    """
    seq, table, fault = faults.row(0)
    row = judged[table].row(by_predicate=pl.col("seq") == seq, named=True)
    where = f"{_name(table, row)} at seq {seq} of task {row['pid']}"
    more: Iterable[str] = ()
    if table == "reclaim_lists":
        of_list = folios.filter(pl.col("list") == row["list"])
        sides, more = _of_list(row, recording), _folio_lines(of_list)
    elif table == "reclaim_passes":
        sides, more = _of_pass(row), _list_lines(row, recording)
    else:
        shown = {name: value for name, value in row.items() if name not in _NOT_SHOWN}
        sides = {"row": ", ".join(f"{name} {value}" for name, value in shown.items())}
    return mismatch(where, _WORDS[fault], sides, *more)


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


def _flags(row: Row) -> str:
    before, own, after = (row[f"flags_{name}"] for name in ("before", "set", "after"))
    return f"before {before}, set {own} (rules: {row['flags_set_rules']}), after {after}"


def _of_list(row: Row, recording: Recording) -> dict[str, str]:
    """Return both counters, flags and sleeps of a list."""
    calls = recording.rows.throttles.filter(pl.col("list") == row["list"])
    called = ", ".join(calls["reason"])
    requested = ", ".join(["congestion_wait"] * row["slept_rules"] + row["sleeps_rules"])
    counters = (*STALL_COUNTERS, *OUTCOME_COUNTERS)
    return {
        "list": f"priority {row['priority']}, target cgroup {row['target']}, taken {row['taken']}",
        "kernel": _fields(row, counters),
        "rules": _fields(row, counters, "_rules"),
        "flags": _flags(row),
        "sleeps": f"{called or 'none'} (rules: {requested or 'none'})",
    }


def _folio_lines(folios: pl.DataFrame) -> Iterator[str]:
    """Yield the folios of a list, and what the rules decide for one at fault."""
    for folio in folios.head(_MOST_ROWS).iter_rows(named=True):
        flags = [name for name in _FOLIO_FLAGS if folio[name]]
        if folio["fs_dirty"] is not None:
            flags.append(f"fs_dirty={folio['fs_dirty']:d} fs_writeback={folio['fs_writeback']:d}")
        if folio["node_flags"] is not None:
            flags.append(f"saw {folio['node_flags']}")
        end = f"{folio['step']}, {folio['outcome']}: {' '.join(flags)}"
        at_fault = folio["step_differs"] or folio["outcome_differs"]
        here = f"  <- here; by the rules {folio['branch']}" if at_fault else ""
        yield f"    folio at seq {folio['seq']}: {end}{here}"
    if folios.height > _MOST_ROWS:
        yield f"    and {folios.height - _MOST_ROWS} more folios"


def _of_pass(row: Row) -> dict[str, str]:
    """Return a pass's sums, flags and sleep."""
    sums = (*STALL_COUNTERS, "taken", "file_taken", "scanned", "reclaimed")
    return {
        "pass": f"priority {row['priority']}, target cgroup {row['memcg']}",
        "kernel": _fields(row, sums),
        "lists": _fields(row, sums, "_added"),
        "flags": _flags(row),
        "sleep": f"{row['throttle'] or 'none'} (rules: {row['throttle_rules'] or 'none'})",
    }


def _list_lines(row: Row, recording: Recording) -> Iterator[str]:
    own = recording.rows.lists.filter(pl.col("pass") == row["pass"]).head(_MOST_ROWS)
    for a_list in own.iter_rows(named=True):
        counters = _fields(a_list, STALL_COUNTERS)
        yield (
            f"    list {a_list['list']} at seq {a_list['seq']}: taken {a_list['taken']} {counters}"
        )
