# SPDX-License-Identifier: GPL-2.0-or-later
"""Hypothesis without deadlines (a first call compiles or loads), the same examples in CI.

A property without a number of its own is tried by 30 examples; `make torture` tries many more.

No test waits for ever: after nine tenths of faulthandler_timeout (pyproject.toml) a watchdog aborts
the children of the test, so that it goes on and fails. A test that waits for something else is
ended by pytest's own faulthandler, together with its process; xdist reports that as a failure.
Both print the stacks of all threads.
"""

import faulthandler
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer

import pytest
from hypothesis import settings

from swapsim.progress import SIGNALS

settings.register_profile("swapsim", deadline=None, print_blob=True, max_examples=30)
settings.register_profile("ci", settings.get_profile("swapsim"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "swapsim")

# Readline, which pytest imports, sets the size of a terminal below Python's environment, so that
# processes of xdist and of tests inherit it; lines that are printed depend on it.
for size in ("COLUMNS", "LINES"):
    os.environ.pop(size, None)
    os.unsetenv(size)

# A child that is aborted prints its stacks first.
os.environ["PYTHONFAULTHANDLER"] = "1"


@pytest.fixture(autouse=True)
def watchdog(request: pytest.FixtureRequest) -> Iterator[None]:
    """Abort the children of a test that takes too long, and fail it."""
    limit = 0.9 * float(request.config.getini("faulthandler_timeout"))
    if not limit:
        yield
        return
    aborted: list[str] = []
    timer = Timer(limit, abort_children, [aborted])
    timer.daemon = True
    timer.start()
    yield
    timer.cancel()
    if aborted:
        pytest.fail("\n".join([f"no end after {limit:g} s; aborted:", *aborted]))


def abort_children(aborted: list[str]) -> None:
    """Print the stacks of this process and abort the processes that it has started."""
    faulthandler.dump_traceback(sys.__stderr__)
    for pid in descendants(os.getpid()):
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            os.kill(pid, signal.SIGABRT)
            aborted.append(f"{pid}: {' '.join(command.split(chr(0)))}")


def descendants(pid: int) -> list[int]:
    """Return the children of a process, theirs, and so on."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        # A process may end while /proc is read.
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


@pytest.fixture
def signals_as_in_a_terminal() -> Iterator[None]:
    """Handle the signals that end a command as by default: nohup and scripts ignore some."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
