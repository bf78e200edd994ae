# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies of the newer kernels, stored in data/simulated."""

from typing import Final

from swapsim.newer import meetings, tags
from swapsim.study import Study

meeting: Final = Study(
    name="newer-kernels-meetings",
    points=meetings.points,
    run=meetings.of_point,
    quick=meetings.is_of_a_trace,
    reads=tuple(f"traces/{name}/*" for name in meetings.TRACES),
)
"""How often two CPUs use one lock under four allocators (MEETINGS)."""

global_lock: Final = Study(
    name="newer-kernels-global-lock",
    points=tags.settings,
    run=tags.of_setting,
    reads=("costs.csv",),
)
"""What one global lock taken twice a page would cost (GLOBAL_LOCK_RUNS)."""
