# SPDX-License-Identifier: GPL-2.0-or-later
"""One task over many points, on any ``concurrent.futures.Executor``.

The points are plain data and the task a function of a module, so that both travel
to another process or machine. Results come back in the order of the points,
whoever was faster, and are those of a serial run: all that a task draws comes from
its point's seed. With a folder they are stored as they come, and a second run of the
same sweep does only what is missing.
"""

from swapsim.study.batches import run
from swapsim.study.executors import SerialExecutor

__all__ = ["SerialExecutor", "run"]
