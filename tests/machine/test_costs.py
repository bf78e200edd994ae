# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants: each has a source, and errors name the constant."""

import csv
from pathlib import Path

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.ffi import COST_NAMES
from swapsim.io.paths import data_root
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs, costs_by_name
from swapsim.machine.run import run
from swapsim.study.tables import CONSTANTS


def test_the_constants_are_those_of_the_library() -> None:
    """data/costs.csv has each field of the C struct, in its order."""
    assert costs()["name"].to_list() == list(COST_NAMES)


def test_each_constant_says_where_it_comes_from() -> None:
    """A source names a microbenchmark, a publication or a base column, or says it is a guess."""
    frame = costs()
    assert frame.schema == CONSTANTS.schema
    assert frame.filter(pl.col("source").str.len_chars() < 7).is_empty()
    guessed = frame.filter(pl.col("source").str.starts_with("assumed"))
    assert (guessed["high"] >= 2 * guessed["low"]).all()


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("value", "0", r"field 'value': constant 'map_ns': 0 is not in"),
        ("value", "-5", r"field 'value': constant 'map_ns': -5 is not in"),
        ("value", "", r"field 'value': '' is no Int64"),
        ("value", "1.5", r"field 'value': '1.5' is no Int64"),
        ("value", "1²", r"field 'value': '1²' is no Int64"),
        ("value", "9" * 5000, r"field 'value': '9+' is no Int64"),
        ("low", "5000", r"field 'low': constant 'map_ns': 5000 must be at least 1"),
        ("high", "2", r"field 'high': constant 'map_ns': 2 must be at least the value"),
        ("name", "map_us", r"field 'name': constant 'map_us': it is unknown"),
        ("name", "slot_ns", r"field 'name': constant 'slot_ns': it is given twice"),
        ("unit", "us", r"field 'unit': constant 'map_ns': 'us' is not the unit"),
        ("source", "who knows", r"field 'source': constant 'map_ns': start it with"),
    ],
)
def test_a_bad_cost_is_named_with_its_line(
    tmp_path: Path, field: str, text: str, message: str
) -> None:
    """A file with a cost that does not fit is refused with file, line and name."""
    with (data_root() / "costs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    next(row for row in rows if row["name"] == "map_ns")[field] = text
    with (tmp_path / "costs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(InputError, match=rf"costs.csv, line \d+, {message}"):
        costs(tmp_path)


def test_a_cost_too_large_for_its_column_is_refused(tmp_path: Path) -> None:
    """The error is one line with the name of the file."""
    text = (data_root() / "costs.csv").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("map_ns,"))
    name, value, rest = row.split(",", 2)
    large = text.replace(row, f"{name},{value}{'0' * 30},{rest}")
    (tmp_path / "costs.csv").write_text(large, encoding="utf-8")
    with pytest.raises(InputError, match=r"costs\.csv: cannot be read as a table") as caught:
        costs(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_table_is_checked_as_a_file_is() -> None:
    """A missing cost, and a bad one by its row, are named; rows may stand in any order."""
    with pytest.raises(InputError, match="constant 'tree_ns' is missing"):
        run(MachineConfig(writers=1), costs().filter(pl.col("name") != "tree_ns"))
    value = pl.when(pl.col("name") == "lru_page_ns").then(0).otherwise("value")
    with pytest.raises(InputError, match="constant 'lru_page_ns' in row 27: 0 is"):
        run(MachineConfig(writers=1), costs().with_columns(value=value))
    assert list(costs_by_name(costs().reverse()).items()) == list(costs_by_name().items())


def test_a_changed_cost_widens_its_range() -> None:
    """change_costs sets values, leaves the others, and refuses invalid ones."""
    changed = change_costs(costs(), {"tree_ns": 5000})
    row = changed.filter(pl.col("name") == "tree_ns").row(0, named=True)
    assert (row["value"], row["high"]) == (5000, 5000)
    assert changed.filter(pl.col("name") != "tree_ns").equals(
        costs().filter(pl.col("name") != "tree_ns")
    )
    with pytest.raises(InputError, match="constant 'tree_us' is unknown"):
        change_costs(costs(), {"tree_us": 5})
    with pytest.raises(InputError, match="constant 'tree_ns' of 0: give"):
        change_costs(costs(), {"tree_ns": 0})
