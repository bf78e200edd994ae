# SPDX-License-Identifier: GPL-2.0-or-later
"""The reclaim simulator: patch C's test, a pool, a file and a disk under the kernel's reclaim."""

from swapsim.reclaim.parallelio import parallelio

__all__ = ["parallelio"]
