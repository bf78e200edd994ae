# SPDX-License-Identifier: GPL-2.0-or-later
"""Structs of configs and frames, frames of structs, and what headers say of fields."""

import gc

import polars as pl
import pytest

from swapsim import ffi as core
from swapsim._core import ffi, lib
from swapsim.errors import InputError, NativeError
from swapsim.mapping import MappingConfig

ROWS = "struct sws_mapping_replay_rows"
FRAME = pl.DataFrame(
    {
        "op": pl.Series([1, 2], dtype=pl.UInt8),
        **{name: [2, 4] for name in ("folio", "index", "file", "shadow")},
    }
).with_columns(pl.exclude("op").cast(pl.UInt64))


def test_a_config_has_the_values_of_a_dataclass_and_else_the_library_s() -> None:
    """Fields of one name are copied, others are given, and a pointer is NULL."""
    made = core.config(lib.sws_mapping_config_init, MappingConfig(tree_shift=3), kernel=2)
    assert (made.tree_shift, made.kernel, made.trunk_shift) == (3, 2, 14)
    assert made.allocator == ffi.NULL


def test_a_handle_that_cannot_be_created_is_an_error() -> None:
    """The code of the library becomes an exception."""
    made = core.config(lib.sws_mapping_config_init, None, tree_shift=99)
    with pytest.raises(NativeError):
        core.new(lib.sws_mappings_new, made, free=lib.sws_mappings_free)


def test_columns_live_as_long_as_their_struct() -> None:
    """The arrays of a frame that is gone can still be read."""
    rows = [core.columns(ROWS, FRAME.with_columns(pl.col("folio") + n)) for n in range(50)]
    gc.collect()
    assert [(each.op[1], each.folio[0], each.folio[1]) for each in rows] == [
        (2, 2 + n, 4 + n) for n in range(50)
    ]


def test_columns_of_another_type_are_refused() -> None:
    """A number that might not fit is never cut off."""
    with pytest.raises(TypeError):
        core.columns(ROWS, FRAME.with_columns(pl.col("op").cast(pl.UInt16)))


def test_structs_in_structs_are_columns() -> None:
    """The fields of a nested struct stand at its place."""
    cells, out = core.records("struct sws_mapping_replay_cell", 2)
    out[1].work.tree.descents = 7
    frame = core.frame_of(cells)
    assert frame["descents"].to_list() == [0, 7]
    assert frame.columns[:3] == ["calls", "unresolved", "contradicted"]


def test_ranges_come_from_the_header() -> None:
    """Macros and powers become numbers; an expression is no range."""
    ranges = core._ranges("struct sws_mapping_config")
    assert ranges == {"swap_slots": (1, 2**32), "trunk_shift": (1, 32), "tree_shift": (1, 6)}
    assert "stay_ns" not in core._ranges("struct sws_machine_config")
    with pytest.raises(InputError, match="tree_shift=7"):
        MappingConfig(tree_shift=7)


@pytest.mark.parametrize("enum", ["sws_removal_problem", "sws_stall_problem"])
def test_each_problem_has_a_meaning(enum: str) -> None:
    """A comment stands above each enumerator."""
    for number in ffi.typeof(f"enum {enum}").elements:
        assert len(core.problem(f"enum {enum}", number)) > 5
