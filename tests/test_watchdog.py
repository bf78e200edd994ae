# SPDX-License-Identifier: GPL-2.0-or-later
"""The watchdog of tests/conftest.py: no test waits for ever, and all stacks are printed."""

import subprocess
import sys
from pathlib import Path

from swapsim.io import repository_root

CONFTEST = Path(__file__).parent / "conftest.py"

TESTS = """
import subprocess, sys
from threading import Event

def waits_for_itself():
    Event().wait()

def test_child():
    child = "import time\\ndef waits_in_child(): time.sleep(3600)\\nwaits_in_child()"
    done = subprocess.run([sys.executable, "-c", child], stderr=subprocess.PIPE, text=True)
    assert done.stderr == ""

def test_itself():
    waits_for_itself()

def test_goes_on():
    pass
"""


def run_tests(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run two tests without an end, and one after them, with a limit of some seconds."""
    (folder / "conftest.py").symlink_to(CONFTEST)
    (folder / "test_waits.py").write_text(TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-vv",
        "-c",
        str(repository_root() / "pyproject.toml"),
    ]
    limit = ["--rootdir", str(folder), "-o", "faulthandler_timeout=5", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, *limit, *options, str(folder)], capture_output=True, text=True, check=False
    )


def test_with_xdist_all_other_tests_run(tmp_path: Path) -> None:
    """A child is aborted, a test that waits for itself ends its process; both print stacks."""
    done = run_tests(tmp_path, "-n", "1")
    assert done.returncode == 1
    assert "in waits_in_child" in done.stdout
    assert "no end after 4.5 s; aborted:" in done.stdout
    assert "in waits_for_itself" in done.stderr
    assert "2 failed, 1 passed, 1 error" in done.stdout


def test_without_xdist_a_test_that_waits_for_itself_is_the_last(tmp_path: Path) -> None:
    """There is no other process that could continue; a child is aborted all the same."""
    done = run_tests(tmp_path)
    assert done.returncode == 1
    assert "::test_child FAILED" in done.stdout
    assert "::test_child ERROR" in done.stdout
    assert "Timeout (0:00:05)!" in done.stderr
    assert "in waits_for_itself" in done.stderr
    assert "test_goes_on" not in done.stdout
