# SPDX-License-Identifier: GPL-2.0-or-later
"""The contention machine: the counts of the mechanisms become time, by costs with a source.

`preset` returns the machine of a mail, `run` runs a machine once, `gain` says what a change is
worth, `sweep` runs many, and `fit` finds costs that no source gives.
"""

from swapsim.machine.config import PRESETS, Machine, preset
from swapsim.machine.constants import costs
from swapsim.machine.fitting import fit
from swapsim.machine.running import Run, gain, run, sweep

__all__ = ["PRESETS", "Machine", "Run", "costs", "fit", "gain", "preset", "run", "sweep"]
