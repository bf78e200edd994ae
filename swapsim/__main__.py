# SPDX-License-Identifier: GPL-2.0-or-later
"""The command ``swapsim``, and ``python -m swapsim``."""

import os
import sys

from swapsim import cli
from swapsim.progress import record_signals


def main() -> int:
    """Run the command line; return its exit code."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # or a library's file would get its number
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    record_signals()
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
