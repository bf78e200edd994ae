# SPDX-License-Identifier: GPL-2.0-or-later
"""The address_spaces of a swap device and of files: kernel and sizes."""

from dataclasses import dataclass

from swapsim.errors import check_choice
from swapsim.ffi import MAPPING_KERNELS, check_ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingConfig:
    """The address_spaces of one swap device and of files (``mapping.h``).

    Parameters
    ----------
    kernel : {"4.8", "5.8", "6.1"}, default "4.8"
        The row of the lock table.
    swap_writeback_tags : bool, default True
        True if the swap cache has writeback tags, false with patch A.
    swap_slots : int, default ``2**32``
        Slots of the device, 1 to ``2**32``.
    trunk_shift : int, default 14
        Log2 of a trunk's slots from 5.8 on, 1 to 32.
    tree_shift : int, default 6
        Log2 of a node's slots, 1 to 6.
    """

    kernel: str = "4.8"
    swap_writeback_tags: bool = True
    swap_slots: int = 2**32
    trunk_shift: int = 14
    tree_shift: int = 6

    def __post_init__(self) -> None:
        """Check each field."""
        check_choice("kernel", self.kernel, MAPPING_KERNELS)
        check_ranges(self, "struct sws_mapping_config")
