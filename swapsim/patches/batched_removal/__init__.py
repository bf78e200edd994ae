# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B: one hold per mapping instead of one per page (2016, never merged)."""

from swapsim.patches.batched_removal.pencil import PATCH, waits_needed

__all__ = ["PATCH", "waits_needed"]
