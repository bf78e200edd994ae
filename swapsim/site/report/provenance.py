# SPDX-License-Identifier: GPL-2.0-or-later
"""The origin of a report: date, commit, versions, machine, and the runs of its notebooks."""

import os
import platform
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from importlib.metadata import version
from pathlib import Path
from typing import Final

from swapsim.charts.theme import VEGA_LITE
from swapsim.io.paths import laboratory_root
from swapsim.site.report.markdown import plain

_LIBRARIES: Final = ("swapsim", "polars", "numpy", "scipy", "numba", "altair", "nbconvert")

_STORED: Final = re.compile(r"^([a-z0-9-]+): ([\d,]+) stored rows; ([\d,]+) computed again", re.M)
_RECOMPUTED: Final = re.compile(r"^([a-z0-9-]+): ([^:\n]+): computed here$", re.M)
_RUN: Final = re.compile(r'<article data-begun="([^"]+)" data-seconds="(\d+)">')


@dataclass(frozen=True)
class Provenance:
    """The origin of a report: commit and changed are empty and false without a checkout."""

    made: str
    commit: str
    changed: bool
    versions: tuple[tuple[str, str], ...]
    machine: tuple[str, ...]


@dataclass(frozen=True)
class Ran:
    """The run of a notebook, which is reused if an earlier report ran the same sources.

    Stored results have name, rows, and rows that were computed again; results that are stale and
    were computed completely have name and reason.
    """

    name: str
    title: str
    begun: str
    seconds: int
    reused: bool
    stored: tuple[tuple[str, str, str], ...]
    recomputed: tuple[tuple[str, str], ...]


def provenance() -> Provenance:
    """Return the provenance of a report that is written now."""
    versions = (
        ("Python", platform.python_version()),
        *((name, version(name)) for name in _LIBRARIES),
    )
    name = _field(Path("/proc/cpuinfo"), "model name") or platform.processor()
    memory = re.match(r"\d+", _field(Path("/proc/meminfo"), "MemTotal"))
    return Provenance(
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        commit=_git("rev-parse", "--short=12", "HEAD"),
        changed=bool(_git("status", "--porcelain", "--untracked-files=no")),
        versions=(*versions, ("Vega-Lite", VEGA_LITE)),
        machine=(
            f"{name or platform.machine()}, {os.cpu_count()} CPUs",
            f"{int(memory[0]) / 2**20:.0f} GiB of memory" if memory else "size of memory unknown",
            f"{platform.system()} {platform.release()}",
        ),
    )


def ran(name: str, title: str, article: str, made_now: Sequence[str]) -> Ran:
    """Return the run of a notebook, from its article."""
    recorded = _RUN.match(article)
    begun, seconds = recorded.groups() if recorded else ("", "0")
    printed = unescape(
        plain("\n".join(re.findall(r"<pre class=\"printed\".*?</pre>", article, re.S)))
    )
    return Ran(
        name=name,
        title=title,
        begun=begun,
        seconds=int(seconds),
        reused=name not in made_now,
        stored=tuple(_STORED.findall(printed)),
        recomputed=tuple(_RECOMPUTED.findall(printed)),
    )


def _git(*arguments: str) -> str:
    """Return the output of git; empty without a checkout."""
    root = laboratory_root()
    if not (root / ".git").exists():
        return ""
    # Read-only: git takes no lock of the index, which it would write again.
    command = ["git", "--no-optional-locks", *arguments]
    try:
        found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def _field(path: Path, name: str) -> str:
    """Return a field of a file of /proc; empty where it is missing."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(rf"^{name}\s*:\s*(.*)$", text, re.M)
    return found[1] if found else ""
