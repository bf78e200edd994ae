# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C while nobody is there yet who could clear up. It imports next to nothing, to be first.

So it takes what ``signal`` is made of: that one imports five modules to make its numbers enums.

Whoever ends the process by other means, or closes its terminal, is answered as Ctrl-C is.
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

SIGNALS = (SIGINT, SIGTERM, SIGHUP)
"""What ends a command before its work is done."""

TEXT = "swapsim: interrupted; nothing was left half written"
"""What the command says to Ctrl-C."""

CODE = 130
"""With what it exits then."""


def end_at_once() -> None:
    """Let each of the signals end the process with one line; one that is ignored stays so."""
    for number in SIGNALS:
        if getsignal(number) in (default_int_handler, SIG_DFL):
            signal(number, end)


def raise_again() -> None:
    """Let each be an error again that clears up as it passes."""
    for number in SIGNALS:
        if getsignal(number) is end:
            signal(number, default_int_handler)


def be_done() -> None:
    """Let each be nothing to a process that has done its work, and only goes away."""
    for number in SIGNALS:
        signal(number, SIG_IGN)


def end(*_: object) -> None:
    """Say so and end the process, whatever it is at."""
    os.write(sys.stderr.fileno(), f"{TEXT}\n".encode())
    os._exit(CODE)
