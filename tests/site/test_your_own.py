# SPDX-License-Identifier: GPL-2.0-or-later
"""Notebook 06 is the user's: another trace is set in its first cell."""

from typing import Any

import nbformat
import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.io import data_root, notebooks_root

NOTEBOOK = nbformat.read(notebooks_root() / "06-your-own.ipynb", as_version=4)
CODE = [cell.source for cell in NOTEBOOK.cells if cell.cell_type == "code"]


def run_on(trace: str, cells: int) -> dict[str, Any]:
    """Run the first cells with another trace."""
    names: dict[str, Any] = {"__name__": "your_own", "display": lambda *_: None}
    assert CODE[0].count('"swap-w-seq"') == 1
    for source in CODE[:cells]:
        exec(source.replace('"swap-w-seq"', repr(trace)), names)
    return names


@pytest.mark.parametrize(
    ("trace", "subject"),
    [
        ("removals-small-files", "removal"),
        ("stalls-disk-1", "stall"),
        ("slots-4-shared", "slots"),
        ("clusters-7.3-full-4", "clusters"),
        ("generations-6.12-mixed-1", "mglru"),
    ],
)
def test_it_runs_on_a_trace_of_each_subject(trace: str, subject: str) -> None:
    """A path instead of a name; each replay that it feeds has rows."""
    found = run_on(str(data_root() / "traces" / trace), 2)["found"]
    assert subject in found
    frames = [each if isinstance(each, pl.DataFrame) else each.rows for each in found.values()]
    assert all(frame.height for frame in frames)


def test_a_trace_that_is_none_is_one_line_in_the_first_cell() -> None:
    """What is wrong, and which recordings there are."""
    with pytest.raises(InputError, match="no-such-trace"):
        run_on("no-such-trace", 1)
