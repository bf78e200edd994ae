# SPDX-License-Identifier: GPL-2.0-or-later
"""A command whose memory is bounded (``ulimit -v``) runs in a process of its own.

Where memory runs out a library does as it likes: polars aborts, jemalloc writes a hundred thousand
lines, OpenBLAS exits. None of that can be caught in the process itself. So it is left to a child
whose stderr only we write to, and this process says the one line if the child cannot. What has not
even enough for the libraries is not begun: Python itself may then try to import one for ever.
"""

import os
import sys
from _signal import (  # type: ignore[import-not-found] # CPython's own, see interrupt
    SIG_BLOCK,
    SIG_DFL,
    SIG_SETMASK,
    SIGCHLD,
    pthread_sigmask,
    signal,
    sigwaitinfo,
)
from collections.abc import Callable
from resource import RLIM_INFINITY, RLIMIT_AS, RLIMIT_DATA, getrlimit

from swapsim import interrupt

_LEAST_BYTES = 1 << 30
"""What the libraries take to be imported, with room for a small table."""

_STDERR = 2
_UNFORESEEN = 1


def bound() -> int | None:
    """Return the bytes that this process is bounded to, if it is."""
    limits = {getrlimit(kind)[0] for kind in (RLIMIT_AS, RLIMIT_DATA)} - {RLIM_INFINITY}
    return min(limits, default=None)


def in_a_child(work: Callable[[], int], limit: int) -> int:
    """Let a child do the work; return its exit code, or 2 and say why if it has none."""
    if limit < _LEAST_BYTES:
        return _refuse(f"needs {_LEAST_BYTES >> 20} MB of memory and more", limit)
    signal(SIGCHLD, SIG_DFL)
    before = pthread_sigmask(SIG_BLOCK, {*interrupt.SIGNALS, SIGCHLD})
    answers, answer = os.pipe()
    child = os.fork()
    if not child:
        try:
            pthread_sigmask(SIG_SETMASK, before)
            _keep_stderr_for_us()
            os.write(answer, bytes([work()]))
            sys.stdout.flush()
        finally:
            os._exit(_UNFORESEEN)
    os.close(answer)
    ended = os.waitstatus_to_exitcode(_wait_for(child))
    if said := os.read(answers, 1):
        return said[0]
    if ended == interrupt.CODE or -ended in interrupt.SIGNALS:
        return interrupt.CODE
    return _refuse("ended without an answer, as a rule for want of memory", limit)


def _wait_for(child: int) -> int:
    """Return a child's status; hand on signals, save those that the terminal sends to both."""
    while True:
        came = sigwaitinfo({*interrupt.SIGNALS, SIGCHLD})
        if came.si_signo != SIGCHLD:
            if came.si_code <= 0:  # from a process, not from the kernel
                os.kill(child, came.si_signo)
            continue
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status


def _keep_stderr_for_us() -> None:
    sys.stderr = os.fdopen(os.dup(_STDERR), "w", buffering=1, errors="backslashreplace")
    os.dup2(os.open(os.devnull, os.O_WRONLY), _STDERR)


def _refuse(why: str, limit: int) -> int:
    print(f"swapsim: {why}: raise the limit of {limit >> 20} MB (ulimit)", file=sys.stderr)
    return 2
