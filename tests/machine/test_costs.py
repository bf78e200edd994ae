# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants: each has a source, and errors name the constant."""

import warnings
from pathlib import Path

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.ffi import COST_NAMES
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs, costs_by_name
from swapsim.machine.run import run
from swapsim.machine.what_if import Case, trials


def test_the_constants_are_those_of_the_library() -> None:
    """data/costs.csv has each field of the C struct, in its order."""
    assert costs()["name"].to_list() == list(COST_NAMES)


def test_a_table_is_checked_as_a_file_is() -> None:
    """A missing cost, and a bad one by its row, are named; rows may stand in any order."""
    with pytest.raises(InputError, match="constant 'tree_ns' is missing"):
        run(MachineConfig(writers=1), costs().filter(pl.col("name") != "tree_ns"))
    value = pl.when(pl.col("name") == "lru_page_ns").then(0).otherwise("value")
    with pytest.raises(InputError, match="constant 'lru_page_ns' in row 27: 0 is"):
        run(MachineConfig(writers=1), costs().with_columns(value=value))
    assert list(costs_by_name(costs().reverse()).items()) == list(costs_by_name().items())


def test_a_changed_cost_says_so_and_warns_when_it_leaves_its_range() -> None:
    """Its source is the caller; one warning at the caller's line names what left its range."""
    chosen = {"copy_ns": 400, "unmap_ns": 3000, "tree_ns": 2000}
    with pytest.warns(UserWarning, match="outside") as said:
        changed = change_costs(costs(), chosen)
    assert [(Path(each.filename), each.category) for each in said] == [
        (Path(__file__), UserWarning)
    ]
    assert "copy_ns" not in str(said[0].message)
    mine = changed.filter(pl.col("name").is_in([*chosen])).drop("unit")
    assert set(mine.rows()) == {
        ("copy_ns", 400, 300, 1000, "changed by the caller"),
        ("unmap_ns", 3000, 3000, 13000, "changed by the caller"),
        ("tree_ns", 2000, 450, 2000, "changed by the caller"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        change_costs(costs(), {"copy_ns": 300, "tree_ns": 1300})
        trials([Case({}, MachineConfig(), {"channel_ns": 10})], {"costs": costs()}, ["shared"])


def test_a_changed_cost_widens_its_range() -> None:
    """change_costs sets values, leaves the others, and refuses invalid ones."""
    with pytest.warns(UserWarning, match="tree_ns=5000 is outside of 450 to 1300"):
        changed = change_costs(costs(), {"tree_ns": 5000})
    row = changed.filter(pl.col("name") == "tree_ns").row(0, named=True)
    assert (row["value"], row["low"], row["high"]) == (5000, 450, 5000)
    assert changed.filter(pl.col("name") != "tree_ns").equals(
        costs().filter(pl.col("name") != "tree_ns")
    )
    with pytest.raises(InputError, match="constant 'tree_us' is unknown"):
        change_costs(costs(), {"tree_us": 5})
    with pytest.raises(InputError, match="constant 'tree_ns' of 0: give"):
        change_costs(costs(), {"tree_ns": 0})
