# SPDX-License-Identifier: GPL-2.0-or-later
"""What /proc/vmstat counted during a test of mmtests, under the names of mmtests' table.

Source: mmtests, bin/lib/MMTests/MonitorMmtestsvmstat.pm at 0215808: which lines of
``tests-timestamp-NAME`` hold /proc/vmstat before and after a test, and what each row is made of.
Rows that no claim is about are left out, and so are those of zones, which kernels since 4.8 do not
count.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from swapsim import io
from swapsim.errors import InputError

FILES: Final = ("tests-timestamp", "tests-timestamp-*")

_SCANNED: Final = {"Kswapd": "pgscan_kswapd", "Direct": "pgscan_direct"}
_RECLAIMED: Final = {"Kswapd": "pgsteal_kswapd", "Direct": "pgsteal_direct"}
_NOT_SCANNED: Final = "pgscan_direct_throttle"
"""Begins like what direct reclaim scanned in a zone, and counts sleeps."""

_SUMS: Final[Mapping[str, tuple[tuple[tuple[str, int], ...], str]]] = {
    "Minor Faults": ((("pgfault", 1), ("pgmajfault", -1)), "faults"),
    "Major Faults": ((("pgmajfault", 1),), "faults"),
    "Swap Ins": ((("pswpin", 1),), "pages"),
    "Swap Outs": ((("pswpout", 1),), "pages"),
    "Page writes by reclaim": ((("nr_vmscan_write", 1),), "pages"),
    "Page writes file": ((("nr_vmscan_write", 1), ("pswpout", -1)), "pages"),
    "Page writes anon": ((("pswpout", 1),), "pages"),
    "Page reclaim immediate": ((("nr_vmscan_immediate_reclaim", 1),), "pages"),
    "Sector Reads": ((("pgpgin", 1),), "sectors"),
    "Sector Writes": ((("pgpgout", 1),), "sectors"),
    "Slabs scanned": ((("slabs_scanned", 1),), "objects"),
    "Direct inode steals": ((("pginodesteal", 1),), "inodes"),
    "Kswapd inode steals": ((("kswapd_inodesteal", 1),), "inodes"),
}

Figure = tuple[str, float, str]
"""A row of the table, its figure and unit."""


def figures(path: Path, test: str) -> Iterator[Figure]:
    """Give the table's rows of a test; none if the file does not tell of it.

    Parameters
    ----------
    path : Path
        A file ``tests-timestamp`` of a run.
    test : str

    Raises
    ------
    InputError
        Naming the line whose count is none.
    """
    before, after, seconds = _read(path, test)
    if not (before and after):
        return
    counts = {key: after[key] - before.get(key, 0) for key in after}
    for name, (parts, unit) in _SUMS.items():
        if all(key in counts for key, _ in parts):
            yield name, float(sum(sign * counts[key] for key, sign in parts)), unit
    for who in _SCANNED:
        scanned, reclaimed = (_sum(counts, prefix[who]) for prefix in (_SCANNED, _RECLAIMED))
        yield f"{who} pages scanned", scanned, "pages"
        yield f"{who} pages reclaimed", reclaimed, "pages"
        yield f"{who} efficiency", 100 * reclaimed / scanned if scanned else 100.0, "%"
        if seconds:
            yield f"{who} velocity", scanned / seconds, "pages/s"


def _sum(counts: Mapping[str, int], prefix: str) -> float:
    """Add what is counted under a name, or up to 4.7 under that name in each zone."""
    found = (key for key in counts if key.startswith(prefix) and key != _NOT_SCANNED)
    return float(sum(counts[key] for key in found))


def _read(path: Path, test: str) -> tuple[dict[str, int], dict[str, int], float]:
    """Return the counts before and after a test, and the seconds between them."""
    states: dict[str, dict[str, int]] = {"start": {}, "end": {}}
    reading, inside, seconds = "", False, 0.0
    for number, line in enumerate(io.read_text(path).splitlines(), start=1):
        words = line.split()
        if words[1:2] == ["::"] or words[2:3] == ["::"]:
            inside = (inside or line.startswith(f"test begin :: {test}")) and not line.startswith(
                f"test end :: {test}"
            )
            is_vmstat = words[0] == "file" and words[-1] == "/proc/vmstat"
            reading = words[1] if inside and is_vmstat else ""
            if line.startswith(f"time :: {test}"):
                seconds = _seconds(words[7:8], path, number)
        elif reading in states and len(words) == 2:
            states[reading][words[0]] = count(words[1], path, number)
    return states["start"], states["end"], seconds


def count(text: str, path: Path, line: int) -> int:
    """Return what a kernel counted, which 64 bits hold.

    Raises
    ------
    InputError
        Naming the line.
    """
    with suppress(ValueError):
        if abs(counted := int(text)) < 1 << 64:
            return counted
    raise InputError(f"{text[:40]!r} is no count: mend it", path=path, line=line)


def _seconds(words: list[str], path: Path, line: int) -> float:
    try:
        return float(words[0])
    except (IndexError, ValueError):
        raise InputError("no number where one is needed: mend it", path=path, line=line) from None
