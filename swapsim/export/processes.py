# SPDX-License-Identifier: GPL-2.0-or-later
"""The groups of tracks that a viewer calls processes, in the order in which they are shown."""

from typing import Final

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
