# SPDX-License-Identifier: GPL-2.0-or-later
"""One package for each patch: its machine, fit, prediction, questions, lab runs and verdict.

A patch's package exports what its notebook calls, and every part of `Patch`, which
`swapsim.site` calls for all patches. To add a patch, add a package here and its name to
``swapsim.site.patches.PATCHES``; no other patch's package changes.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Protocol

import polars as pl

from swapsim.lazy import submodules

if TYPE_CHECKING:
    from swapsim.machine.fit import Fitted
    from swapsim.patches import batched_removal as batched_removal
    from swapsim.patches import cluster_next as cluster_next
    from swapsim.patches import newer_kernels as newer_kernels
    from swapsim.patches import stall_decisions as stall_decisions
    from swapsim.patches import writeback_tags as writeback_tags
else:
    __getattr__, __dir__ = submodules(
        __name__,
        *("batched_removal", "cluster_next", "newer_kernels", "stall_decisions", "writeback_tags"),
    )

__all__ = ["Patch"]


class Patch(Protocol):
    """What the package of each patch gives to the pages that cover all patches.

    A part that does not apply to a patch is there all the same, and returns None. mypy checks the
    parts and their types, and `swapsim.site.patches` checks their names when it is imported.
    """

    @property
    def PATCH(self) -> str:  # noqa: N802
        """The name of the patch's folder in ``patches``, ``NN-slug``."""

    @property
    def studies(self) -> ModuleType:
        """The module whose values are the patch's studies (`swapsim.study.Study`)."""

    def headline_fit(self) -> "Fitted | None":
        """Return the fit of the base behind the headlines; None if nothing is fitted to it."""

    def simulated_claims(self) -> pl.DataFrame:
        """Return the simulated figure of each claim, and its range, of stored studies.

        The table has the schema SIMULATED_CLAIMS. Every claim that any page or notebook judges by
        a simulated figure has its row here.
        """

    def chances(self) -> pl.DataFrame | None:
        """Return the chances of claims whose noise is known from their mail (CHANCES)."""

    def headline_locks(self, constants: pl.DataFrame) -> pl.DataFrame | None:
        """Return how the patch relieves the swap cache's lock (`machine.summary.lock_relief`).

        ``constants`` are those of `headline_fit`.
        """

    def measured_as_mailed(self) -> pl.DataFrame | None:
        """Return what a real kernel measured, under the names of the mail's table (RESULTS)."""

    def counted(self) -> str:
        """Return a sentence on what is counted on the shipped traces."""
