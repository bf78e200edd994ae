# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording script for a user's own kernel, whose traces feed the replays."""

from swapsim.traces.probes.script import RUNNING_KERNEL as RUNNING_KERNEL
from swapsim.traces.probes.script import recording_script as recording_script
