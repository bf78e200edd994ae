# SPDX-License-Identifier: GPL-2.0-or-later
"""What the command lines of capture.py and lab.py share."""

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from rig.errors import CaptureError, GuestError
from rig.workload import HOME


def parser(
    program: str, description: str | None, *, of: str, cached: str
) -> argparse.ArgumentParser:
    """Return a parser with the names of descriptions, and the folders that are written."""
    made = argparse.ArgumentParser(prog=f"{program}.py", description=description)
    made.add_argument("names", nargs="*", metavar="NAME", help=f"{of}, see --list")
    made.add_argument("--list", action="store_true", help="print the names and stop")
    made.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder of the results")
    made.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        default=HOME.parents[1] / "build" / "capture",
        help=f"{cached} (build/capture)",
    )
    return made


def run(program: str, work: Callable[[], int]) -> int:
    """Do the work of a program; return its exit status, or that of an error, printed in a line."""
    # A signal that ends this program ends its emulator, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return work()
    except (CaptureError, GuestError) as error:
        message, status = str(error), 1 if isinstance(error, GuestError) else 2
    except OSError as error:
        message, status = f"{error.filename}: {error.strerror}", 2
    except KeyboardInterrupt:
        message, status = "stopped", 130
    print(f"{program}.py: {message}", file=sys.stderr)
    return status
