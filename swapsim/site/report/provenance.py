# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a report comes from: when, of which commit, with which versions, on what machine."""

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

_KEPT: Final = re.compile(r"^([a-z0-9-]+): ([\d,]+) stored rows; ([\d,]+) computed again", re.M)
_ANEW: Final = re.compile(r"^([a-z0-9-]+): ([^:\n]+): computed here$", re.M)
_RUN: Final = re.compile(r'<article data-begun="([^"]+)" data-seconds="(\d+)">')


@dataclass(frozen=True)
class Provenance:
    """What a report says of itself.

    Attributes
    ----------
    made : str
        When its pages were put together, UTC.
    commit : str
        The first twelve digits; empty outside of a checkout.
    changed : bool
        Whether files differ from that commit.
    versions : tuple of (str, str)
    machine : tuple of str
        Processor, memory and kernel.
    """

    made: str
    commit: str
    changed: bool
    versions: tuple[tuple[str, str], ...]
    machine: tuple[str, ...]


@dataclass(frozen=True)
class Ran:
    """What is told of a notebook's run.

    Attributes
    ----------
    name : str
        Of its page.
    title : str
    begun : str
    seconds : int
    taken_over : bool
        Whether an earlier report had run it, of the same sources.
    kept : tuple of (str, str, str)
        Results that were read from data/simulated: name, rows, and rows of a part that was made
        anew and came out the same.
    anew : tuple of (str, str)
        Those that were not good, and why; they were made anew as a whole.
    """

    name: str
    title: str
    begun: str
    seconds: int
    taken_over: bool
    kept: tuple[tuple[str, str, str], ...]
    anew: tuple[tuple[str, str], ...]


def provenance() -> Provenance:
    """Return the provenance of a report that is made here and now."""
    versions = (
        ("Python", platform.python_version()),
        *((name, version(name)) for name in _LIBRARIES),
    )
    return Provenance(
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        commit=_git("rev-parse", "--short=12", "HEAD"),
        changed=bool(_git("status", "--porcelain", "--untracked-files=no")),
        versions=(*versions, ("Vega-Lite", VEGA_LITE)),
        machine=(_processor(), _memory(), f"{platform.system()} {platform.release()}"),
    )


def ran(name: str, title: str, article: str, made_now: Sequence[str]) -> Ran:
    """Read from a notebook's article what its run told.

    Parameters
    ----------
    name, title : str
    article : str
        HTML, of `cells.article`.
    made_now : sequence of str
        Names of the notebooks that were run for this report.
    """
    told = _RUN.match(article)
    begun, seconds = told.groups() if told else ("", "0")
    printed = unescape(
        plain("\n".join(re.findall(r"<pre class=\"printed\".*?</pre>", article, re.S)))
    )
    return Ran(
        name=name,
        title=title,
        begun=begun,
        seconds=int(seconds),
        taken_over=name not in made_now,
        kept=tuple(_KEPT.findall(printed)),
        anew=tuple(_ANEW.findall(printed)),
    )


def _git(*arguments: str) -> str:
    """Return what git says of the laboratory; nothing where there is no checkout."""
    root = laboratory_root()
    if not (root / ".git").exists():
        return ""
    # It only looks: no lock of the index, which git would write anew.
    command = ["git", "--no-optional-locks", *arguments]
    try:
        found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def _processor() -> str:
    name = _field(Path("/proc/cpuinfo"), "model name") or platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} CPUs"


def _memory() -> str:
    size = re.match(r"\d+", _field(Path("/proc/meminfo"), "MemTotal"))
    return f"{int(size[0]) / 2**20:.0f} GiB of memory" if size else "memory not told"


def _field(path: Path, name: str) -> str:
    """Return a field of one of Linux's tables; nothing where there is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(rf"^{name}\s*:\s*(.*)$", text, re.M)
    return found[1] if found else ""
