# SPDX-License-Identifier: GPL-2.0-or-later
"""Large folios on newer kernels: clusters by order (6.12), nonfull before free (6.18)."""

from swapsim.patches.newer_kernels import studies
from swapsim.patches.newer_kernels.conclusions import (
    PATCH,
    chances,
    compared_lines,
    compared_with_kernels,
    counted,
    fallback_rates,
    headline_fit,
    headline_locks,
    measured_as_mailed,
    order_of_sizes,
    pairs,
    simulated_claims,
    turnover_compared,
)

__all__ = [
    "PATCH",
    "chances",
    "compared_lines",
    "compared_with_kernels",
    "counted",
    "fallback_rates",
    "headline_fit",
    "headline_locks",
    "measured_as_mailed",
    "order_of_sizes",
    "pairs",
    "simulated_claims",
    "studies",
    "turnover_compared",
]
