# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracks for perfetto and chrome://tracing: a trace folder, or a run of the contention machine.

A run's log shows which CPU waits for which lock behind which other one, and which CPU holds it.
Both write Trace Event Format (JSON, plain or gzip).
"""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.export.event_file import Exported as Exported
    from swapsim.export.machine import MachineFile as MachineFile
    from swapsim.export.machine import machine as machine
    from swapsim.export.machine import machine_config as machine_config
    from swapsim.export.trace import trace as trace
else:
    lazy.export(__name__)
