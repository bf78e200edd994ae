# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of lkp-tests and of mmtests as rows of YOUR_RUNS.

Source, lkp-tests as of 2025: lib/result.rb (the folder of a result: ``.../COMMIT/RUN``) and
lib/matrix.rb (``stats.json`` of a run has a figure for each metric; ``matrix.json`` next to the
runs has a list for each metric, with an element per run, and the list ``stats_source``).

Source, mmtests as of 2013 and of 2024: bin/extract-mmtests.pl (``NAME/BENCHMARK``, later with
``iter-N`` between them and ``logs`` or ``noprofile`` below); in bin/lib/MMTests
ExtractParallelio.pm (its logs, and the names of its rows), ExtractUsemem.pm and Extract.pm (files
``usemem-CLIENTS-N`` with the output of ``time``, compressed or not), and MonitorMmtestsvmstat.pm
at 0215808: which lines of ``tests-timestamp-NAME`` hold /proc/vmstat before and after a test, and
how each row of the table is computed. Rows without a claim are left out, and so are those of
zones, which kernels since 4.8 do not count.
"""

import gzip
import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from swapsim import io
from swapsim.errors import InputError

_TESTS: Final = ("vm-scalability", "pmbench")
"""Tests, each known by the beginning of its metrics' names."""

_SOURCE: Final = "stats_source"
_RUN: Final = re.compile(r"\d{1,18}")  # name of a run's folder: a number of 64 bits
Row = tuple[str, str, str, float, str, int]  # a row of YOUR_RUNS


def lkp_rows(folder: Path) -> list[Row]:
    """Return the figures of each run of each commit, empty if the folder has no such results.

    They are those of stats.json of each run; for a commit without such a file, of its matrix.json.
    """
    found: list[Row] = []
    complete: set[Path] = set()
    for path in _logs(folder, "stats.json"):
        commit = path.parent.parent
        complete.add(commit)
        stats = {name: value for name, value in _read(path).items() if name != _SOURCE}
        name = path.parent.name
        run = int(name) if _RUN.fullmatch(name) else len(found)
        found += _of_run(commit.name, stats, run, path)
    matrices = [path for path in _logs(folder, "matrix.json") if path.parent not in complete]
    for path in matrices:
        for run, stats in enumerate(_columns(_read(path), path), start=1):
            found += _of_run(path.parent.name, stats, run, path)
    if matrices and not found:
        raise InputError(
            "is missing, or no list: the matrix of several runs has an element for each",
            path=matrices[0],
            field=_SOURCE,
        )
    return found


def _read(path: Path) -> dict[str, Any]:
    data = io.read_bytes(path)
    with io.translate_errors(path, "is no JSON", "fix or remove it", quote=True):
        found = json.loads(_PACKED.get(path.suffix, bytes)(data), parse_int=float)
    if not isinstance(found, dict):
        raise InputError("must be a JSON object: a figure for each metric", path=path)
    return found


def _columns(matrix: Mapping[str, Any], path: Path) -> Iterator[dict[str, Any]]:
    """Yield the runs of a matrix; that of a single run has samples and no ``stats_source``."""
    sources = matrix.get(_SOURCE)
    if not isinstance(sources, list):
        return
    for name, values in matrix.items():
        if not isinstance(values, list) or len(values) > len(sources):
            raise InputError("must have a figure for each run", path=path, field=name)
    for place in range(len(sources)):
        yield {
            name: values[place]
            for name, values in matrix.items()
            if name != _SOURCE and place < len(values)
        }


def _of_run(kernel: str, stats: Mapping[str, Any], run: int, path: Path) -> Iterator[Row]:
    tests = [test for test in _TESTS if any(name.startswith(f"{test}.") for name in stats)]
    test = tests[0] if len(tests) == 1 else ""
    for name, value in stats.items():
        if not isinstance(value, float):
            raise InputError(f"{value!r} is no number", path=path, field=name)
        yield kernel, test, name, value, "", run


_Figure = tuple[str, str, str, float, str]

_STEPS: Final = "io-durations.log"
_OPS: Final = re.compile(r"ops/sec: (\d+)")
_SECONDS: Final = r"(\d{1,15}(?:\.\d+)?)"
_TIME: Final = re.compile(
    rf"(?<![\d.]){_SECONDS}user\s+{_SECONDS}system\s+(?:(\d{{1,9}}):)?(\d{{1,9}}):{_SECONDS}elapsed"
)
_MIB: Final = 1 << 20
_PACKED: Final = {".gz": gzip.decompress, ".xz": lzma.decompress}
_NOT_SCANNED: Final = "pgscan_direct_throttle"
"""Begins like the pages that direct reclaim scanned in a zone, but counts sleeps."""

_Sums = Mapping[str, tuple[str, str]]
"""Name of a row -> the counters of /proc/vmstat whose sum it is, ``-`` before one that is
subtracted; and its unit."""

