# SPDX-License-Identifier: GPL-2.0-or-later
"""The contention machine: the counts of the mechanisms become time, by constants with a source.

- ``costs``: the constants of data/costs.csv,
- ``run``: runs of a `MachineConfig`, as RESULTS, or as single waits and holds; policies compared,
- ``fit``: constants that no source gives, fitted to the base column of a mail,
- ``what_if``: the gain of a patch on other machines, devices and constants,
- ``lab``: a machine counted as a real kernel is counted,
- ``summary``: what runs, fits and what-ifs say together,
- ``anchors``: the simulated locks next to published measurements of locks.

The machine, the mail and the questions of each patch are in `swapsim.patches`.
"""

from swapsim.machine import anchors as anchors
from swapsim.machine import costs as costs
from swapsim.machine import fit as fit
from swapsim.machine import lab as lab
from swapsim.machine import run as run
from swapsim.machine import summary as summary
from swapsim.machine import tables as tables
from swapsim.machine import what_if as what_if
from swapsim.machine.config import MachineConfig as MachineConfig
from swapsim.machine.what_if import gain as gain
