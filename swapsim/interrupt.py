# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C while nobody is there yet who could clear up. It imports next to nothing, to be first."""

import os
import signal

TEXT = "swapsim: interrupted; nothing was left half written"
"""What the command says to Ctrl-C."""

CODE = 130
"""With what it exits then."""


def end_at_once() -> None:
    """Let Ctrl-C end the process with one line; where it is ignored it stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end)


def end(*_: object) -> None:
    """Say so and end the process, whatever it is at."""
    os.write(2, f"{TEXT}\n".encode())
    os._exit(CODE)
