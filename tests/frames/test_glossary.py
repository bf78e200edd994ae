# SPDX-License-Identifier: GPL-2.0-or-later
"""Each column of each table is explained where the schemas are written."""

import pytest

from swapsim.frames import glossary

TABLES = {table.name: table for group in glossary.groups() for table in group.tables}


@pytest.mark.parametrize("name", TABLES)
def test_each_column_of_each_table_is_explained(name: str) -> None:
    """A table says what a row is, and its module or the package what each column means."""
    table = TABLES[name]
    assert table.says, f"{name}: a docstring behind it says what a row is"
    unsaid = [column.name for column in table.columns if not column.says]
    assert not unsaid, f"{name}: a line under 'Columns' in its module's docstring for {unsaid}"


def test_a_column_is_asked_for_by_its_table() -> None:
    """What a table's column means there, and nothing for a table that nobody knows."""
    assert "machine.h" in glossary.explained("CONSTANTS")["name"].says
    assert glossary.explained("CONSTANTS")["unit"] == glossary.explained("RESULTS")["unit"]
    assert glossary.explained("TIDES") == {}
