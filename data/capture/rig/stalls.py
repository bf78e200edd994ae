# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of a parallelio run: by size of the file, and over all sizes as in the mail's tables."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rig.counts import Metrics, vmstat
from rig.errors import GuestError

_TURN: Final = re.compile(
    r"^([\d.]+) of the rest: (\d+) bytes in (\d+) usecs, "
    r"(\d+) gets and (\d+) sets in (\d+) usecs$",
    re.MULTILINE,
)
_MEMORY: Final = re.compile(r"^pool of (\d+) bytes, (\d+) bytes beside it$", re.MULTILINE)
_STALLS: Final = re.compile(
    r"^\{ reason: +(\d+) *\} hitcount: +(\d+)  delayed_us: +(\d+)", re.MULTILINE
)
# As the event throttles numbers them: enum vmscan_throttle_state, then the sleeps of 2013.
REASONS: Final = (
    *("writeback", "isolated", "noprogress", "congested"),
    *("congestion_wait", "wait_iff_congested"),
)
# Columns of a block device's stat.
_READS, _SECTORS_READ, _READ_MS = 0, 2, 3
_WRITES, _SECTORS_WRITTEN, _WRITE_MS = 4, 6, 7
_QUEUED_MS = 10

# Names in the mail's tables of counters of /proc/vmstat, and their units.
_COUNTERS: Final[Mapping[str, tuple[str, str]]] = {
    "Major Faults": ("pgmajfault", "faults"),
    "Swap Ins": ("pswpin", "pages"),
    "Swap Outs": ("pswpout", "pages"),
    "Direct pages scanned": ("pgscan_direct", "pages"),
    "Kswapd pages scanned": ("pgscan_kswapd", "pages"),
    "Kswapd pages reclaimed": ("pgsteal_kswapd", "pages"),
    "Direct pages reclaimed": ("pgsteal_direct", "pages"),
    "Page writes by reclaim": ("nr_vmscan_write", "pages"),
    "Page writes anon": ("pswpout", "pages"),
    "Page reclaim immediate": ("nr_vmscan_immediate_reclaim", "pages"),
    "Slabs scanned": ("slabs_scanned", "objects"),
    "Kswapd inode steals": ("kswapd_inodesteal", "inodes"),
    "Direct inode steals": ("pginodesteal", "inodes"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """Changes in one turn: counters by name, the disks' by column, stalls and their time.

    `server` is the disk of an NFS server, empty if there is none.
    """

    size: str
    file_s: float
    answers: int
    window_s: float
    counters: dict[str, int]
    disk: tuple[int, ...]
    server: tuple[int, ...]
    stalls: dict[str, tuple[int, int]]


def read(report: Mapping[str, str], name: str) -> Metrics:
    """Read the metrics of one run.

    Names are those of the mail's tables. "METRIC-SIZE" is of the turn of one size, in multiples of
    the memory outside the pool; a name without a size is of all turns.

    Raises
    ------
    GuestError
        The program took no turns.
    """
    output = report["output"]
    memory = _MEMORY.search(output)
    turns = [_turn(report, *found) for found in _TURN.findall(output)]
    if not turns or memory is None:
        raise GuestError(f"{name}: the program took no turns")
    metrics: Metrics = {
        "Pool": (int(memory[1]), "bytes"),
        "Memory beside the pool": (int(memory[2]), "bytes"),
    }
    for turn in turns:
        of_turn = {**_parallelio(turn), **_of([turn])}
        metrics |= {f"{metric}-{turn.size}": value for metric, value in of_turn.items()}
    return metrics | _of(turns)


def _turn(
    report: Mapping[str, str],
    size: str,
    file_bytes: str,
    file_us: str,
    gets: str,
    sets: str,
    window_us: str,
) -> _Turn:
    begin, end = (vmstat(report[f"turn {size} vmstat-{mark}"]) for mark in ("begin", "end"))
    return _Turn(
        size=size,
        file_s=int(file_us) / 1e6 if int(file_bytes) else 0.0,
        answers=int(gets) + int(sets),
        window_s=int(window_us) / 1e6,
        counters={counter: end[counter] - before for counter, before in begin.items()},
        disk=_moved(report, size, "disk"),
        server=_moved(report, size, "server") if f"turn {size} server-end" in report else (),
        stalls={
            REASONS[int(reason)]: (int(hits), int(usecs))
            for reason, hits, usecs in _STALLS.findall(report[f"turn {size} stalls"])
        },
    )


def _moved(report: Mapping[str, str], size: str, disk: str) -> tuple[int, ...]:
    """Return the changes of the columns of a block device's stat."""
    begin, end = (
        [int(column) for column in report[f"turn {size} {disk}-{mark}"].split()]
        for mark in ("begin", "end")
    )
    return tuple(after - before for before, after in zip(begin, end, strict=True))


def _parallelio(turn: _Turn) -> Metrics:
    """Return the metrics of the mail's first table, which has them by size."""
    moved = turn.counters
    return {
        "Ops memcachetest": (turn.answers / turn.window_s, "operations/s"),
        "Ops io-duration": (turn.file_s, "s"),
        "Ops swaptotal": (moved["pswpin"] + moved["pswpout"], "pages"),
        "Ops swapin": (moved["pswpin"], "pages"),
        "Ops minorfaults": (moved["pgfault"] - moved["pgmajfault"], "faults"),
        "Ops majorfaults": (moved["pgmajfault"], "faults"),
    }


def _of(turns: list[_Turn]) -> Metrics:
    """Return the metrics of the mail's other tables, of one turn or several."""
    moved = {
        counter: sum(turn.counters[counter] for turn in turns) for counter in turns[0].counters
    }
    seconds = sum(turn.window_s for turn in turns)
    metrics: Metrics = {
        metric: (moved[counter], unit) for metric, (counter, unit) in _COUNTERS.items()
    }
    metrics["Minor Faults"] = (moved["pgfault"] - moved["pgmajfault"], "faults")
    for zone in ("DMA32", "Normal"):
        # Memory below 4 GiB has no Normal: its counter stays 0.
        if moved.get("pgalloc_normal"):
            metrics[f"Pages allocated {zone}"] = (moved[f"pgalloc_{zone.lower()}"], "pages")
    metrics["Page writes file"] = (moved["nr_vmscan_write"] - moved["pswpout"], "pages")
    for who in ("kswapd", "direct"):
        scanned, reclaimed = moved[f"pgscan_{who}"], moved[f"pgsteal_{who}"]
        reclaimer = who.capitalize()
        metrics[f"{reclaimer} efficiency"] = (100 * reclaimed / scanned if scanned else 100.0, "%")
        metrics[f"{reclaimer} velocity"] = (scanned / seconds, "pages/s")
    scanned = moved["pgscan_kswapd"] + moved["pgscan_direct"]
    percent = 100 * moved["pgscan_direct"] / scanned if scanned else 0.0
    metrics["Percentage direct scans"] = (percent, "%")
    return metrics | _disk(turns, seconds) | _server(turns) | _stalls(turns)


def _disk(turns: list[_Turn], seconds: float) -> Metrics:
    """Mean wait and queue of the disk, over complete turns; a mean of zero requests is left out."""
    moved = [sum(turn.disk[column] for turn in turns) for column in range(_QUEUED_MS + 1)]
    metrics: Metrics = {
        "Sector Reads": (moved[_SECTORS_READ], "sectors"),
        "Sector Writes": (moved[_SECTORS_WRITTEN], "sectors"),
        "Mean sda-avgqz": (moved[_QUEUED_MS] / 1e3 / seconds, "requests"),
    }
    for metric, requests, waited_ms in (
        ("await", moved[_READS] + moved[_WRITES], moved[_READ_MS] + moved[_WRITE_MS]),
        ("r_await", moved[_READS], moved[_READ_MS]),
        ("w_await", moved[_WRITES], moved[_WRITE_MS]),
    ):
        if requests:
            metrics[f"Mean sda-{metric}"] = (waited_ms / requests, "ms")
    return metrics


def _server(turns: list[_Turn]) -> Metrics:
    """Return what the disk of an NFS server read and wrote, if there is one."""
    if not turns[0].server:
        return {}
    moved = [sum(turn.server[column] for turn in turns) for column in range(_QUEUED_MS + 1)]
    metrics: Metrics = {
        "Server Sector Reads": (moved[_SECTORS_READ], "sectors"),
        "Server Sector Writes": (moved[_SECTORS_WRITTEN], "sectors"),
    }
    if moved[_WRITES]:
        metrics["Server w_await"] = (moved[_WRITE_MS] / moved[_WRITES], "ms")
    return metrics


def _stalls(turns: list[_Turn]) -> Metrics:
    metrics: Metrics = {}
    for reason in REASONS:
        hits, usecs = zip(*(turn.stalls.get(reason, (0, 0)) for turn in turns), strict=True)
        metrics[f"Stalls {reason}"] = (sum(hits), "1")
        metrics[f"Time stalled {reason}"] = (sum(usecs) / 1e6, "s")
    slept = sum(usecs for turn in turns for _, usecs in turn.stalls.values())
    return metrics | {"Time stalled": (slept / 1e6, "s")}
