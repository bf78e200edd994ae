# SPDX-License-Identifier: GPL-2.0-or-later
"""From the guest's raw disks to a text trace and a report, both held to be complete."""

import hashlib
import mmap
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rig.boot import Run
from rig.errors import GuestError
from rig.workload import Workload
from swapsim import traces

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """A complete trace, and the guest's report."""

    text: Path
    text_sha256: str
    report: dict[str, str]
    lost_events: dict[int, int]
    probe_misses: dict[str, int]


def collect(workload: Workload, run: Run, work: Path) -> Captured:
    """Write NAME.txt and report.txt, check that they are complete, and delete the guest's disks.

    Raises
    ------
    GuestError
        The report is cut short, an event was lost, or a probe was missed.
    """
    report_text = _contents(run.report_disk, work / "report.txt").read_text(encoding="utf-8")
    report = _sections(report_text)
    if "complete" not in report:
        raise GuestError(f"{workload.name}: the guest's report is cut short")
    text = _contents(run.trace_disk, work / f"{workload.name}.txt")
    captured = Captured(
        text=text,
        text_sha256=sha256(text),
        report=report,
        lost_events=_lost_events(report),
        probe_misses=_probe_misses(report),
    )
    for cpu, lost in captured.lost_events.items():
        if lost:
            raise GuestError(
                f"{workload.name}: {lost} events lost on CPU {cpu}: "
                "raise trace.buffer_kibibytes_per_cpu"
            )
    for probe, misses in captured.probe_misses.items():
        if misses:
            raise GuestError(f"{workload.name}: probe {probe} missed {misses} times")
    for disk in work.glob("*.disk"):
        disk.unlink()
    return captured


def events(
    captured: Captured, work: Path, *names: str, missing: bool = False
) -> dict[str, pl.DataFrame]:
    """Import a run's text into work/trace, and return events by name.

    Raises
    ------
    GuestError
        An event did not occur and none may be missing; else its frame has no columns.
    """
    folder = work / "trace"
    shutil.rmtree(folder, ignore_errors=True)
    traces.import_text(captured.text, folder)
    paths = {name: folder / f"{name}.parquet" for name in names}
    for name, path in paths.items():
        if not path.exists() and not missing:
            raise GuestError(f"the run has no event {name}")
    return {
        name: pl.read_parquet(path) if path.exists() else pl.DataFrame()
        for name, path in paths.items()
    }


def moved(captured: Captured, counter: str) -> int:
    """Return by how much a counter of /proc/vmstat moved during a run."""
    before, after = (
        dict(map(str.split, captured.report[f"vmstat-{at}"].splitlines()))
        for at in ("before", "after")
    )
    return int(after[counter]) - int(before[counter])


def sha256(path: Path) -> str:
    """Hash of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _contents(disk: Path, path: Path) -> Path:
    """Copy a raw disk up to its last byte that is not NUL."""
    with disk.open("rb") as source, path.open("wb") as target:
        with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as content:
            left = _end(content)
        while left:
            left -= target.write(source.read(min(CHUNK, left)))
    return path


def _end(content: mmap.mmap) -> int:
    """Return the position of the first NUL, which ends a text, or the length."""
    end = content.find(b"\0")
    return len(content) if end < 0 else end


def _sections(report: str) -> dict[str, str]:
    pieces = re.split(r"^== (.+)$", report, flags=re.MULTILINE)
    return {name: body.strip("\n") for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def _lost_events(report: dict[str, str]) -> dict[int, int]:
    """Events overwritten, dropped or cut off, by CPU."""
    lost = {}
    for name, body in report.items():
        if name.startswith("buffer "):
            counts = dict(
                re.findall(r"^(overrun|commit overrun|dropped events): (\d+)", body, re.M)
            )
            lost[int(name.removeprefix("buffer "))] = sum(map(int, counts.values()))
    return dict(sorted(lost.items()))


def _probe_misses(report: dict[str, str]) -> dict[str, int]:
    rows = (line.split() for line in report["probe-hits"].splitlines())
    return {name: int(misses) for name, _hits, misses in rows}
