# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a command with limited memory (``ulimit -v``) in a child process.

Libraries do not survive a lack of memory: polars aborts, jemalloc writes a hundred thousand lines,
OpenBLAS exits. A process cannot catch that itself. So a child does the work, with a stderr that
only swapsim writes to, and the parent prints the one line of an error if the child cannot. With too
little memory for the libraries the work does not begin: Python could then try an import for ever.
"""

import os
import sys
from _signal import SIG_BLOCK, SIG_DFL, SIG_SETMASK, SIGCHLD, pthread_sigmask, signal, sigwaitinfo  # type: ignore[import-not-found] # CPython's own, see interrupt
from collections.abc import Callable
from resource import RLIM_INFINITY, RLIMIT_AS, RLIMIT_DATA, getrlimit

from swapsim import interrupt

_LEAST_BYTES = 1 << 30
"""Memory that the libraries and a small table need."""

_STDERR = 2
_UNEXPECTED = 1


def bound() -> int | None:
    """Return the memory limit of this process in bytes, if it has one."""
    limits = {getrlimit(kind)[0] for kind in (RLIMIT_AS, RLIMIT_DATA)} - {RLIM_INFINITY}
    return min(limits, default=None)


def in_a_child(work: Callable[[], int], limit: int) -> int:
    """Run the work in a child; return its exit code, or 2 with a message if it has none."""
    if limit < _LEAST_BYTES:
        return _refuse(f"needs {_LEAST_BYTES >> 20} MB of memory and more", limit)
    signal(SIGCHLD, SIG_DFL)
    before = pthread_sigmask(SIG_BLOCK, {*interrupt.SIGNALS, SIGCHLD})
    answers, answer = os.pipe()
    child = os.fork()
    if not child:
        try:
            pthread_sigmask(SIG_SETMASK, before)
            _reserve_stderr()
            os.write(answer, bytes([work()]))
            sys.stdout.flush()
        finally:
            os._exit(_UNEXPECTED)
    os.close(answer)
    ended = os.waitstatus_to_exitcode(_wait_for(child))
    if code := os.read(answers, 1):
        return code[0]
    if -ended in interrupt.SIGNALS:
        return interrupt.status(-ended)
    if ended - 128 in interrupt.SIGNALS:
        return ended
    return _refuse("ended without an answer, as a rule for want of memory", limit)


def _wait_for(child: int) -> int:
    """Return a child's status; forward signals, except those that the terminal sends to both."""
    while True:
        came = sigwaitinfo({*interrupt.SIGNALS, SIGCHLD})
        if came.si_signo != SIGCHLD:
            if came.si_code <= 0:  # from a process, not from the kernel
                os.kill(child, came.si_signo)
            continue
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status


def _reserve_stderr() -> None:
    sys.stderr = os.fdopen(os.dup(_STDERR), "w", buffering=1, errors="backslashreplace")
    os.dup2(os.open(os.devnull, os.O_WRONLY), _STDERR)


def _refuse(why: str, limit: int) -> int:
    print(f"swapsim: {why}: raise the limit of {limit >> 20} MB (ulimit)", file=sys.stderr)
    return 2
