# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals that end a command: one line without a traceback, and none is lost."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from swapsim.cli import INTERRUPTED
from swapsim.progress import SIGNALS

POLICY = """
import os, signal, time
import swapsim

def interrupt(*_):
    os.kill(os.getpid(), {number})
    time.sleep(0)

class Interrupts:
    __del__ = interrupt

@swapsim.policy(base_of="cpu")
def mine(next):
    return next

{call}
"""

CALLS = {
    "at once": "interrupt()",
    "lost in a destructor": "Interrupts()",
    "caught by a library": "try:\n    interrupt()\nexcept BaseException:\n    pass",
    "another error": "try:\n    interrupt()\nexcept BaseException:\n    raise OSError from None",
}
"""What a file does; Python drops a KeyboardInterrupt that a destructor raises."""


def run(folder: Path, call: str, number: int) -> tuple[int, str]:
    """Run a command whose file interrupts it; return its status and what it says."""
    (folder / "mine.py").write_text(POLICY.format(number=int(number), call=call))
    ask = [sys.executable, "-m", "swapsim", "rank", "mine.py", "--seeds", "5", "-o", "out.csv"]
    done = subprocess.run(ask, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("call", CALLS)
def test_an_interrupted_command_says_so_in_a_line(call: str, number: int, tmp_path: Path) -> None:
    """The status is 128 and the signal's number; no file is left."""
    assert run(tmp_path, CALLS[call], number) == (128 + number, f"{INTERRUPTED}\n")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".py"] in (
        [],
        ["__pycache__"],
    )


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    """A job in the background is not ended by the Ctrl-C for another one."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        status, said = run(tmp_path, "interrupt(); raise ValueError('mine')", signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (status, "mine" in said) == (2, True)


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize("number", SIGNALS)
def test_each_signal_removes_partial_files(number: int, tmp_path: Path) -> None:
    """A file that is being written is removed."""
    script = f"""
import os, pathlib
from swapsim import io, progress
progress.record_signals()
with io.atomic_file(pathlib.Path("out.json")) as file:
    file.write(b"half of it")
    os.kill(os.getpid(), {int(number)})
    os.write(1, b"not reached")
"""
    ask = [sys.executable, "-c", script]
    done = subprocess.run(ask, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.stderr.endswith("KeyboardInterrupt\n")
    assert not [*tmp_path.iterdir()]
