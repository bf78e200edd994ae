# SPDX-License-Identifier: GPL-2.0-or-later
"""The capture rig: a workload's description in, a trace folder of a real kernel out."""
