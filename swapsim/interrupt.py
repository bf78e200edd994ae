# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C while nobody is there yet who could clear up. It imports next to nothing, to be first.

So it takes what ``signal`` is made of: that one imports five modules to make its numbers enums.
"""

import os
from _signal import (  # type: ignore[import-not-found] # CPython's own
    SIG_IGN,
    SIGINT,
    default_int_handler,
    getsignal,
    signal,
)

TEXT = "swapsim: interrupted; nothing was left half written"
"""What the command says to Ctrl-C."""

CODE = 130
"""With what it exits then."""


def end_at_once() -> None:
    """Let Ctrl-C end the process with one line; where it is ignored it stays so."""
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, end)


def raise_again() -> None:
    """Let Ctrl-C be an error again that clears up as it passes."""
    if getsignal(SIGINT) is end:
        signal(SIGINT, default_int_handler)


def be_done() -> None:
    """Let Ctrl-C be nothing to a process that has done its work, and only goes away."""
    signal(SIGINT, SIG_IGN)


def end(*_: object) -> None:
    """Say so and end the process, whatever it is at."""
    os.write(2, f"{TEXT}\n".encode())
    os._exit(CODE)
