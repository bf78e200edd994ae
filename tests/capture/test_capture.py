# SPDX-License-Identifier: GPL-2.0-or-later
"""The capture rig's descriptions are consistent, and the shipped traces are theirs."""

import hashlib
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from swapsim import traces
from swapsim.io.paths import data_root, shipped_measurements, shipped_traces

CAPTURE = data_root() / "capture"
SHIPPED = shipped_traces()


def test_each_shipped_trace_has_its_workload() -> None:
    """The rig lists the workloads whose traces are shipped."""
    command = [sys.executable, str(CAPTURE / "capture.py"), "--list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert {line.split(":")[0] for line in listed.splitlines()} == set(SHIPPED)


MADE = {name: traces.provenance(path) for name, path in SHIPPED.items()} | {
    name: tomllib.loads((path / "measured.toml").read_text())
    for name, path in shipped_measurements().items()
}


@pytest.mark.parametrize("name", MADE)
def test_a_recording_was_made_by_the_sources_that_are_here(name: str) -> None:
    """The hashes in trace.toml or measured.toml are those of the files today."""
    sources = MADE[name]["sources"]
    assert len(sources) >= (4 if name in SHIPPED else 1)
    for path, sha256 in sources.items():
        assert hashlib.sha256((CAPTURE / path).read_bytes()).hexdigest() == sha256, path


@pytest.mark.parametrize("source", sorted((CAPTURE / "programs").glob("*.c")), ids=lambda p: p.stem)
def test_a_workload_program_compiles_without_a_warning(source: Path) -> None:
    """Each program passes a strict compiler."""
    compiler = shutil.which("cc")
    assert compiler is not None
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run([compiler, *flags, str(source)], check=True)
