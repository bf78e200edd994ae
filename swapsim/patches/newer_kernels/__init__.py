# SPDX-License-Identifier: GPL-2.0-or-later
"""Large folios on newer kernels: clusters by order (6.12), nonfull before free (6.18)."""

from swapsim.patches.newer_kernels import studies
from swapsim.patches.newer_kernels.conclusions import (
    PATCH,
    chances,
    counted,
    headline_fit,
    headline_locks,
    measured_as_mailed,
    simulated_claims,
)

__all__ = [
    "PATCH",
    "chances",
    "counted",
    "headline_fit",
    "headline_locks",
    "measured_as_mailed",
    "simulated_claims",
    "studies",
]
