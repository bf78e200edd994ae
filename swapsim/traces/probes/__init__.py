# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording script for a user's own kernel, whose traces feed the replays."""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.traces.probes.script import RUNNING_KERNEL as RUNNING_KERNEL
    from swapsim.traces.probes.script import recording_script as recording_script
else:
    lazy.export(__name__)
