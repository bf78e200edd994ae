# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C, and its like, before the libraries are there: one line, no traceback."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from swapsim import interrupt

ROOT = str(Path(interrupt.__file__).parents[1])

STARTS = {
    "module": [sys.executable, "-m", "swapsim"],
    "script": [str(Path(sys.executable).with_name("swapsim"))],
}


def run_interrupted(
    start: list[str], folder: Path, *, ignored: bool, number: int = signal.SIGINT
) -> tuple[int, str]:
    """Run the command with a library that is interrupted while it is imported."""
    (folder / "polars.py").write_text(
        f"import os, signal\nos.kill(os.getpid(), {number})\nraise SystemExit(7)\n"
    )
    # What has a handler is by default when another program begins.
    handled = signal.SIG_IGN if ignored else signal.default_int_handler
    before = signal.signal(number, handled)
    try:
        done = subprocess.run(
            [*start, "info", "nowhere"],
            env=os.environ | {"PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        signal.signal(number, before)
    return done.returncode, done.stderr


@pytest.mark.parametrize("number", interrupt.SIGNALS)
@pytest.mark.parametrize("start", STARTS)
def test_an_interrupt_among_imports_is_one_line(start: str, number: int, tmp_path: Path) -> None:
    """The process ends at once, and says the same as later."""
    ended = run_interrupted(STARTS[start], tmp_path, ignored=False, number=number)
    assert ended == (interrupt.CODE, f"{interrupt.TEXT}\n")


def test_next_to_nothing_is_imported_before_ctrl_c_is_ours() -> None:
    """Not even signal: it takes its time, in which Ctrl-C would end in a traceback."""
    look = "import sys, swapsim.__main__; print(*sys.modules)"
    asked = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({ROOT!r}); {look}"]
    imported = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    assert "swapsim.interrupt" in imported
    assert not {"enum", "re", "signal", "polars"} & {*imported}


def test_an_interrupt_after_the_work_is_nothing() -> None:
    """Python takes a while to go away, and would be killed: what was done is done."""
    last = "import atexit, os, signal; atexit.register(os.kill, os.getpid(), signal.SIGINT)"
    ask = f"{last}; import sys; from swapsim.__main__ import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", ask, "--help"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("number", interrupt.SIGNALS)
def test_an_interrupt_that_is_ignored_stays_so(number: int, tmp_path: Path) -> None:
    """A job in the background is not ended by a Ctrl-C that is another's."""
    ended = run_interrupted(STARTS["module"], tmp_path, ignored=True, number=number)
    assert ended == (7, "")


@pytest.mark.parametrize("number", interrupt.SIGNALS)
def test_whatever_ends_a_command_clears_up(number: int, tmp_path: Path) -> None:
    """Of a file that is being written nothing is left."""
    script = f"""
import os, pathlib
from swapsim import files, interrupt
interrupt.end_at_once()
interrupt.raise_again()
with files.whole_file(pathlib.Path("out.json")) as file:
    file.write(b"half of it")
    os.kill(os.getpid(), {number})
    os.write(1, b"not reached")
"""
    ask = [sys.executable, "-c", script]
    done = subprocess.run(ask, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.stderr.endswith("KeyboardInterrupt\n")
    assert not [*tmp_path.iterdir()]
