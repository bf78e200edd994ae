# SPDX-License-Identifier: GPL-2.0-or-later
"""The watchdog of tests/conftest.py: no test waits for ever, and all stacks are printed."""

import subprocess
import sys
from pathlib import Path

import pytest

from swapsim.io.paths import repository_root

CONFTEST = Path(__file__).parent / "conftest.py"

WAITS_FOR_A_CHILD = """
import subprocess, sys

def test_waits():
    child = "import time\\ndef waits_here(): time.sleep(3600)\\nwaits_here()"
    done = subprocess.run([sys.executable, "-c", child], stderr=subprocess.PIPE, text=True)
    assert done.stderr == ""
"""

WAITS_FOR_ITSELF = """
from threading import Event

def waits_here():
    Event().wait()

def test_waits():
    waits_here()
"""


def run_tests(folder: Path, test: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run a test, and one behind it, under the watchdog, with a limit of some seconds."""
    (folder / "conftest.py").symlink_to(CONFTEST)
    (folder / "test_waits.py").write_text(f"{test}\ndef test_goes_on():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-c", str(repository_root() / "pyproject.toml")]
    limit = ["--rootdir", str(folder), "-o", "faulthandler_timeout=5", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, *limit, *options, str(folder)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("options", [(), ("-n", "1")])
def test_a_child_without_an_end_fails_its_test(options: tuple[str, ...], tmp_path: Path) -> None:
    """Its stacks are what it says at last, and the tests behind go on."""
    done = run_tests(tmp_path, WAITS_FOR_A_CHILD, *options)
    assert done.returncode == 1
    assert "in waits_here" in done.stdout
    assert "no end after 4.5 s; aborted:" in done.stdout
    assert "1 failed, 1 passed, 1 error" in done.stdout


def test_a_test_without_an_end_ends_its_process(tmp_path: Path) -> None:
    """Its stacks are printed; xdist takes another process and goes on."""
    done = run_tests(tmp_path, WAITS_FOR_ITSELF, "-n", "1")
    assert done.returncode == 1
    assert "in waits_here" in done.stderr
    assert "1 failed, 1 passed" in done.stdout


def test_a_test_without_an_end_is_the_last_without_xdist(tmp_path: Path) -> None:
    """There is no other process that could go on."""
    done = run_tests(tmp_path, WAITS_FOR_ITSELF)
    assert done.returncode == 1
    assert "Timeout (0:00:05)!" in done.stderr
    assert "in waits_here" in done.stderr
