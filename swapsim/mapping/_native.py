# SPDX-License-Identifier: GPL-2.0-or-later
"""The mappings of the C core: a config as its struct, and the nodes of their trees."""

from collections.abc import Iterable
from typing import Final

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi.codes import check
from swapsim.ffi.facts import KERNELS
from swapsim.mapping.config import MappingConfig

# What a tree holds means nothing to its nodes: a folio is even, a shadow odd.
_A_FOLIO: Final = 2
_A_SHADOW: Final = 1


def settings(config: MappingConfig) -> object:
    """Write a config as the struct that ``sws_mappings_new`` and a replay of mappings take."""
    made = ffi.new("struct sws_mapping_config *")
    lib.sws_mapping_config_init(made)
    made.kernel = KERNELS.index(config.kernel)
    made.swap_writeback_tags = config.swap_writeback_tags
    made.swap_slots = config.swap_slots
    made.trunk_shift = config.trunk_shift
    made.tree_shift = config.tree_shift
    return made


def nodes_after_swap_out(offsets: Iterable[int], config: MappingConfig) -> int:
    """Count the nodes of the swap cache's trees once a page of each slot is written and gone.

    Parameters
    ----------
    offsets : iterable of int
        Slots of the device, all still in use.
    config : MappingConfig
        In 6.1 each slot keeps a shadow in its trunk's tree; earlier kernels keep nothing.

    Returns
    -------
    int
        Nodes of all trunks together.

    Raises
    ------
    InputError
        Naming an offset past the device's end.
    NativeMemoryError
    """
    out = ffi.new("struct sws_mappings **")
    check(lib.sws_mappings_new(settings(config), out))
    handle = ffi.gc(out[0], lib.sws_mappings_free)
    mapping = ffi.new("uint32_t *")
    work = ffi.new("struct sws_mapping_work *")
    for offset in offsets:
        if not 0 <= offset < config.swap_slots:
            raise InputError(f"{offset} is no slot of a device of {config.swap_slots}")
        check(lib.sws_mapping_of_swap(handle, offset, mapping))
        check(lib.sws_mapping_add(handle, mapping[0], offset, _A_FOLIO, work))
        check(lib.sws_mapping_delete(handle, mapping[0], offset, _A_SHADOW, work))
    return sum(lib.sws_mapping_nodes(handle, each) for each in range(lib.sws_mapping_count(handle)))
