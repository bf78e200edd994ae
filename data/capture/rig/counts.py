# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run counts, per page swapped out: locks, their call sites, trunks, throughput."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

import polars as pl

from rig.errors import GuestError

# Classes of /proc/lock_stat, by the names of the lock ledger.
LOCKS: Final[Mapping[str, str]] = {
    "swap_cache": "xa_lock",
    "file_cache": "file xa_lock",
    "&sb->s_type->i_lock_key": "i_lock",
    "swap_device": "si->lock",
    "swap_cluster": "cluster lock",
    "swap_avail_lock": "swap_avail_lock",
    "swap_local": "local lock",
    "&cache->alloc_lock": "slot cache mutex",
    "&cache->free_lock": "return cache lock",
    "&lruvec->lru_lock": "lru_lock",
    "&zone->lock": "zone->lock",
}
# Columns of /proc/lock_stat that become metrics, and their units per page.
COLUMNS: Final[Mapping[int, tuple[str, str]]] = {
    7: ("acquisitions", "1/page"),
    6: ("bounced acquisitions", "1/page"),
    1: ("contended acquisitions", "1/page"),
    4: ("wait", "us/page"),
    10: ("hold", "us/page"),
}
_LINE: Final = re.compile(r"^\s*(\S.*?):\s+((?:[\d.]+\s+){11}[\d.]+)\s*$", re.MULTILINE)
_NUMBERED: Final = re.compile(r"(#\d+)?(/\d+)?$")
_STACK: Final = re.compile(
    r"\{ name: (\S+)\s*, (?:common_)?stacktrace:\s*\n(.*?)\} hitcount: +(\d+)", re.DOTALL
)
# Functions between a lock and its user.
_NO_SITE: Final = re.compile(r"^(lock_acquire|_raw_\w+|__raw_\w+|trace_\w+|rt_spin_\w+)\+")
_OUTPUT: Final = re.compile(r"^(\d+) (visits in|bytes /) (\d+) usecs", re.MULTILINE)

Metrics = dict[str, tuple[float, str]]
# Of a run: the columns of a further table behind kernel, policy and seed.
Rows = list[list[int]]


def counts(report: Mapping[str, str], name: str, *, sites: bool = False) -> Metrics:
    """Read the metrics of one run: name to value and unit.

    Raises
    ------
    GuestError
        The run swapped nothing out, or its lock statistics are not there, or (where they are
        asked for) the call sites of its locks.
    """
    before, after = (vmstat(report[f"marked vmstat-{mark}"]) for mark in ("begin", "end"))
    pages = after["pswpout"] - before["pswpout"]
    if pages == 0:
        raise GuestError(f"{name}: no page was swapped out between the marks")
    metrics: Metrics = {
        "pages out": (pages, "page"),
        "pages in": (after["pswpin"] - before["pswpin"], "page"),
        **locks(report.get("marked lock-stat", ""), pages),
        **lock_sites(report.get("marked lock-sites", ""), pages),
        **_throughput(report["output"]),
    }
    if "xa_lock acquisitions" not in metrics:
        raise GuestError(f"{name}: no lock statistics of the swap cache")
    if sites and not any(" at " in metric for metric in metrics):
        raise GuestError(f"{name}: no call sites of the swap cache's lock")
    slab = report.get("marked slab", "").split()
    if slab:
        metrics["radix_tree_node in use"] = (int(slab[1]), "node")
    return metrics


def vmstat(text: str) -> dict[str, int]:
    """Read /proc/vmstat's counters."""
    return {name: int(value) for name, value in map(str.split, text.splitlines())}


def locks(text: str, pages: int) -> Metrics:
    """Divide the figures of /proc/lock_stat for the ledger's locks by a number of pages.

    The classes of a name are summed: a lock that is nested in one of its kind has its own line.
    """
    sums: dict[tuple[str, int], float] = {}
    for name, numbers in _LINE.findall(text):
        lock = LOCKS.get(_NUMBERED.sub("", name))
        if lock is not None:
            for column, number in enumerate(numbers.split()):
                sums[lock, column] = sums.get((lock, column), 0.0) + float(number)
    return {
        f"{lock} {COLUMNS[column][0]}": (total / pages, COLUMNS[column][1])
        for (lock, column), total in sums.items()
        if column in COLUMNS
    }


def lock_sites(text: str, pages: int) -> Metrics:
    """Acquisitions by the first function in each stack that is no lock's own."""
    sites: Counter[str] = Counter()
    for name, stack, hits in _STACK.findall(text):
        frames = [frame for frame in stack.split() if not _NO_SITE.match(frame)]
        site = frames[0].split("+")[0] if frames else "unknown"
        sites[f"{LOCKS.get(name, name)} at {site}"] += int(hits)
    metrics: Metrics = {site: (hits / pages, "1/page") for site, hits in sorted(sites.items())}
    dropped = re.search(r"Dropped: (\d+)", text)
    if dropped and int(dropped[1]):
        metrics["call sites dropped"] = (int(dropped[1]), "1")
    return metrics


def _throughput(output: str) -> Metrics:
    """Visits or bytes of all processes per second of the slowest."""
    found = _OUTPUT.findall(output)
    if not found:
        return {}
    total = sum(int(amount) for amount, _, _ in found)
    slowest_s = max(int(usecs) for _, _, usecs in found) / 1e6
    unit = "visit/s" if found[0][1] == "visits in" else "byte/s"
    return {"throughput": (total / slowest_s, unit)}


def trunks(slot_events: pl.DataFrame, trunk_shift: int) -> Metrics:
    """Say how often CPUs meet in a trunk, from the slots that they were handed out.

    A slot is shared if the last one that some other CPU was handed out lies in the same trunk.
    """
    last: dict[int, int] = {}
    in_trunk: Counter[int] = Counter()
    shared = 0
    handed_out = _since_drop(slot_events).with_columns(trunk=pl.col("offset") // (1 << trunk_shift))
    for cpu, trunk in handed_out.select("cpu", "trunk").iter_rows():
        if cpu in last:
            in_trunk[last[cpu]] -= 1
        shared += in_trunk[trunk] > 0
        last[cpu] = trunk
        in_trunk[trunk] += 1
    if not handed_out.height:
        return {}
    return {"slots in a trunk with another CPU": (shared / handed_out.height, "1/slot")}


def _since_drop(slot_events: pl.DataFrame) -> pl.DataFrame:
    """Slots handed out after the drop: behind the longest run of slots that come back."""
    handed_out = slot_events.with_row_index("row").filter(pl.col("op") == "alloc")
    gaps = handed_out["row"].cast(pl.Int64).diff().fill_null(0)
    return handed_out[int(gaps.arg_max() or 0) :]
