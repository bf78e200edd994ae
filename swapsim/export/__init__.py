# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracks for perfetto and chrome://tracing: a trace, or a run of the contention machine.

- ``trace``: a trace folder,
- ``machine``: a run, as its log tells it: who waits for which lock behind whom, who holds it,
- ``machine_config``: a machine as a TOML file tells it.

Both write Trace Event Format (JSON, packed or not), in parts, and say what they wrote.
"""

from swapsim.export.machine import machine
from swapsim.export.machine_file import MachineFile, machine_config
from swapsim.export.trace import Exported, trace

__all__ = ["Exported", "MachineFile", "machine", "machine_config", "trace"]
