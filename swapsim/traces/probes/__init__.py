# SPDX-License-Identifier: GPL-2.0-or-later
"""What to record of a kernel of your own, so that the replays can run on it."""

from swapsim.traces.probes.script import RUNNING_KERNEL, recording_script

__all__ = ["RUNNING_KERNEL", "recording_script"]
