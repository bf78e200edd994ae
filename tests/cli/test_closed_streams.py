# SPDX-License-Identifier: GPL-2.0-or-later
"""A command that is started without stdin, stdout or stderr."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
TEXT = DATA / "tracefs-6.1.txt"
TRACE = Path(__file__).parents[2] / "data" / "traces" / "swap-w-seq"


def closing(*numbers: int) -> Callable[[], None]:
    """Return what closes these files before a program begins."""

    def close() -> None:
        for number in numbers:
            os.close(number)

    return close


def code_of(*command: object, closed: tuple[int, ...]) -> int:
    """Run a command with these of its files closed."""
    return subprocess.run(
        [sys.executable, "-m", "swapsim", *map(str, command)],
        preexec_fn=closing(*closed),
        timeout=300,
        check=False,
    ).returncode


@pytest.mark.parametrize("closed", [(2,), (1,), (0,), (0, 1, 2)])
def test_the_work_is_done(closed: tuple[int, ...], tmp_path: Path) -> None:
    """No library gets the number of one of them for its own file, to be closed or written over."""
    assert code_of("info", TRACE, closed=closed) == 0
    assert code_of("import", TEXT, "-o", tmp_path / "trace", closed=closed) == 0
    assert code_of("info", tmp_path / "trace", closed=closed) == 0
    assert code_of("info", "nowhere", closed=closed) == 2


def test_nothing_to_read_is_an_empty_text(tmp_path: Path) -> None:
    """Which is refused, and no traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "swapsim", "import", "-", "-o", tmp_path / "trace"],
        preexec_fn=closing(0),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("swapsim: standard input: the text is empty")
