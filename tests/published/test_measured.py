# SPDX-License-Identifier: GPL-2.0-or-later
"""RESULTS are rows with labels; an experiment on a real kernel has its provenance."""

import polars as pl
import pytest

from swapsim import io, published
from swapsim.errors import InputError
from swapsim.published import data
from swapsim.published.data import RESULTS


def test_an_unknown_experiment_is_named() -> None:
    """With those that there are."""
    with pytest.raises(InputError, match="there are"):
        published.experiment("unknown")


def test_each_measurement_has_its_provenance() -> None:
    """Command, date, kernel and sources are stored with every result."""
    shipped = io.shipped_measurements()
    assert "writeback-tags" in shipped
    for name in shipped:
        assert data.measured_results(name)["source"].unique().to_list() == ["measured"]
        stored = data.measured_provenance(name)
        assert {"command", "date", "emulator", "host"} <= set(stored["measured"])
        several = stored["experiment"]["varies"] in ("kernel", "stock kernel")
        for kernel in stored["kernel"].values() if several else [stored["kernel"]]:
            assert {"package_version", "cluster_size"} <= set(kernel)
        # A distribution's kernel has no switches of ours.
        if stored["experiment"]["varies"] != "stock kernel":
            assert any(path.endswith(".cocci") for path in stored["sources"])


LABELS = {"patch": "p", "kernel": "6.1", "policy": "on", "n_tasks": 8, "seed": 3}


def test_each_row_has_the_labels_of_its_run() -> None:
    """The source is simulated unless a label gives another."""
    frame = data.results([("waits", 2.5, "%"), ("pages", 7, "page")], LABELS)
    assert frame.schema == RESULTS.schema
    assert frame.row(0) == ("p", "simulated", "6.1", "on", 8, 3, "waits", 2.5, "%")
    assert frame["value"].to_list() == [2.5, 7.0]
    measured = data.results([("waits", 2.5, "%")], {**LABELS, "source": "measured"})
    assert measured["source"].to_list() == ["measured"]


def test_a_column_of_a_frame_is_not_labelled() -> None:
    """A column of the frame takes precedence over the label of the same name."""
    rows = pl.DataFrame({"policy": ["on", "off"], "metric": "a", "value": [1.0, 2.0], "unit": "1"})
    frame = data.results(rows, LABELS)
    assert frame["policy"].to_list() == ["on", "off"]
    assert frame["seed"].to_list() == [3, 3]
