# SPDX-License-Identifier: GPL-2.0-or-later
"""What benchmarks share: sides that run in turn, programs in C, and the form of a result."""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from swapsim.errors import SwapsimError
from swapsim.io import repository_root

RUNS = 5
HERE = Path(__file__).parent
CORE = repository_root() / "corelib"
BUILD = repository_root() / "build" / "bench"
MODEL = "peer: the plain Python model"

sys.path.insert(0, str(HERE.parent / "oracles"))


class MissingPeerError(Exception):
    """The peer cannot be had here; the text says what is missing."""


def alternate(*sides: Callable[[], float]) -> list[float]:
    """Run the sides in turn; return the median of what each returned."""
    runs = [[side() for side in sides] for _ in range(RUNS)]
    return [statistics.median(side) for side in zip(*runs, strict=True)]


def seconds(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long a call takes."""
    start = clock()
    call()
    return clock() - start


def rate(
    count: int, call: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return how many of so many things a call processes a second."""
    return count / seconds(call, clock)


def row(
    name: str,
    unit: str,
    ours: float,
    peer: float | None = None,
    *,
    scale: float = 1,
    reason: str | None = None,
) -> dict[str, Any]:
    """Return the result of two rates, of which more is better; without a peer the reason is due."""
    return {
        "name": name,
        "ours": digits(ours / scale),
        "peer": None if peer is None else digits(peer / scale),
        "unit": unit,
        "ratio": None if peer is None else round(ours / peer, 2),
        **({"reason": reason} if reason else {}),
    }


def compare(
    name: str, unit: str, ours: Callable[[], float], peer: Callable[[], float], scale: float = 1
) -> dict[str, Any]:
    """Run two sides in turn; return the result of their rates."""
    return row(name, unit, *alternate(ours, peer), scale=scale)


def without_ratio(
    name: str, unit: str, ours: float, peer: float | None, reason: str
) -> dict[str, Any]:
    """Return the result of two values that are no rivals."""
    values = {"name": name, "ours": ours, "peer": peer, "unit": unit}
    return values | {"ratio": None, "reason": reason}


def require(holds: object, wrong: str) -> None:
    """Require a result that a benchmark measures."""
    if not holds:
        raise SwapsimError(f"{wrong}: run 'make test'")


def digits(value: float) -> float:
    """Return a value with four significant digits."""
    return float(f"{value:.4g}")


def command(*words: object, cwd: Path | None = None) -> str:
    """Run a command; return what it printed, or raise with its last error line."""
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        complaint = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise MissingPeerError(f"{Path(str(words[0])).name} failed: {complaint[-1]}")
    return done.stdout


def compiler() -> str:
    """Return the C compiler."""
    found = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not found:
        raise MissingPeerError("no C compiler is installed")
    return found


def build(name: str, *flags: str, mechanisms: tuple[str, ...] = ()) -> Path:
    """Build a program of this folder, with the sources of some mechanisms of the core."""
    BUILD.mkdir(parents=True, exist_ok=True)
    sources = [HERE / f"{name}.c"]
    for mechanism in mechanisms:
        sources += sorted((CORE / "src" / mechanism).glob("*.c"))
    options = ("-std=c11", "-D_POSIX_C_SOURCE=199309L", "-DNDEBUG", *flags)
    includes = (f"-I{CORE / 'include'}", f"-I{CORE / 'src'}")
    command(compiler(), *options, *includes, *sources, "-o", BUILD / name)
    return BUILD / name
