# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracks for perfetto and chrome://tracing: a trace folder, or a run of the contention machine.

A run's log shows which CPU waits for which lock behind which other one, and which CPU holds it.
Both write Trace Event Format (JSON, plain or gzip).
"""

from typing import TYPE_CHECKING

from swapsim.export.machine import MachineFile, machine, machine_config
from swapsim.export.trace import Exported, trace
from swapsim.lazy import submodules

if not TYPE_CHECKING:
    __getattr__, __dir__ = submodules(__name__)

__all__ = ["Exported", "MachineFile", "machine", "machine_config", "trace"]
