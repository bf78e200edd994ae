# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C, and its like, before the libraries are there: one line, no traceback."""

import ctypes
import os
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from swapsim import interrupt
from swapsim._core import lib
from swapsim.ffi import check

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


@pytest.mark.usefixtures("signals_as_in_a_terminal")
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


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize("number", interrupt.SIGNALS)
def test_whatever_ends_a_command_clears_up(number: int, tmp_path: Path) -> None:
    """Of a file that is being written nothing is left."""
    script = f"""
import os, pathlib
from swapsim import interrupt
from swapsim import io
interrupt.end_at_once()
interrupt.raise_again()
with io.atomic_file(pathlib.Path("out.json")) as file:
    file.write(b"half of it")
    os.kill(os.getpid(), {number})
    os.write(1, b"not reached")
"""
    ask = [sys.executable, "-c", script]
    done = subprocess.run(ask, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.stderr.endswith("KeyboardInterrupt\n")
    assert not [*tmp_path.iterdir()]


def interrupt_this(*_: object) -> None:
    """Send Ctrl-C to this process; the call after it is there for Python to raise it here."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0)


class Thing:
    """Something that can be deleted."""


class Interrupts(Thing):
    """Something whose destructor is interrupted."""

    __del__ = interrupt_this


def lose_in_destructor() -> None:
    """Lose a Ctrl-C in a destructor."""
    Interrupts()


def lose_in_weakref() -> None:
    """Lose a Ctrl-C in the callback of a weak reference."""
    thing = Thing()
    reference = weakref.ref(thing, interrupt_this)
    del thing
    assert reference() is None


def lose_in_callback() -> None:
    """Lose a Ctrl-C in a function that C calls."""
    ctypes.CFUNCTYPE(None)(interrupt_this)()


def lose_in_library() -> None:
    """Lose a Ctrl-C in code that catches everything."""
    with suppress(BaseException):
        interrupt_this()


LOSSES = [lose_in_destructor, lose_in_weakref, lose_in_callback, lose_in_library]


@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_lost_interrupt_is_raised_by_the_next_check(lose: Callable[[], None]) -> None:
    """A call into the C library is such a check; afterwards all is as it was before."""
    reached = False
    with pytest.raises(KeyboardInterrupt), interrupt.recording():  # noqa: PT012
        lose()
        reached = True
        check(lib.SWS_OK)
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    interrupt.check()


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_is_raised_at_the_end_at_the_latest() -> None:
    """Where nothing checks, what follows the recording is not reached."""
    with pytest.raises(KeyboardInterrupt), interrupt.recording():
        lose_in_library()


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_is_raised_after_a_process_has_started_not_before() -> None:
    """A body that delays runs to its end, and nothing after it."""
    steps = []

    def start_and_wait() -> None:
        with interrupt.recording():
            with interrupt.delaying():
                interrupt_this()
                steps.append("started")
            steps.append("waits")

    with pytest.raises(KeyboardInterrupt):
        start_and_wait()
    assert steps == ["started"]


def test_a_handler_of_the_caller_stays() -> None:
    """Only Python's own handler is replaced."""
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    with interrupt.recording():
        interrupt_this()
        interrupt.check()
    assert came == [signal.SIGINT]


def test_only_the_main_thread_replaces_a_handler() -> None:
    """Elsewhere a recording does nothing, and is no error."""
    before = signal.getsignal(signal.SIGINT)
    found: list[object] = []

    def look() -> None:
        with interrupt.recording():
            found.append(signal.getsignal(signal.SIGINT))

    thread = Thread(target=look)
    thread.start()
    thread.join()
    assert found == [before]


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_a_command_ends_by_an_interrupt_that_was_lost(tmp_path: Path) -> None:
    """It says the one line, and nothing of the exception that was dropped."""
    path = tmp_path / "mine.py"
    path.write_text(POLICY)
    ask = [*STARTS["module"], "rank", str(path), "--seeds", "1"]
    done = subprocess.run(ask, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (interrupt.CODE, f"{interrupt.TEXT}\n")


POLICY = """
import os, signal, time
import swapsim

class Interrupts:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)

@swapsim.policy(base_of="cpu")
def mine(next):
    return next

Interrupts()
"""
