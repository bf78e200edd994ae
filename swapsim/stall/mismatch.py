# SPDX-License-Identifier: GPL-2.0-or-later
"""The first row of a trace of reclaim that differs from the rules, with all that it rests on."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from swapsim.ffi import STALL_COUNTERS
from swapsim.stall.recording import Recording
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
_BY_RULES: Final = ("_rules", "_added")
"""Ends of the names of columns with the rules' values; ``_added`` are sums of lists."""
_NOT_SHOWN: Final = (
    *("seq", "pid", "fault", "verdict", "raced", "rows", "after", "folios", "kind", "equal"),
    *("not_called", "not_requested"),
)
_MOST_ROWS: Final = 64


def describe_first(
    faults: pl.DataFrame,
    recording: Recording,
    judged: Mapping[str, pl.DataFrame],
    folios: pl.DataFrame,
) -> str:
    """Describe where a trace first differs: the kernel's row, the rules' values, its folios."""
    seq, table, fault = faults.row(0)
    row = judged[table].row(by_predicate=pl.col("seq") == seq, named=True)
    number, a_list = row.get("pass"), row.get("list")
    by = "kswapd's " if row.get("kswapd") else ""
    name = {
        "reclaim_lists": f"{by}list {a_list} in pass {number}",
        "reclaim_passes": f"{by}pass {number}",
        "throttles": f"the call {row.get('reason')} of pass {number}, list {a_list}",
        "reclaim_rounds": f"the round of pass {number}",
        "reclaim_clears": f"the clear of flags ({row.get('why')})",
    }[table]
    if table == "reclaim_lists":
        calls = recording.rows.throttles.filter(pl.col("list") == a_list)
        row["sleeps"] = calls["reason"].to_list()
        row["sleeps_rules"] = ["congestion_wait"] * row["slept_rules"] + row["sleeps_rules"]
    more: Iterator[str] = iter(())
    if table == "reclaim_lists":
        more = _folio_lines(folios.filter(pl.col("list") == a_list))
    elif table == "reclaim_passes":
        more = _list_lines(recording.rows.lists.filter(pl.col("pass") == number))
    where = f"{name} at seq {seq} of task {row['pid']}"
    return mismatch(where, _WORDS[fault], sides_of(row), *more)


def sides_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Return in words what a row has of which the rules have a value, that value, and the rest."""
    rules = {
        name.removesuffix(end): value
        for end in _BY_RULES
        for name, value in row.items()
        if name.endswith(end) and name.removesuffix(end) in row
    }
    others = {
        name: value
        for name, value in row.items()
        if name not in (*rules, *_NOT_SHOWN) and not name.endswith((*_BY_RULES, "_differs"))
    }
    sides = {"kernel": {name: row[name] for name in rules}, "rules": rules, "row": others}
    return {side: _in_words(values) for side, values in sides.items()}


def _in_words(values: Mapping[str, Any]) -> str:
    texts = {
        name: "+".join(value) or "none" if isinstance(value, list) else value
        for name, value in values.items()
    }
    return ", ".join(f"{name} {text}" for name, text in texts.items())


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


def _list_lines(lists: pl.DataFrame) -> Iterator[str]:
    for row in lists.head(_MOST_ROWS).iter_rows(named=True):
        counters = _in_words({name: row[name] for name in ("taken", *STALL_COUNTERS)})
        yield f"    list {row['list']} at seq {row['seq']}: {counters}"
