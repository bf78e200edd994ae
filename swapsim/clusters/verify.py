# SPDX-License-Identifier: GPL-2.0-or-later
"""A real kernel's cluster allocator compared with the model: grants, visits, list moves, picks."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import interrupt
from swapsim.checks import checked
from swapsim.clusters._native import ClusterMismatch, Point, serves, verify_rows
from swapsim.clusters.events import ClusterRows, check_cluster_rows, cluster_rows
from swapsim.clusters.tables import VERIFIED_CLUSTERS
from swapsim.errors import InputError
from swapsim.progress import bar, over
from swapsim.traces.tables import MATCHED

SHOWN: Final = 8
"""Events of a cluster before the first mismatch that are shown."""

_TAKEN: Final[Mapping[str, str]] = {
    "windows": "windows, and the slots tried in them",
    "silent": "windows in which no slot was tried",
    "yields": "clusters that a list yielded, or did not",
    "full": "answers whether swap is full",
    "ends": "ends of calls, or of visits of a CPU's own cluster",
    "discards": "returns of discarded clusters",
    "turns": "turns of devices",
}


_COUNTED: Final = tuple(
    f"{name}{suffix}"
    for name in ("calls", "grants", "visits", "moves", "picks")
    for suffix in ("", "_equal")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterVerdict:
    """What a kernel's allocator did, compared with the model of its rules.

    Attributes
    ----------
    rules : str
        One of CLUSTER_RULES.
    counts : dict of str to int
        calls, grants, visits, moves, picks and turns of the trace, each also with ``_equal`` for
        those that are the model's; rows, slots, frees, and ``taken_X`` for what was taken from the
        trace.
    open_calls : int
        Calls that had not ended when the trace did.
    mismatch : ClusterMismatch or None
        The first row that differs.
    events : polars.DataFrame
        Schema CLUSTER_EVENTS: the last events of that row's cluster, and the row itself.
    """

    rules: str
    counts: dict[str, int]
    open_calls: int
    mismatch: ClusterMismatch | None
    events: pl.DataFrame

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return self.mismatch is None and all(
            self.counts[name] == self.counts[f"{name}_equal"]
            for name in ("calls", "grants", "visits", "moves", "picks")
        )

    @property
    def taken(self) -> dict[str, int]:
        """What was taken from the trace, by kind, where it is not zero."""
        counts = {kind: self.counts[f"taken_{kind}"] for kind in _TAKEN}
        return {kind: count for kind, count in counts.items() if count}

    @property
    def matched(self) -> pl.DataFrame:
        """The counts (MATCHED): grants, visits, list moves, picks, turns and calls."""
        rows = [
            (name, self.counts[f"{name}_equal"], n)
            for name, n in self.counts.items()
            if f"{name}_equal" in self.counts
        ]
        return pl.DataFrame(rows, schema=MATCHED.schema, orient="row")

    def describe(self) -> list[str]:
        """Return lines for the terminal: the first difference, what was taken, the counts."""
        lines = [] if self.mismatch is None else self._describe_mismatch(self.mismatch)
        lines += [
            f"taken from the trace: {count} {_TAKEN[kind]}" for kind, count in self.taken.items()
        ]
        of = {
            name: f"{self.counts[f'{name}_equal']} of {n}"
            for name, n in self.counts.items()
            if f"{name}_equal" in self.counts
        }
        lines.append(
            f"{of['calls']} calls, {of['picks']} picks from lists, {of['turns']} turns of devices; "
            f"{self.open_calls} calls open at the end"
        )
        lines.append(f"granted {of['grants']} ({of['visits']} visits, {of['moves']} list moves)")
        return lines

    def _describe_mismatch(self, found: ClusterMismatch) -> list[str]:
        heads = [f"{name} {head} ({found.lengths[name]})" for name, head in found.heads.items()]
        events = [_event(row) for row in self.events.iter_rows(named=True)]
        return [
            f"first mismatch: the row with seq {found.seq}, in the call with seq {found.call_seq} "
            f"of task {found.pid} on CPU {found.cpu}: {found.fault}",
            f"  ours:  {_words(found.ours)}",
            f"  trace: {_words(found.theirs)}",
            f"  state: device {found.device}, cluster {found.cluster}: {found.count} slots in use, "
            f"order {found.order}, on {found.list}; CPU {found.cpu} goes on at slot {found.next}",
            f"  heads of its lists (clusters on them): {', '.join(heads) or 'none'}",
            "  last events of the cluster:",
            *(f"    {event}" for event in events),
        ]


def _words(point: Point | None) -> str:
    if point is None:
        return "nothing"
    return " ".join(
        f"{name} {value}" if name != "op" else str(value) for name, value in point.items()
    )


def _event(row: dict[str, object]) -> str:
    fields = [
        f"{name} {row[name]}"
        for name in ("device", "slot", "n", "order", "list")
        if row[name] is not None
    ]
    return f"seq {row['seq']} cpu {row['cpu']} task {row['pid']}: {row['op']} {', '.join(fields)}"


@checked
@interrupt.recording()
def verify_clusters(source: ClusterRows | Path | str, *, progress: bool = False) -> ClusterVerdict:
    """Replay a real kernel's events through the allocator that it has, and compare each.

    Each grant, visit, list move and pick of a list has to be the model's next one. What the rows
    cannot show, such as the end of a visit's unlocked window, is taken from the trace and counted.

    Parameters
    ----------
    source : ClusterRows, Path or str
        The tables, or the trace folder of them.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    ClusterVerdict

    Raises
    ------
    InputError
        As for `cluster_rows`; or a row, named by its seq, cannot be replayed.

    Source
    ------
    mm/swapfile.c: get_swap_pages, cluster_alloc_swap_entry, alloc_swap_scan_cluster (6.12);
    folio_alloc_swap, isolate_lock_cluster, move_cluster (7.3).
    """
    if isinstance(source, ClusterRows):
        return _judged(check_cluster_rows(source), progress=progress)
    rows = cluster_rows(source)
    try:
        return _judged(rows, progress=progress)
    except InputError as error:
        raise error.of(source) from None


def _judged(rows: ClusterRows, *, progress: bool) -> ClusterVerdict:
    if not serves(rows.rules, rows.devices):
        raise InputError(
            f"a device is a hard disk, for which {rows.rules} has no clusters: choose a trace of "
            "other devices",
            field="rotational",
        )
    with bar(rows.events.height, "verify", "rows", shown=progress) as counted:
        counts, open_calls, mismatch = verify_rows(rows, counted.update)
    events = rows.events.clear() if mismatch is None else _last_events(rows, mismatch)
    return ClusterVerdict(
        rules=rows.rules, counts=counts, open_calls=open_calls, mismatch=mismatch, events=events
    )


def _last_events(rows: ClusterRows, found: ClusterMismatch) -> pl.DataFrame:
    """Return the last events of a mismatch's cluster and of its task's locks, with its own row."""
    of_cluster = pl.col("slot") // rows.cluster_size == found.cluster
    locks = (pl.col("pid") == found.pid) & pl.col("op").is_in(["window", "relock"])
    own = (pl.col("device") == found.device) & of_cluster | locks | (pl.col("seq") == found.seq)
    return rows.events.filter((pl.col("seq") <= found.seq) & own).tail(SHOWN)


@checked
def verified_clusters(folders: Mapping[str, Path]) -> pl.DataFrame:
    """Verify several traces of cluster allocators, each by the rules of its kernel.

    Parameters
    ----------
    folders : mapping of str to Path
        Name of a trace -> its folder.

    Returns
    -------
    polars.DataFrame
        Schema VERIFIED_CLUSTERS, one row per trace.

    Raises
    ------
    InputError
        As for `verify_clusters`.
    """
    found = []
    for name, folder in over(folders.items(), "verify", "traces"):
        rows = cluster_rows(folder)
        verdict = verify_clusters(rows)
        found.append(
            {"trace": name, "rules": rows.rules, "cpus": rows.cpus, "devices": rows.devices.height}
            | {column: verdict.counts[column] for column in _COUNTED}
            | {"taken": sum(verdict.taken.values()), "holds": verdict.holds}
        )
    return VERIFIED_CLUSTERS.check(pl.DataFrame(found, schema=VERIFIED_CLUSTERS.schema))
