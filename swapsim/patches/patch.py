# SPDX-License-Identifier: GPL-2.0-or-later
"""What the package of each patch has to offer."""

from types import ModuleType
from typing import Protocol


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
