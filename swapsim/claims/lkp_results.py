# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of lkp-tests: the figures of each run, by commit.

Source: lkp-tests, lib/result.rb (the folder of a result: ``.../COMMIT/RUN``) and lib/matrix.rb
(``stats.json`` of a run has a figure for each metric; ``matrix.json`` next to the runs has a list
for each metric, with an element per run, and the list ``stats_source``), as of 2025.
"""

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from swapsim import io
from swapsim.errors import InputError

_TESTS: Final = ("vm-scalability", "pmbench")
"""Tests, each known by the beginning of its metrics' names."""

_SOURCE: Final = "stats_source"
_RUN: Final = re.compile(r"\d{1,18}")
"""Name of a run's folder: a number of 64 bits."""

Row = tuple[str, str, str, float, str, int]
"""A row of YOUR_RUNS."""


def rows(folder: Path) -> list[Row]:
    """Return the figures of each run of each commit, empty if the folder has no such results.

    They are those of stats.json of each run; for a commit without such a file, of its matrix.json.
    """
    found: list[Row] = []
    complete: set[Path] = set()
    for path in _files(folder, "stats.json"):
        commit = path.parent.parent
        complete.add(commit)
        stats = {name: value for name, value in _read(path).items() if name != _SOURCE}
        name = path.parent.name
        run = int(name) if _RUN.fullmatch(name) else len(found)
        found += _of_run(commit.name, stats, run, path)
    for path in _files(folder, "matrix.json"):
        if path.parent not in complete:
            for run, stats in enumerate(_columns(_read(path), path), start=1):
                found += _of_run(path.parent.name, stats, run, path)
    return found


def _files(folder: Path, name: str) -> list[Path]:
    return sorted(path for end in ("", ".gz") for path in folder.rglob(f"{name}{end}"))


def _read(path: Path) -> dict[str, Any]:
    data = io.read_bytes(path)
    with io.translate_errors(path, "is no JSON", "fix or remove it", quote=True):
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        found = json.loads(text, parse_int=float)
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
