# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals that end a command: one line without a traceback, and none is lost."""

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

from swapsim import interrupt, traces
from swapsim._core import lib
from swapsim.cli import main
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
    # A handler of this process is the default in the new one.
    handled = signal.SIG_IGN if ignored else signal.default_int_handler
    before = signal.signal(number, handled)
    try:
        done = subprocess.run(
            [*start, "info", "missing"],
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
    """The process ends at once, with the same line as later."""
    ended = run_interrupted(STARTS[start], tmp_path, ignored=False, number=number)
    assert ended == (interrupt.status(number), f"{interrupt.TEXT}\n")


def test_the_exit_status_is_the_signal_s() -> None:
    """128 and its number, as after a program that has no handler."""
    status = [interrupt.status(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    assert status == [130, 143, 129]


def test_few_modules_are_imported_before_ctrl_c_is_handled() -> None:
    """Not even signal: during its import Ctrl-C would end in a traceback."""
    script = f"import sys; sys.path.append({ROOT!r}); import swapsim.__main__; print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", script]
    imported = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "swapsim.interrupt" in imported
    assert not {"enum", "re", "signal", "polars"} & {*imported}


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_after_the_work_has_no_effect() -> None:
    """Python needs some time to end, in which a signal does not change the exit status."""
    last = "import atexit, os, signal; atexit.register(os.kill, os.getpid(), signal.SIGINT)"
    ask = f"{last}; import sys; from swapsim.__main__ import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", ask, "--help"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("number", interrupt.SIGNALS)
def test_an_interrupt_that_is_ignored_stays_so(number: int, tmp_path: Path) -> None:
    """A job in the background is not ended by the Ctrl-C for another one."""
    ended = run_interrupted(STARTS["module"], tmp_path, ignored=True, number=number)
    assert ended == (7, "")


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize("number", interrupt.SIGNALS)
def test_each_signal_removes_partial_files(number: int, tmp_path: Path) -> None:
    """A file that is being written is removed."""
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


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_in_a_text_that_runs_keeps_the_exit_status(tmp_path: Path) -> None:
    """CPython would end a module by the signal: numba and dataclasses run texts."""
    (tmp_path / "command.py").write_text("""
import sys
from swapsim import interrupt
try:
    exec("raise KeyboardInterrupt")
except KeyboardInterrupt:
    interrupt.be_done()
sys.exit(interrupt.status())
""")
    ask = [sys.executable, "-m", "command"]
    done = subprocess.run(ask, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (interrupt.status(), b"")


def test_an_interrupt_has_no_frames_of_libraries() -> None:
    """IPython cannot show some of them, and a library may have raised it before."""

    @interrupt.recording()
    def verb() -> None:
        try:
            interrupt_this()
        finally:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        verb()
    assert raised.value.__suppress_context__
    assert "interrupt_this" not in [frame.name for frame in raised.traceback]


def interrupt_this(*_: object) -> None:
    """Send Ctrl-C to this process; Python raises it in the call after it."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0)


class Thing:
    """An object that can be deleted."""


class Interrupts(Thing):
    """An object whose destructor is interrupted."""

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
    """A call into the C library is such a check; afterwards the handler is the one before."""
    steps = []
    with pytest.raises(KeyboardInterrupt), interrupt.recording():  # noqa: PT012
        lose()
        steps.append("lost")
        check(lib.SWS_OK)
        steps.append("after the check")
    assert steps == ["lost"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    interrupt.check()


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_is_raised_at_the_end_at_the_latest() -> None:
    """Without a check, it is raised at the end of the recording."""
    with pytest.raises(KeyboardInterrupt), interrupt.recording():
        lose_in_library()


def raise_another_error(*_: object) -> None:
    """Raise another error for a Ctrl-C, as Python does while it makes a class."""
    try:
        interrupt_this()
    except KeyboardInterrupt:
        raise RuntimeError("__set_name__") from None


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_that_became_another_error_is_one_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a verb and in a command; the same error without a signal passes."""
    with pytest.raises(KeyboardInterrupt), interrupt.recording():
        raise_another_error()
    with pytest.raises(RuntimeError, match="own"), interrupt.recording():
        raise RuntimeError("own")
    monkeypatch.setattr(traces, "info", raise_another_error)
    monkeypatch.setattr(interrupt, "_recorded", False)
    signal.signal(signal.SIGINT, interrupt.record)
    assert main(["info", "swap-w-seq"]) == interrupt.status()
    assert capsys.readouterr().err == f"{interrupt.TEXT}\n"


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_is_raised_after_a_process_has_started_not_before() -> None:
    """A delaying body runs to its end, and the code after it does not run."""
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
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    with interrupt.recording():
        interrupt_this()
        interrupt.check()
    assert received == [signal.SIGINT]


def test_only_the_main_thread_replaces_a_handler() -> None:
    """In other threads a recording has no effect."""
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
    """It prints the one line, without the exception that was dropped."""
    path = tmp_path / "mine.py"
    path.write_text(POLICY)
    ask = [*STARTS["module"], "rank", str(path), "--seeds", "1"]
    done = subprocess.run(ask, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        interrupt.status(signal.SIGINT),
        f"{interrupt.TEXT}\n",
    )


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
