# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A's mechanism: a mapping's tree, its writeback tags, and the lock around both."""

from swapsim.mapping.config import MappingConfig
from swapsim.mapping.per_page import mix, per_page, totals_per_page
from swapsim.mapping.replay import (
    replay_rows,
    writeback_tags,
    writeback_tags_by_kernel,
    writeback_tags_of,
)
from swapsim.mapping.rows import writeback_rows

__all__ = [
    "MappingConfig",
    "mix",
    "per_page",
    "replay_rows",
    "totals_per_page",
    "writeback_rows",
    "writeback_tags",
    "writeback_tags_by_kernel",
    "writeback_tags_of",
]