_PARALLELIO: Final[_Sums] = {
    "swaptotal": ("pswpin pswpout", "pages"),
    "swapin": ("pswpin", "pages"),
    "minorfaults": ("pgfault -pgmajfault", "faults"),
    "majorfaults": ("pgmajfault", "faults"),
}
_OF_A_TEST: Final[_Sums] = {
    "Minor Faults": ("pgfault -pgmajfault", "faults"),
    "Major Faults": ("pgmajfault", "faults"),
    "Swap Ins": ("pswpin", "pages"),
    "Swap Outs": ("pswpout", "pages"),
    "Page writes by reclaim": ("nr_vmscan_write", "pages"),
    "Page writes file": ("nr_vmscan_write -pswpout", "pages"),
    "Page writes anon": ("pswpout", "pages"),
    "Page reclaim immediate": ("nr_vmscan_immediate_reclaim", "pages"),
    "Sector Reads": ("pgpgin", "sectors"),
    "Sector Writes": ("pgpgout", "sectors"),
    "Slabs scanned": ("slabs_scanned", "objects"),
    "Direct inode steals": ("pginodesteal", "inodes"),
    "Kswapd inode steals": ("kswapd_inodesteal", "inodes"),
}


COUNTED: Final[Mapping[str, str]] = {
    **{parts: name for name, (parts, _) in reversed([*_OF_A_TEST.items()]) if " " not in parts},
    **{
        f"{event}_{who.lower()}": f"{who} pages {done}"
        for who in ("Kswapd", "Direct")
        for event, done in (("pgscan", "scanned"), ("pgsteal", "reclaimed"))
    },
}
"""Counter of /proc/vmstat -> the metric of mmtests that is its difference over a test."""


def mmtests_rows(folder: Path) -> list[Row]:
    """Return the figures of each iteration, empty if the folder has no such results."""
    numbers: Counter[tuple[str, str, str]] = Counter()
    found: list[Row] = []
    figures = (*_parallelio(folder), *_usemem(folder), *_counted(folder))
    for kernel, test, metric, value, unit in figures:
        numbers[kernel, test, metric] += 1
        found.append((kernel, test, metric, value, unit, numbers[kernel, test, metric]))
    return found


def _parallelio(folder: Path) -> Iterator[_Figure]:
    for steps in _logs(folder, _STEPS):
        kernel, logs = _name(folder, steps), steps.parent
        sizes = {0: "0M"}
        for step, size, seconds in _steps(steps):
            sizes[step] = f"{size // _MIB}M"
            yield kernel, "parallelio", f"io-duration-{sizes[step]}", seconds, "s"
        for ops in sorted(logs.glob("memcachetest-*-*")):
            step = _step_of(ops, sizes)
            for log in _logs(ops, "mmtests.log"):
                rates = _OPS.findall(_text(log))
                if not rates:
                    raise InputError("has no line with 'ops/sec: N': remove it", path=log)
                metric = f"memcachetest-{sizes[step]}"
                yield kernel, "parallelio", metric, float(rates[-1]), "operations/s"
        for vmstat in _logs(logs, "vmstat-memcachetest-*.log"):
            step = _step_of(vmstat.with_name(vmstat.name.removeprefix("vmstat-")), sizes)
            for name, figure, unit in _sums(_PARALLELIO, _differences(vmstat)):
                yield kernel, "parallelio", f"{name}-{sizes[step]}", figure, unit


def _steps(path: Path) -> Iterator[tuple[int, int, float]]:
    """Yield step, bytes and seconds of each line of io-durations.log."""
    for number, line in enumerate(_text(path).splitlines(), start=1):
        try:
            step, size, _, seconds = line.split()[:4]
            yield int(step), int(size), float(seconds)
        except ValueError:
            raise InputError(
                f"{line!r} is not 'step bytes iteration seconds'", path=path, line=number
            ) from None


def _step_of(path: Path, sizes: dict[int, str]) -> int:
    """Return the step of memcachetest-STEP-ITERATION."""
    found = path.name.split("-")[1]
    for step in sizes:
        if found == str(step):
            return step
    raise InputError(f"step {found!r} has no line in {_STEPS}: add it", path=path)


def _sums(rows: _Sums, counts: Mapping[str, int]) -> Iterator[tuple[str, float, str]]:
    """Yield name, sum and unit of the rows whose counters are all there."""
    for name, (parts, unit) in rows.items():
        signs = {part.removeprefix("-"): -1 if part[0] == "-" else 1 for part in parts.split()}
        if signs.keys() <= counts.keys():
            yield name, float(sum(sign * counts[key] for key, sign in signs.items())), unit


