# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracks: the groups that a viewer calls processes, in the order of showing; and tasks in them.

A viewer takes thread 0 for the first one of its process, so nobody has that number.
"""

from typing import Final

from swapsim.export.event_file import Track

TASKS: Final = 1
SWAP_CACHE: Final = 2
WRITEBACK: Final = 3
SLOTS: Final = 4
MACHINE: Final = 5

NAMES: Final = {
    TASKS: "tasks",
    SWAP_CACHE: "swap cache",
    WRITEBACK: "writeback",
    SLOTS: "swap slots",
    MACHINE: "machine",
}

IDLE: Final = 1 << 22
"""Beside all tasks, of which none has so high a number: idle CPUs, and what interrupts them."""

_FIRST_CPU: Final = 1000


def task_track(pid: int) -> Track:
    """Return the track of a kernel's task."""
    return TASKS, pid or IDLE


def cpu_track(number: int) -> Track:
    """Return the track of a machine's CPU."""
    return TASKS, _FIRST_CPU + number
