# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmarks of tests/bench, each compared with its peer in one run."""

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from swapsim.errors import SwapsimError
from swapsim.io.paths import repository_root


class Benchmark(TypedDict):
    """One line of ``swapsim bench``; a ratio above 1 means that ours is better.

    Where the peer is not installed, peer and ratio are None and ``reason`` says why.
    """

    name: str
    ours: float
    peer: float | None
    unit: str
    ratio: float | None
    reason: NotRequired[str]


def run(only: Sequence[str] = ()) -> Iterator[Benchmark]:
    """Run the benchmarks of tests/bench whose names begin so, or all, in order of the files."""
    known = 0
    folder = repository_root() / "tests" / "bench"
    sys.path.insert(0, str(folder))
    for path in sorted(folder.glob("*.py")):
        for row in _rows(path, only):
            known += 1
            yield row
    if not known:
        raise SwapsimError(f"no benchmark is named {' or '.join(only)}: 'swapsim bench' lists them")


def _rows(path: Path, only: Sequence[str]) -> Iterator[Benchmark]:
    spec = importlib.util.spec_from_file_location(f"swapsim_bench_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # A file lists its names: one which is not requested costs no time. The harness has no names.
    wanted = tuple(only) or ("",)
    if any(name.startswith(wanted) for name in getattr(module, "NAMES", ())):
        for row in module.run():
            if row["name"].startswith(wanted):
                yield row
