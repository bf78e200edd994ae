# SPDX-License-Identifier: GPL-2.0-or-later
"""What the package of each patch has to offer."""

from types import ModuleType
from typing import TYPE_CHECKING, Protocol

import polars as pl

if TYPE_CHECKING:
    from swapsim.machine.fit import Fitted


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

    def answers(self) -> pl.DataFrame:
        """Return what the models and the real kernels answer to the patch's claims (ANSWERS).

        A claim has at most one answer of each source. Every answer that any page or notebook judges
        is here; simulated ones are of stored studies.
        """

    def chances(self) -> pl.DataFrame | None:
        """Return the chances of claims whose noise is known from their mail (CHANCES)."""

    def headline_locks(self, constants: pl.DataFrame) -> pl.DataFrame | None:
        """Return how the patch relieves the swap cache's lock (`machine.summary.lock_relief`).

        ``constants`` are those of `headline_fit`.
        """

    def counted(self) -> str:
        """Return a sentence on what is counted on the shipped traces."""
