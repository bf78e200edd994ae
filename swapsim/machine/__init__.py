# SPDX-License-Identifier: GPL-2.0-or-later
"""The contention machine: the mechanisms' counts become time, by constants with a source.

- ``costs``: the constants of data/costs.csv,
- ``run``: one run of a `config.MachineConfig`, as RESULTS; ``time_per_page`` splits one up,
- ``spans``: one run wait by wait: which lock, behind whom, how long,
- ``fit``: constants that no source gives, found from the base column of a mail,
- ``what_if``: a patch's gain on other machines, devices and constants,
- ``throughput``: policies, each on the same machine,
- ``lab``: a machine counted as a real kernel was,
- ``lock_relief``: waits and counts of one lock, without a patch and with it.

Which machine, which mail and which questions: that is each patch's own (`swapsim.patches`).
"""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.machine.config import MachineConfig

if TYPE_CHECKING:
    from swapsim.machine import charts as charts
    from swapsim.machine import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "charts", "tables")

__all__ = [
    "MachineConfig",
]
