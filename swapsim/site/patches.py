# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages of all patches, each of them complete."""

from collections.abc import Iterable
from pkgutil import iter_modules
from typing import Final

from swapsim import patches
from swapsim.errors import SwapsimError
from swapsim.patches import Patch, batched_removal, cluster_next, stall_decisions, writeback_tags

PARTS: Final = tuple(name for name in vars(Patch) if not name.startswith("_"))
"""Names of the parts of `swapsim.patches.Patch`."""

PATCHES: Final[tuple[Patch, ...]] = (
    writeback_tags,
    batched_removal,
    stall_decisions,
    cluster_next,
)
"""All patches, in the order of their numbers."""


def require_complete(found: Iterable[Patch], packages: Iterable[str]) -> None:
    """Check that each package is a patch of `found`, and that each patch has all PARTS."""
    names = {str(vars(patch)["__name__"]).rpartition(".")[2]: patch for patch in found}
    for package in packages:
        if package not in names:
            raise SwapsimError(f"swapsim.patches.{package}: add it to swapsim.site.patches.PATCHES")
    for name, patch in names.items():
        for part in PARTS:
            if not hasattr(patch, part):
                raise SwapsimError(
                    f"swapsim.patches.{name}: {part} is missing; a patch has all parts of "
                    "swapsim.patches.Patch"
                )


require_complete(PATCHES, [each.name for each in iter_modules(patches.__path__) if each.ispkg])
