# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of mmtests: what each iteration of parallelio and usemem logged, by the run's name.

Source: mmtests, bin/extract-mmtests.pl (``NAME/BENCHMARK``, later with ``iter-N`` between them and
``logs`` or ``noprofile`` below), and in bin/lib/MMTests ExtractParallelio.pm (its logs, and the
names of its rows), ExtractUsemem.pm and Extract.pm (files ``usemem-CLIENTS-N`` with what
``time`` prints, packed or not), as of 2013 and of 2024.
"""

import gzip
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from swapsim import io
from swapsim.claims import mmtests_vmstat
from swapsim.claims.lkp_results import Row
from swapsim.errors import InputError

_STEPS: Final = "io-durations.log"
_OPS: Final = re.compile(r"ops/sec: (\d+)")
_SECONDS: Final = r"(\d{1,15}(?:\.\d+)?)"
_TIME: Final = re.compile(
    rf"(?<![\d.]){_SECONDS}user\s+{_SECONDS}system\s+(?:(\d{{1,9}}):)?(\d{{1,9}}):{_SECONDS}elapsed"
)
_MIB: Final = 1 << 20
_PACKED: Final = {".gz": gzip.decompress, ".xz": lzma.decompress}
_VMSTAT: Final = {
    "swaptotal": (("pswpin", 1), ("pswpout", 1)),
    "swapin": (("pswpin", 1),),
    "minorfaults": (("pgfault", 1), ("pgmajfault", -1)),
    "majorfaults": (("pgmajfault", 1),),
}
"""Rows of parallelio's table that are differences of /proc/vmstat, and of what."""

_UNITS: Final = {
    "swaptotal": "pages",
    "swapin": "pages",
    "minorfaults": "faults",
    "majorfaults": "faults",
}


def rows(folder: Path) -> list[Row]:
    """Return what each iteration measured; no rows if the folder holds no such results.

    Raises
    ------
    InputError
        A log cannot be read, or a line in it.
    """
    numbers: Counter[tuple[str, str, str]] = Counter()
    found: list[Row] = []
    figures = (*_parallelio(folder), *_usemem(folder), *_counted(folder))
    for kernel, test, metric, value, unit in figures:
        numbers[kernel, test, metric] += 1
        found.append((kernel, test, metric, value, unit, numbers[kernel, test, metric]))
    return found


_Figure = tuple[str, str, str, float, str]


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
                told = _OPS.findall(_text(log))
                if not told:
                    raise InputError("has no line with 'ops/sec: N': take it out", path=log)
                metric = f"memcachetest-{sizes[step]}"
                yield kernel, "parallelio", metric, float(told[-1]), "operations/s"
        for vmstat in _logs(logs, "vmstat-memcachetest-*.log"):
            step = _step_of(vmstat.with_name(vmstat.name.removeprefix("vmstat-")), sizes)
            for name, figure in _differences(vmstat):
                yield kernel, "parallelio", f"{name}-{sizes[step]}", figure, _UNITS[name]


def _steps(path: Path) -> Iterator[tuple[int, int, float]]:
    """Give step, bytes and seconds of each line of io-durations.log."""
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
    told = path.name.split("-")[1]
    for step in sizes:
        if told == str(step):
            return step
    raise InputError(f"step {told!r} has no line in {_STEPS}: add it", path=path)


def _differences(path: Path) -> Iterator[tuple[str, float]]:
    """Give differences of /proc/vmstat, which is there twice: below ``start:``, below ``end:``."""
    sums: Counter[str] = Counter()
    sign = 0
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if line.startswith(("start:", "end:")):
            sign = -1 if line.startswith("start:") else 1
            continue
        key, _, value = line.partition(" ")
        if sign and value.strip():
            sums[key] += sign * mmtests_vmstat.count(value, path, number)
    for name, parts in _VMSTAT.items():
        yield name, float(sum(sign * sums[key] for key, sign in parts))


def _counted(folder: Path) -> Iterator[_Figure]:
    """Give what the kernel counted during parallelio: patch C's mail prints it, of that test."""
    for path in sorted({path for name in mmtests_vmstat.FILES for path in folder.rglob(name)}):
        for name, figure, unit in mmtests_vmstat.figures(path, "parallelio"):
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
    found = [
        path
        for name in (pattern, *(f"{pattern}{end}" for end in _PACKED))
        for path in folder.rglob(name)
    ]
    return sorted(set(found))


def _text(path: Path) -> str:
    data = io.read_bytes(path)
    with io.translate_errors(
        path, "cannot be read as a log", "mend it, or take it out", quote=True
    ):
        return _PACKED.get(path.suffix, bytes)(data).decode()


def _name(folder: Path, path: Path) -> str:
    """Return the run's name, which is the first folder below the one that was given."""
    return path.relative_to(folder).parts[0]
