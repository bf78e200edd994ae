# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of lkp-tests: the figures of each run, by commit.

Source: lkp-tests, lib/result.rb (where a result lies: ``.../COMMIT/RUN``) and lib/matrix.rb (what
it holds: ``stats.json`` of a run, with a figure for each metric, and beside the runs a
``matrix.json`` with a list for each, a place a run, ``stats_source`` among them), as of 2025.
"""

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from swapsim import io
from swapsim.errors import InputError

TESTS: Final = ("vm-scalability", "pmbench")
"""Known by a metric that begins so."""

_OF_RUN: Final = ("stats.json", "stats.json.gz")
_OF_COMMIT: Final = ("matrix.json", "matrix.json.gz")
_SOURCE: Final = "stats_source"
_RUN: Final = re.compile(r"\d{1,18}")
"""A run's folder: a number that 64 bits hold."""

Row = tuple[str, str, str, float, str, int]
"""As YOUR_RUNS has it."""


def rows(folder: Path) -> list[Row]:
    """Return what each run of each commit measured; no rows if the folder holds no such results.

    A run is told by its stats.json; a commit without any by the columns of its matrix.json.

    Raises
    ------
    InputError
        A file is no JSON object, or a figure in it no number.
    """
    found: list[Row] = []
    told: set[Path] = set()
    for path in _files(folder, _OF_RUN):
        commit = path.parent.parent
        told.add(commit)
        stats = {name: value for name, value in _read(path).items() if name != _SOURCE}
        found += _of_run(commit.name, stats, _number(path.parent.name, len(found)), path)
    for path in _files(folder, _OF_COMMIT):
        if path.parent in told:
            continue
        for run, stats in enumerate(_columns(_read(path), path), start=1):
            found += _of_run(path.parent.name, stats, run, path)
    return found


def _files(folder: Path, names: tuple[str, ...]) -> list[Path]:
    return sorted(path for name in names for path in folder.rglob(name))


def _read(path: Path) -> dict[str, Any]:
    data = io.read_bytes(path)
    with io.translate_errors(path, "is no JSON", "mend it, or take it out", quote=True):
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        found = json.loads(text, parse_int=float)
    if not isinstance(found, dict):
        raise InputError("must be a JSON object: a figure for each metric", path=path)
    return found


def _columns(matrix: Mapping[str, Any], path: Path) -> Iterator[dict[str, Any]]:
    """Give the runs of a matrix; one of a single run has samples, and no ``stats_source``."""
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
    tests = [test for test in TESTS if any(name.startswith(f"{test}.") for name in stats)]
    test = tests[0] if len(tests) == 1 else ""
    for name, value in stats.items():
        if not isinstance(value, float):
            raise InputError(f"{value!r} is no number", path=path, field=name)
        yield kernel, test, name, value, "", run


def _number(name: str, otherwise: int) -> int:
    return int(name) if _RUN.fullmatch(name) else otherwise
