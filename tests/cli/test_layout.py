# SPDX-License-Identifier: GPL-2.0-or-later
"""A table on the terminal: complete, numbers to the right, with units and suitable digits."""

from typing import Any

import polars as pl
import pytest

from swapsim.cli.tables import cells, laid_out, printable


def test_a_table_as_it_is_printed() -> None:
    """Words left, numbers right, no quotes; units below names; columns of one value at the end."""
    frame = pl.DataFrame(
        {
            "kernel": ["4.8", "4.8"],
            "policy": ["shared", "own_trunks"],
            "holds": [True, None],
            "pages": [34021, 7],
            "a_page": [0.25, 12.5],
        }
    )
    assert laid_out(frame, {"a_page": "us", "pages": ""}).splitlines() == [
        "| policy     | holds | pages | a_page | kernel |",
        "|            |       |       |     us |        |",
        "|------------|-------|-------|--------|--------|",
        "| shared     | yes   | 34021 |   0.25 | 4.8    |",
        "| own_trunks | -     |     7 |  12.50 | 4.8    |",
    ]


def test_one_row_has_the_order_of_the_frame() -> None:
    """With one row no column moves to the end, and without units there is no line for them."""
    line = laid_out(pl.DataFrame({"b": [1], "a": [2]}), {}).splitlines()
    assert line == ["| b | a |", "|---|---|", "| 1 | 2 |"]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([855576.76592, None], ["855577", "-"]),
        ([5.999971, 0.000029], ["6.000   ", "0.000029"]),
        ([1, 2**63 - 1, None], ["1", "9223372036854775807", "-"]),
        (["a", None, ""], ["a", "-", ""]),
        ([["a", "b"], [], None], ["a, b", "none", "-"]),
        (["\x1b[31m", "é"], ["\\x1b[31m", "é"]),
    ],
)
def test_each_value_is_written_plainly(values: list[Any], shown: list[str]) -> None:
    """Numbers that a program can read, a dash for null, and no control characters."""
    assert cells(pl.Series(values)) == shown


def test_a_text_with_control_characters_is_one_line() -> None:
    """A path or the name of a kernel may contain any character."""
    assert printable("a\nb\udcff é\x1b") == "a\\nb\\udcff é\\x1b"


def test_a_large_table_is_complete() -> None:
    """Long words and 100 rows and columns are printed without an ellipsis."""
    wide = pl.DataFrame({f"column_{at}": ["word " * 50] * 100 for at in range(100)})
    printed = laid_out(wide, {})
    assert len(printed.splitlines()) == 102
    assert "…" not in printed
    assert printed.count("column_") == 100
