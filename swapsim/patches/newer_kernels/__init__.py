# SPDX-License-Identifier: GPL-2.0-or-later
"""Large folios on newer kernels: clusters by order (6.12), nonfull before free (6.18)."""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.patches.newer_kernels import studies as studies
    from swapsim.patches.newer_kernels.conclusions import PATCH as PATCH
    from swapsim.patches.newer_kernels.conclusions import chances as chances
    from swapsim.patches.newer_kernels.conclusions import compared_lines as compared_lines
    from swapsim.patches.newer_kernels.conclusions import (
        compared_with_kernels as compared_with_kernels,
    )
    from swapsim.patches.newer_kernels.conclusions import counted as counted
    from swapsim.patches.newer_kernels.conclusions import fallback_rates as fallback_rates
    from swapsim.patches.newer_kernels.conclusions import headline_fit as headline_fit
    from swapsim.patches.newer_kernels.conclusions import headline_locks as headline_locks
    from swapsim.patches.newer_kernels.conclusions import measured_as_mailed as measured_as_mailed
    from swapsim.patches.newer_kernels.conclusions import order_of_sizes as order_of_sizes
    from swapsim.patches.newer_kernels.conclusions import pairs as pairs
    from swapsim.patches.newer_kernels.conclusions import simulated_claims as simulated_claims
    from swapsim.patches.newer_kernels.conclusions import turnover_compared as turnover_compared
else:
    lazy.export(__name__)
