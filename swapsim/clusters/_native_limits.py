# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits of a cluster allocator, as ``clusters.h`` explains them."""

from typing import Final

from swapsim._core import lib

DEVICES_MAX: Final[int] = lib.SWS_CLUSTERS_DEVICES_MAX
SLOTS_MAX: Final[int] = lib.SWS_CLUSTERS_SLOTS_MAX
SIZE_MAX: Final[int] = lib.SWS_CLUSTERS_SIZE_MAX
OWNERS_MAX: Final[int] = lib.SWS_CLUSTERS_OWNERS_MAX
