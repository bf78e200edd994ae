# SPDX-License-Identifier: GPL-2.0-or-later
"""The declarations of all tables: complete, and named after their constants."""

from importlib import import_module

import polars as pl
import pytest

from swapsim.frames import glossary
from swapsim.frames.table import BY_ROW, Column, Table, Vocabulary
from swapsim.study.tables import CONSTANTS

TABLES = {table.name: table for group in glossary.groups() for table in group.tables}


def test_a_declaration_is_bound_to_its_name() -> None:
    """Each table has the name of its constant, metrics with their package's; all differ."""
    names = []
    for group in glossary.groups():
        module = import_module(f"swapsim.{group.name}")
        for each in (*group.tables, *group.vocabularies):
            package, _, name = each.name.rpartition(".")
            assert group.name.startswith(package)
            assert package or getattr(module, name) is each
            names.append(each.name)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", TABLES)
def test_columns_of_a_table_have_different_meanings(name: str) -> None:
    """Each column of a table has a meaning of its own."""
    meanings = [column.meaning for column in TABLES[name].columns]
    assert len(meanings) == len(set(meanings))


def test_a_column_is_found_by_its_name() -> None:
    """A table returns the declaration of each of its columns."""
    assert "machine.h" in CONSTANTS["name"].meaning
    with pytest.raises(KeyError):
        CONSTANTS["tide"]


def test_an_incomplete_declaration_is_refused() -> None:
    """A column without a meaning or a unit, or a table without one, is an error at import."""
    with pytest.raises(ValueError, match="column a: its meaning is empty"):
        Column("a", pl.String, "")
    with pytest.raises(ValueError, match="column a: has no unit"):
        Column("a", pl.Float64, "a figure")
    with pytest.raises(ValueError, match="vocabulary V: its meaning is empty"):
        Vocabulary("V", "", ("a",))
    figure = Column("a", pl.Float64, "a figure", BY_ROW)
    with pytest.raises(ValueError, match="table T: the meaning of a row is empty"):
        Table("T", "", figure)
    with pytest.raises(ValueError, match="table T: has a column twice"):
        Table("T", "One row.", Column("b", pl.String, "a word"), figure, figure)
    with pytest.raises(ValueError, match="no column of words says the unit"):
        Table("T", "One row.", figure)
