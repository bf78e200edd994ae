# SPDX-License-Identifier: GPL-2.0-or-later
"""A real kernel's cluster allocator compared with the model: grants, visits, list moves, picks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.clusters._native import Mismatch, serves, verify_rows
from swapsim.clusters.events import FIELDS, ClusterRows, opened
from swapsim.errors import InputError
from swapsim.progress import bar
from swapsim.traces.folder import Trace
from swapsim.traces.verification import Verdict, mismatch

SHOWN: Final = 8  # events of a cluster before the first mismatch that are shown

_TAKEN: Final[Mapping[str, str]] = {
    "windows": "windows (a lock dropped to free slots that only the swap cache holds), and the "
    "slots tried in them",
    "silent": "windows in which no slot was tried",
    "yields": "answers of lists whose first cluster another CPU may have locked: another cluster, "
    "or none",
    "full": "answers whether swap is full",
    "ends": "ends of calls, or of visits of a CPU's own cluster",
    "discards": "returns of discarded clusters",
    "turns": "turns of devices",
}
_COMPARED: Final = ("calls", "grants", "visits", "moves", "picks")


def _describe(found: Mismatch, events: pl.DataFrame) -> str:
    """Describe the first row that differs, with the state and the cluster's last events."""
    heads = [f"{name} {head} ({found['lengths'][name]})" for name, head in found["heads"].items()]
    return mismatch(
        "the row with seq {seq}, in the call with seq {call_seq} of task {pid} on CPU {cpu}".format(
            **found
        ),
        found["fault"],
        {
            "ours": found["ours"],
            "trace": found["theirs"],
            "state": "device {device}, cluster {cluster}: {count} slots in use, order {order}, on "
            "{list}; CPU {cpu} goes on at slot {next}".format(**found),
        },
        f"  heads of its lists (clusters on them): {', '.join(heads) or 'none'}",
        "  last events of the cluster:",
        *(
            "    seq {seq} cpu {cpu} task {pid}: {op} ".format(**row)
            + ", ".join(f"{name} {row[name]}" for name in FIELDS if row[name] is not None)
            for row in events.iter_rows(named=True)
        ),
    )


def verify(trace: ClusterRows | Trace | Path | str, *, progress: bool = False) -> Verdict:
    """Replay a real kernel's events through the allocator that it has, and compare each.

    Each grant, visit, list move and pick of a list has to be the model's next one. What the rows
    cannot show, such as the end of a visit's unlocked window, is taken from the trace and counted.

    Parameters
    ----------
    trace : Trace, Path or str
        A recording of 6.12 or 7.3, or its rows.
    progress : bool
        Whether a bar is shown.

    Returns
    -------
    Verdict
        Counts of ``calls``, ``grants``, ``visits``, list ``moves``, ``picks`` from lists and
        ``turns`` of devices; figures are all totals of the replay, with ``taken_X`` for what was
        taken from the trace. Its table ``events`` (CLUSTER_EVENTS) has the last events of the
        cluster that differs first.

    Raises
    ------
    InputError
        A table is missing or damaged, the recording lost events, rows contradict earlier ones, or
        the rules have no clusters for a hard disk.

    Source
    ------
    mm/swapfile.c: get_swap_pages, cluster_alloc_swap_entry, alloc_swap_scan_cluster (6.12);
    folio_alloc_swap, isolate_lock_cluster, move_cluster (7.3).

    Examples
    --------
    >>> from swapsim import clusters
    >>> clusters.verify("clusters-7.3-orders-8").agrees
    True
    """
    with opened(trace) as rows:
        if not serves(rows.rules, rows.devices):
            raise InputError(
                f"a device is a hard disk, for which {rows.rules} has no clusters: choose a trace "
                "of other devices",
                field="rotational",
            )
        with bar(rows.events.height, "verify", "rows", shown=progress) as counted:
            totals, open_calls, found = verify_rows(rows, counted.update)
    counts = {
        name: (totals[f"{name}_equal"], n)
        for name, n in totals.items()
        if f"{name}_equal" in totals
    }
    equal = all(counts[name][0] == counts[name][1] for name in _COMPARED)
    events = rows.events.clear() if found is None else _last_events(rows, found)
    return Verdict(
        agrees=found is None and equal,
        counts=counts,
        result="granted {grants} ({visits} visits, {moves} list moves)",
        figures={**totals, "open": open_calls},
        notes=(
            *(
                f"taken from the trace, not compared: {n} {_TAKEN[kind]}"
                for kind, n in taken(totals).items()
            ),
            "matched: {calls} calls; {picks} picks from lists; {turns} turns of devices; "
            "calls open at the end: {open}"
            + ("" if totals["moves"] else "; the trace has no list moves to compare"),
        ),
        first=None if found is None else _describe(found, events),
        tables={"events": events},
    )


def taken(figures: Mapping[str, int]) -> dict[str, int]:
    """Return what was taken from the trace, by kind, where it is not zero."""
    return {kind: n for kind in _TAKEN if (n := figures[f"taken_{kind}"])}


def _last_events(rows: ClusterRows, found: Mismatch) -> pl.DataFrame:
    """Return the last events of a mismatch's cluster and of its task's locks, with its own row."""
    of_cluster = pl.col("slot") // rows.cluster_size == found["cluster"]
    locks = (pl.col("pid") == found["pid"]) & pl.col("op").is_in(["window", "relock"])
    own = (pl.col("device") == found["device"]) & of_cluster | locks
    before = pl.col("seq") < found["seq"]
    return rows.events.filter((before & own) | (pl.col("seq") == found["seq"])).tail(SHOWN)
