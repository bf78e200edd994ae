# SPDX-License-Identifier: GPL-2.0-or-later
"""The address_spaces of a swap device and of files: kernel and sizes."""

from dataclasses import dataclass

from swapsim.checks import check_choice, checked
from swapsim.ffi import MAPPING_KERNELS
from swapsim.ffi.headers import check_ranges, documented


@documented("struct sws_mapping_config")
@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class MappingConfig:
    """The address_spaces of one swap device and of files (``mapping.h``).

    Parameters
    ----------
    kernel : {"4.8", "5.8", "6.1"}
        The row of the lock table.
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
