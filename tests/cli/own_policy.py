# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader's file with one policy."""

import swapsim


@swapsim.policy(base_of="cpu")
def stays(next, base, trunk_size):
    """Go on in a line, but never leave the first trunk."""
    return next if next // trunk_size == base // trunk_size else base
