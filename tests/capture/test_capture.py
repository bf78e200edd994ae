# SPDX-License-Identifier: GPL-2.0-or-later
"""The capture rig's descriptions hold together, and the shipped traces are theirs."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from swapsim import traces
from swapsim.io.paths import data_root, shipped_traces

CAPTURE = data_root() / "capture"
SHIPPED = shipped_traces()


def rig(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the rig's command line."""
    command = [sys.executable, str(CAPTURE / "capture.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_shipped_trace_has_its_workload() -> None:
    """The rig describes the workloads whose traces are shipped."""
    listed = rig("--list").stdout.splitlines()
    assert {line.split(":")[0] for line in listed} == set(SHIPPED)


@pytest.mark.parametrize("name", list(SHIPPED))
def test_a_trace_was_made_by_the_sources_that_are_here(name: str) -> None:
    """The hashes in trace.toml are those of workload, events and programs today."""
    sources = traces.provenance(SHIPPED[name])["sources"]
    assert len(sources) >= 4
    for path, told in sources.items():
        assert hashlib.sha256((CAPTURE / path).read_bytes()).hexdigest() == told, path


@pytest.mark.parametrize("source", sorted((CAPTURE / "programs").glob("*.c")), ids=lambda p: p.stem)
def test_a_workload_program_compiles_without_a_warning(source: Path) -> None:
    """Each program passes a strict compiler."""
    compiler = shutil.which("cc")
    assert compiler is not None
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run([compiler, *flags, str(source)], check=True)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["no-such-workload", "-o", "out"], "no-such-workload"),
        (["swap-w-seq"], "-o DIR"),
        ([], "--all"),
    ],
)
def test_wrong_calls_are_refused(arguments: list[str], word: str) -> None:
    """Exit 2, and the message says what is wrong, before anything is downloaded."""
    run = rig(*arguments)
    assert run.returncode == 2
    assert word in run.stderr
    assert "Traceback" not in run.stderr
