# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the scan for a free swap slot begins: the built-in policies, and a user's own."""

from swapsim.policies.policy import Policy

__all__ = ["Policy"]
