# SPDX-License-Identifier: GPL-2.0-or-later
"""One engine for all that runs a function over many points.

``run`` calls a task for each point on any ``concurrent.futures.Executor``: points are plain data
and the task is a function of a module, so that both travel to another process or machine. Results
come back in the order of the points and are those of a serial run: all that a task draws comes from
its point's seed. With a folder they are stored as they come, and a second run of the same sweep
computes only what is missing. ``table`` returns them as one frame. A ``Study`` is a result of that
kind which is stored in data/simulated.
"""

from swapsim.study.batches import SerialExecutor, run, table
from swapsim.study.study import Study, picked

__all__ = ["SerialExecutor", "Study", "picked", "run", "table"]
