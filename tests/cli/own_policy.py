# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's file with one policy."""

import swapsim


@swapsim.policy(base_of="cpu")
def stays(base):
    """Begin each scan where the first one began."""
    return base
