# SPDX-License-Identifier: GPL-2.0-or-later
"""The mechanism of patch A: a mapping's tree, its writeback tags, and the lock of both."""

from swapsim.mapping import tables as tables
from swapsim.mapping.config import MappingConfig as MappingConfig
from swapsim.mapping.replay import doubts as doubts
from swapsim.mapping.replay import mix as mix
from swapsim.mapping.replay import per_page as per_page
from swapsim.mapping.replay import summed as summed
from swapsim.mapping.replay import totals_per_page as totals_per_page
from swapsim.mapping.replay import writeback_tags as writeback_tags
from swapsim.mapping.replay import writeback_tags_by_kernel as writeback_tags_by_kernel
from swapsim.mapping.replay import writeback_tags_of as writeback_tags_of
