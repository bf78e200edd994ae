# SPDX-License-Identifier: GPL-2.0-or-later
"""The cluster allocators of Linux 6.12 to 7.3, and recordings of real kernels."""

from typing import TYPE_CHECKING

from swapsim.clusters.joining import JOINED_EVENTS
from swapsim.lazy import submodules

if TYPE_CHECKING:
    from swapsim.clusters import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "tables")

__all__ = ["JOINED_EVENTS"]
