# SPDX-License-Identifier: GPL-2.0-or-later
"""The reclaim simulator: a client, a writer and a disk under the kernel's reclaim.

- ``parallelio``, ``shrink``: the test of patch C's mail, and a smaller version of it,
- ``lab_guest``: the same test as the lab runs it in its guest,
- ``constants``, ``lab_guest_constants``: the costs and the machine of each,
- ``run``: a simulation of a `ReclaimConfig`: rounds, counters, and memory over time,
- ``follow_pages``: where single pages of the client's pool are, over time,
- ``run_lab_guest``: counts over the time in which the lab counts,
- ``ops``, ``vmstat``, ``iostat``, ``lab_guest_rows``: a result in the rows of the mail, or the lab.
"""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.reclaim._native import Result, Window, follow_pages, run, run_lab_guest
from swapsim.reclaim.config import ReclaimConfig
from swapsim.reclaim.parallelio import (
    change_constants,
    constants,
    lab_guest,
    lab_guest_constants,
    parallelio,
    shrink,
)
from swapsim.reclaim.report import iostat, lab_guest_rows, ops, vmstat

if TYPE_CHECKING:
    from swapsim.reclaim import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "tables")

__all__ = [
    "ReclaimConfig",
    "Result",
    "Window",
    "change_constants",
    "constants",
    "follow_pages",
    "iostat",
    "lab_guest",
    "lab_guest_constants",
    "lab_guest_rows",
    "ops",
    "parallelio",
    "run",
    "run_lab_guest",
    "shrink",
    "vmstat",
]
