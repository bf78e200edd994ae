# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants: each has a source, and errors name the constant."""

import warnings
from pathlib import Path

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.ffi import COST_NAMES
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs, costs_by_name
from swapsim.patches.common import trials


def test_the_constants_are_those_of_the_library() -> None:
    """data/costs.csv has each field of the C struct, in its order."""
    assert costs()["name"].to_list() == list(COST_NAMES)


def test_a_table_is_checked_as_a_file_is() -> None:
    """A missing cost and a bad one are named; rows may stand in any order."""
    with pytest.raises(InputError, match="constant 'tree_ns' is missing"):
        Machine(writers=1, costs=costs().filter(pl.col("name") != "tree_ns"))
    value = pl.when(pl.col("name") == "lru_page_ns").then(0).otherwise("value")
    with pytest.raises(InputError, match="constant 'lru_page_ns': 0 is"):
        Machine(writers=1, costs=costs().with_columns(value=value))
    assert list(costs_by_name(costs().reverse()).items()) == list(costs_by_name().items())


def test_a_changed_cost_says_so_and_warns_when_it_leaves_its_range() -> None:
    """Its source is the caller; one warning at the caller's line names what left its range."""
    chosen = {"copy_ns": 400, "unmap_ns": 3000, "tree_ns": 2000}
    with pytest.warns(UserWarning, match="outside") as said:
        changed = costs(**chosen)
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
        costs(copy_ns=300, tree_ns=1300)
        trials([({}, Machine(costs={"channel_ns": 10}))], {"costs": {}}, ["shared"])


def test_a_machine_has_costs_of_its_own() -> None:
    """Given as values or as a table, and changed by their names, they are those that differ."""
    machine = Machine(writers=1, costs={"copy_ns": 400, "map_ns": costs_by_name()["map_ns"]})
    assert machine.costs == {"copy_ns": 400}
    assert Machine(writers=1, costs=costs(machine)) == machine
    assert machine.replace(tree_ns=1000, writers=2).costs == {"copy_ns": 400, "tree_ns": 1000}
    with pytest.warns(UserWarning, match="unmap_ns=9 is outside"):
        assert costs(machine.replace(unmap_ns=9)).filter(name="unmap_ns")["low"].item() == 9
    with pytest.raises(InputError, match="constant 'copy' is unknown: did you mean copy_ns"):
        Machine(costs={"copy": 4})


def test_what_was_not_given_follows() -> None:
    """Policy, walkers, frames and slots are those of the new kernel and tasks."""
    old = Machine(kernel="4.8")
    assert (old.policy, old.walkers, old.tags) == ("shared", 1, None)
    new = old.replace(kernel="5.8", writers=600)
    assert (new.policy, new.walkers) == ("percpu-rerandomise", 0)
    assert new.frames > old.frames
    assert old.replace(policy="percpu").replace(kernel="6.1").policy == "percpu"


def test_a_changed_cost_widens_its_range() -> None:
    """change_costs sets values, leaves the others, and refuses invalid ones."""
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
