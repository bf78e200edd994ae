# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmarks of tests/bench, each compared with its peer in one run."""

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from swapsim.errors import SwapsimError
from swapsim.io import repository_root


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
    known: list[str] = []
    ran = 0
    for path in sorted((repository_root() / "tests" / "bench").glob("*.py")):
        module = load(path)
        # A file lists its names: one which is not requested costs no time. The harness has none.
        wanted = tuple(only) or ("",)
        names = getattr(module, "NAMES", ())
        known += names
        if any(name.startswith(wanted) for name in names):
            for row in module.run():
                if row["name"].startswith(wanted):
                    ran += 1
                    yield row
    if not ran:
        groups = dict.fromkeys(name.partition("/")[0] for name in known)
        raise SwapsimError(f"no benchmark is named {' or '.join(only)}: choose {', '.join(groups)}")


def load(path: Path) -> Any:
    """Return the module of a file of benchmarks."""
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"swapsim_bench_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
