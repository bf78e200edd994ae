# SPDX-License-Identifier: GPL-2.0-or-later
"""The address_spaces of a swap device and of files: kernel and sizes."""

from dataclasses import dataclass

from swapsim.checks import check_choice, check_number, checked
from swapsim.ffi import MAPPING_KERNELS, MAPPING_SLOTS_MAX, MAPPING_TRUNK_SHIFT_MAX, TREE_SHIFT_MAX


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class MappingConfig:
    """The address_spaces of one swap device and of files (``mapping.h``).

    Parameters
    ----------
    kernel : {"4.8", "5.8", "6.1"}
        The row of the lock table.
    swap_writeback_tags : bool
        Whether the swap cache has writeback tags: True is the kernel before patch A.
    swap_slots : int
        Slots of the device, 1 to 2**32.
    trunk_shift : int
        Log2 of the slots of a trunk from 5.8 on, 1 to 32 (SWAP_ADDRESS_SPACE_SHIFT).
    tree_shift : int
        Log2 of the slots of a tree node, 1 to 6 (RADIX_TREE_MAP_SHIFT).

    Raises
    ------
    ConfigError
        A field is out of range.
    """

    kernel: str = "4.8"
    swap_writeback_tags: bool = True
    swap_slots: int = 2**32
    trunk_shift: int = 14
    tree_shift: int = 6

    def __post_init__(self) -> None:
        """Check each field."""
        check_choice("kernel", self.kernel, MAPPING_KERNELS)
        check_number("swap_slots", self.swap_slots, 1, MAPPING_SLOTS_MAX)
        check_number("trunk_shift", self.trunk_shift, 1, MAPPING_TRUNK_SHIFT_MAX)
        check_number("tree_shift", self.tree_shift, 1, TREE_SHIFT_MAX)