def _differences(path: Path) -> dict[str, int]:
    """Return the differences of /proc/vmstat from ``start:`` to ``end:``, zero if both lack one."""
    states: dict[str, Counter[str]] = {"start": Counter(), "end": Counter()}
    state = ""
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if line.startswith(("start:", "end:")):
            state = line.partition(":")[0]
            continue
        key, _, value = line.partition(" ")
        if state and value.strip():
            states[state][key] += counter_of(value.strip(), path, number)
    if not states["start"]:
        raise InputError("has no counters after a line with start: remove it", path=path)
    needed = {key.strip("-"): 0 for row, _ in _PARALLELIO.values() for key in row.split()}
    return needed | _difference(states["start"], states["end"], path)


def _difference(start: Mapping[str, int], end: Mapping[str, int], path: Path) -> dict[str, int]:
    """Return the differences of counters, which both states have to have."""
    for key in sorted(start.keys() ^ end.keys()):
        raise InputError(
            f"has the counter {key} only before the test or only after it: copy it again", path=path
        )
    return {key: end[key] - start[key] for key in start}


def _counted(folder: Path) -> Iterator[_Figure]:
    """Yield the counters of parallelio, the test of which patch C's mail prints them."""
    names = ("tests-timestamp", "tests-timestamp-*")
    for path in sorted({path for name in names for path in folder.rglob(name)}):
        for name, figure, unit in _vmstat(path, "parallelio"):
            yield _name(folder, path), "parallelio", name, figure, unit


def _usemem(folder: Path) -> Iterator[_Figure]:
    for path in _logs(folder, "usemem-*-*"):
        clients = path.name.split("-")[1]
        if not path.is_file() or not clients.isdigit():
            continue
        for _, system, hours, minutes, seconds in _TIME.findall(_text(path)):
            elapsed = 3600 * int(hours or 0) + 60 * int(minutes) + float(seconds)
            kernel = _name(folder, path)
            yield kernel, "usemem", f"syst-{clients}", float(system), "s"
            yield kernel, "usemem", f"elsp-{clients}", elapsed, "s"


def _logs(folder: Path, pattern: str) -> list[Path]:
    names = [f"{pattern}{end}" for end in ("", *_PACKED)]
    return sorted({path for name in names for path in folder.rglob(name)})


def _text(path: Path) -> str:
    data = io.read_bytes(path)
    with io.translate_errors(path, "cannot be read as a log", "fix or remove it", quote=True):
        return complete(_PACKED.get(path.suffix, bytes)(data).decode(), path)


def complete(text: str, path: Path) -> str:
    """Return a text, whose last line has to have an end: else its last figure may be cut."""
    if text and not text.endswith("\n"):
        raise InputError("ends in the middle of a line: copy it again", path=path)
    return text


def _name(folder: Path, path: Path) -> str:
    """Return the run's name, which is the first folder below the given one."""
    return path.relative_to(folder).parts[0]


def _vmstat(path: Path, test: str) -> Iterator[tuple[str, float, str]]:
    """Yield the rows of mmtests' table for a test, from a run's file ``tests-timestamp``."""
    before, after, seconds = _states(path, test)
    counts = _difference(before, after, path)
    if not counts:
        return
    yield from _sums(_OF_A_TEST, counts)
    for who in ("Kswapd", "Direct"):
        names = (f"{event}_{who.lower()}" for event in ("pgscan", "pgsteal"))
        scanned, reclaimed = (_sum(counts, name) for name in names)
        yield f"{who} pages scanned", scanned, "pages"
        yield f"{who} pages reclaimed", reclaimed, "pages"
        yield f"{who} efficiency", 100 * reclaimed / scanned if scanned else 100.0, "%"
        if seconds:
            yield f"{who} velocity", scanned / seconds, "pages/s"


def _sum(counts: Mapping[str, int], prefix: str) -> float:
    """Add the counters of a name; up to 4.7 there is one for each zone."""
    found = (key for key in counts if key.startswith(prefix) and key != _NOT_SCANNED)
    return float(sum(counts[key] for key in found))


def _states(path: Path, test: str) -> tuple[dict[str, int], dict[str, int], float]:
    """Return the counts before and after a test, and the seconds between them."""
    states: dict[str, dict[str, int]] = {"start": {}, "end": {}}
    reading, inside, seconds = "", False, 0.0
    for number, line in enumerate(_text(path).splitlines(), start=1):
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
            states[reading][words[0]] = counter_of(words[1], path, number)
    return states["start"], states["end"], seconds


def counter_of(text: str, path: Path, line: int | None) -> int:
    """Return a kernel's counter of 64 bits."""
    if not re.fullmatch(r"[0-9]{1,20}", text) or (counted := int(text)) >> 64:
        raise InputError(f"{text[:40]!r} is no count: copy it again", path=path, line=line)
    return counted


def _seconds(words: list[str], path: Path, line: int) -> float:
    try:
        return float(words[0])
    except (IndexError, ValueError):
        raise InputError("no number where one is needed: fix it", path=path, line=line) from None
