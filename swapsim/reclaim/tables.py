# SPDX-License-Identifier: GPL-2.0-or-later
"""Vocabularies of the reclaim simulator. Its columns are fields of structs in ``reclaim.h``."""

from typing import Final

from swapsim import ffi
from swapsim.frames.table import Vocabulary

WHERE: Final = Vocabulary(
    "WHERE", "The state of a page of the simulated client's pool.", ffi.RECLAIM_WHERE
)

ZONE: Final = Vocabulary("ZONE", "A zone of memory, the lower one first.", ("dma32", "normal"))
