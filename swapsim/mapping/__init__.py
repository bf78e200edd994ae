# SPDX-License-Identifier: GPL-2.0-or-later
"""The mechanism of patch A: a mapping's tree, its writeback tags, and the lock of both."""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.mapping.config import MappingConfig
from swapsim.mapping.replay import (
    mix,
    per_page,
    replay_rows,
    totals_per_page,
    writeback_rows,
    writeback_tags,
    writeback_tags_by_kernel,
    writeback_tags_of,
)

if TYPE_CHECKING:
    from swapsim.mapping import charts as charts
    from swapsim.mapping import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "charts", "tables")

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
