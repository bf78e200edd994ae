# SPDX-License-Identifier: GPL-2.0-or-later
"""Handle Ctrl-C before the rest of the program is imported, with as few imports as possible.

It imports ``_signal`` instead of ``signal``, which imports five modules to make its numbers enums.

SIGTERM, and SIGHUP from a terminal that is closed, are handled as Ctrl-C is.

A KeyboardInterrupt may be lost: Python drops what is raised in a destructor, in the callback of a
weak reference or in a callback from C, and a library may catch it. A signal that comes during a
garbage collection, for one, is raised in the first callback that the collection makes. So a signal
is also recorded, and each wait and each loop over calls into C looks for a recorded one (`check`).
"""

import os
import sys
from _signal import (  # type: ignore[import-not-found] # CPython's own
    SIG_DFL,
    SIG_IGN,
    SIGHUP,
    SIGINT,
    SIGTERM,
    default_int_handler,
    getsignal,
    signal,
)
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (SIGINT, SIGTERM, SIGHUP)
"""What ends a command before its work is done."""

TEXT = "swapsim: interrupted; nothing was left half written"
"""What the command says to Ctrl-C."""

_recorded = False
"""Whether a signal came to `record`."""

_latest = SIGINT
"""The signal that came last: a KeyboardInterrupt of Python's own handler is a Ctrl-C."""

_delays = False
"""Whether `record` leaves the exception to the end of `delaying`."""


def end_at_once() -> None:
    """Let each of the signals end the process with one line; one that is ignored stays so."""
    for number in SIGNALS:
        if getsignal(number) in (default_int_handler, SIG_DFL):
            signal(number, end)


def raise_again() -> None:
    """Let each be recorded and be an error that clears up as it passes."""
    sys.unraisablehook = _report_unless_interrupted
    for number in SIGNALS:
        if getsignal(number) is end:
            signal(number, record)


def status(number: int | None = None) -> int:
    """Return the exit status of a command that a signal ended: 130, 143 or 129."""
    return 128 + (number or _latest)


def record(number: int, *_: object) -> None:
    """Record a signal and raise KeyboardInterrupt: the handler of a command and of `recording`."""
    global _recorded, _latest
    _recorded, _latest = True, number
    if not _delays:
        default_int_handler(SIGINT, None)


def check() -> None:
    """Raise KeyboardInterrupt if a signal was recorded, whatever became of its own exception.

    In the handler of another exception, too: Python 3.11 raises RuntimeError for a
    KeyboardInterrupt that comes while it makes a class.
    """
    if _recorded and any(getsignal(number) is record for number in SIGNALS):
        raise KeyboardInterrupt


@contextmanager
def recording() -> Iterator[None]:
    """Record Ctrl-C while the body runs; raise it at the end of the body at the latest.

    Only Python's own handler is replaced, and only the main thread can do that: otherwise the
    handlers stay as they are.

    A KeyboardInterrupt is raised without the frames of libraries and without those that they raised
    before it. The line of such a frame may be None, and IPython then fails to show the traceback
    and prints its own as well.
    """
    global _recorded
    replaces = getsignal(SIGINT) is default_int_handler and _in_main_thread()
    try:
        if replaces:
            _recorded = False
            signal(SIGINT, record)
        yield
        check()
    except KeyboardInterrupt:
        raise KeyboardInterrupt from None
    except BaseException:
        try:
            check()
        except KeyboardInterrupt:
            raise KeyboardInterrupt from None
        raise
    finally:
        if replaces:
            signal(SIGINT, default_int_handler)
            _recorded = False


@contextmanager
def delaying() -> Iterator[None]:
    """Raise a recorded signal at the end of the body, which starts a process or replaces a folder.

    Blocking the signal in the main thread is not enough: another thread may receive it, and then
    Python runs the handler in the main thread all the same. A process that is only half started
    prints a traceback of its own.
    """
    global _delays
    _delays = True
    try:
        yield
    finally:
        _delays = False
    check()


def _in_main_thread() -> bool:
    from threading import current_thread, main_thread

    return current_thread() is main_thread()


def _report_unless_interrupted(lost: "sys.UnraisableHookArgs") -> None:
    """Print an exception that Python drops, except for a KeyboardInterrupt: that is recorded."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)


def be_done() -> None:
    """Ignore the signals once the work is done, so that a late one cannot change the exit status.

    CPython ends ``python -m`` by SIGINT, whatever its exit status, if a KeyboardInterrupt has
    passed through source text that it ran (``exec`` of a string: dataclasses and numba do that),
    even if it was handled later. The next text that is run clears this.
    """
    for number in SIGNALS:
        signal(number, SIG_IGN)
    exec("")


def end(number: int | None = None, *_: object) -> None:
    """Say so and end the process, whatever it is at."""
    os.write(sys.stderr.fileno(), f"{TEXT}\n".encode())
    os._exit(status(number))
