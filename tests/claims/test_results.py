# SPDX-License-Identifier: GPL-2.0-or-later
"""RESULTS are made in one place: rows, and the labels of their run."""

import polars as pl
import pytest

from swapsim.claims import results
from swapsim.claims.tables import RESULTS
from swapsim.errors import InputError

LABELS = {"patch": "p", "kernel": "6.1", "policy": "on", "n_tasks": 8, "seed": 3}


def test_each_row_has_the_labels_of_its_run() -> None:
    """Simulated is what nothing else is said of."""
    frame = results([("waits", 2.5, "%"), ("pages", 7, "page")], LABELS)
    assert frame.schema == RESULTS.schema
    assert frame.row(0) == ("p", "simulated", "6.1", "on", 8, 3, "waits", 2.5, "%")
    assert frame["value"].to_list() == [2.5, 7.0]
    measured = results([("waits", 2.5, "%")], {**LABELS, "source": "measured"})
    assert measured["source"].to_list() == ["measured"]


def test_what_a_frame_says_is_not_labelled() -> None:
    """A column of the rows' own wins over the label of the same name."""
    rows = pl.DataFrame({"policy": ["on", "off"], "metric": "a", "value": [1.0, 2.0], "unit": "1"})
    frame = results(rows, LABELS)
    assert frame["policy"].to_list() == ["on", "off"]
    assert frame["seed"].to_list() == [3, 3]


def test_a_label_that_is_missing_is_named() -> None:
    """Rows of nobody are refused."""
    with pytest.raises(InputError, match="seed"):
        results([("waits", 2.5, "%")], {k: v for k, v in LABELS.items() if k != "seed"})
