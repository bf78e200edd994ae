# SPDX-License-Identifier: GPL-2.0-or-later
"""What covers all patches: overview, README's tables, report, notebooks, benchmarks."""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules

if TYPE_CHECKING:
    from swapsim.site import newest as newest
    from swapsim.site import overview as overview
    from swapsim.site import patches as patches
else:
    __getattr__, __dir__ = submodules(__name__, "newest", "overview", "patches")
