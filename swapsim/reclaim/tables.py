# SPDX-License-Identifier: GPL-2.0-or-later
"""Vocabularies of the reclaim simulator. Its columns are fields of structs in ``reclaim.h``."""

from typing import Final

from swapsim.tables import Vocabulary

ZONE: Final = Vocabulary("ZONE", "A zone of memory, the lower one first.", ("dma32", "normal"))
