# SPDX-License-Identifier: GPL-2.0-or-later
"""The command ``swapsim``, and ``python -m swapsim``: Ctrl-C is ours before any library is read.

The libraries take most of a second to import. An interrupt in the midst of that would end in a
traceback of theirs, or in a panic, so until they are there it ends the process at once.
"""

import os
import sys

from swapsim import interrupt


def main() -> int:
    """Run the command line; return its exit code."""
    _open_what_is_closed()
    interrupt.end_at_once()
    if sys.flags.optimize > 1:
        _start_with_docstrings()
    from swapsim import cli

    try:
        interrupt.raise_again()
        code = cli.main()
        interrupt.be_done()
        return code
    except KeyboardInterrupt:
        interrupt.end()
        raise


def _open_what_is_closed() -> None:
    """Let no library get the number of stdin, stdout or stderr: the lowest free one is taken."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _start_with_docstrings() -> None:
    """Replace a process of ``python -OO`` by one of ``python -O``: altair needs its docstrings."""
    from subprocess import _args_from_interpreter_flags  # type: ignore[attr-defined]

    flags = [each for each in _args_from_interpreter_flags() if not each.startswith("-O")]
    again = [sys.executable, *flags, "-O", "-m", "swapsim", *sys.argv[1:]]
    os.execve(sys.executable, again, os.environ | {"PYTHONOPTIMIZE": "1"})


if __name__ == "__main__":
    sys.exit(main())
