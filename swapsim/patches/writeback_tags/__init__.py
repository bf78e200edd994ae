# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A: no radix-tree writeback tags for the swap cache (2016, merged in 4.9)."""

from swapsim.patches.writeback_tags import notebook as notebook
from swapsim.patches.writeback_tags import studies as studies
from swapsim.patches.writeback_tags.prediction import PATCH as PATCH
from swapsim.patches.writeback_tags.prediction import machine as machine
from swapsim.patches.writeback_tags.prediction import runs as runs
from swapsim.patches.writeback_tags.studies import headline_fit as headline_fit
