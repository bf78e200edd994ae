# SPDX-License-Identifier: GPL-2.0-or-later
"""The reclaim simulator: a client, a writer and a disk under the kernel's reclaim.

- ``parallelio``, ``shrink``: the test of patch C's mail, and a smaller version of it,
- ``constants``: the costs, and what the mail does not print of its machine,
- ``run``: a simulation of a `ReclaimConfig`: rounds, counters, and memory over time,
- ``ops``, ``vmstat``, ``iostat``: a result in the rows of the mail.
"""

from swapsim.reclaim import tables as tables
from swapsim.reclaim._native import Result as Result
from swapsim.reclaim._native import run as run
from swapsim.reclaim.config import ReclaimConfig as ReclaimConfig
from swapsim.reclaim.parallelio import change_constants as change_constants
from swapsim.reclaim.parallelio import constants as constants
from swapsim.reclaim.parallelio import parallelio as parallelio
from swapsim.reclaim.parallelio import shrink as shrink
from swapsim.reclaim.report import iostat as iostat
from swapsim.reclaim.report import ops as ops
from swapsim.reclaim.report import vmstat as vmstat
