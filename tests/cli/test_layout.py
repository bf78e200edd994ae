# SPDX-License-Identifier: GPL-2.0-or-later
"""A table on the terminal: complete, numbers to the right, with units and suitable digits."""

from typing import Any

import polars as pl
import pytest

from swapsim.cli.layout import cells, laid_out, printable


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([855576.76592, None], ["855577", "-"]),
        ([5.999971, 0.25, 0.000029], ["6.00", "0.25", "0   "]),
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
    printed = laid_out(wide, {}, 1_000_000)
    assert len(printed.splitlines()) == 102
    assert "…" not in printed
    assert printed.count("column_") == 100


@pytest.mark.parametrize("most", [60, 80, 100])
def test_a_wide_table_continues_below_itself(most: int) -> None:
    """Each part fits and begins with the columns that distinguish rows; no value is dropped."""
    frame = pl.DataFrame(
        {"kind": ["a", "a", "b"], "of": ["x", "y", "x"]}
        | {f"column_{at}": [f"v{at}.{row}" for row in range(3)] for at in range(40)}
    )
    parts = laid_out(frame, {"column_7": "us"}, most).split("\n\n")
    lines = [part.splitlines() for part in parts]
    assert len(parts) > 1
    assert max(len(line) for part in lines for line in part) <= most
    assert {part[0].split("column")[0] for part in lines} == {"| kind | of | "}
    assert [len(part) for part in lines].count(6) == 1, "one part has a line of units"
    words = [word for part in parts for word in part.split()]
    for at in range(40):
        assert {f"column_{at}", *(f"v{at}.{row}" for row in range(3))} <= {*words}
        assert words.count(f"v{at}.0") == 1
