# SPDX-License-Identifier: GPL-2.0-or-later
"""RESULTS are rows with labels; rounds of a real kernel give medians with intervals, and ranks."""

from collections.abc import Callable

import polars as pl
import pytest

from swapsim import io
from swapsim.errors import InputError
from swapsim.patches import rounds as over_rounds
from swapsim.patches.rounds import MEDIANS
from swapsim.published import data
from swapsim.published.data import RESULTS


def rounds(**values_of: list[float]) -> pl.DataFrame:
    """Return RESULTS with one row per policy and round."""
    rows = [
        ("04-percpu-cluster-next", "measured", "6.1", policy, 8, seed, "bounces", value, "1")
        for policy, values in values_of.items()
        for seed, value in enumerate(values, 1)
    ]
    return pl.DataFrame(rows, schema=RESULTS.schema, orient="row")


def test_the_median_lies_in_its_interval() -> None:
    """Seven rounds give their median, and an interval within their range around it."""
    row = over_rounds.medians(rounds(shared=[5.0, 1.0, 4.0, 2.0, 9.0, 3.0, 6.0])).row(0, named=True)
    assert row["rounds"] == 7
    assert row["median"] == 4.0
    assert 1.0 <= row["low"] < 4.0 < row["high"] <= 9.0


def test_one_round_or_equal_rounds_have_a_point_for_interval() -> None:
    """Equal values have no spread."""
    for values in ([2.5], [2.5, 2.5, 2.5]):
        row = over_rounds.medians(rounds(shared=values)).row(0, named=True)
        assert (row["low"], row["high"]) == (2.5, 2.5)


def test_the_best_has_rank_one_whichever_end_is_better() -> None:
    """The best policy is first, and its rank is 1."""
    rows = rounds(slow=[1.0] * 5, fast=[9.0] * 5, middle=[4.0] * 5)
    for better, order in (
        ("lower", ["slow", "middle", "fast"]),
        ("higher", ["fast", "middle", "slow"]),
    ):
        ranked = over_rounds.ranks(rows, "bounces", better=better)
        assert ranked["policy"].to_list() == order
        assert ranked["rank"].to_list() == ["1", "2", "3"]


ROUND = rounds(shared=[1.0])


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: data.measured_results("unknown"), "there are"),
        (lambda: over_rounds.ranks(ROUND, "waits"), "'waits'"),
        (lambda: over_rounds.side_by_side(over_rounds.medians(ROUND), ["tides"]), "'tides'"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], remedy: str) -> None:
    """An unknown experiment or metric."""
    with pytest.raises(InputError, match=remedy):
        call()


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


def medians(values: dict[tuple[str, str], float]) -> pl.DataFrame:
    """Return MEDIANS by hand: (policy, metric) -> its median, with a tenth to either side."""
    rows = [
        ("p", "measured", "6.1", policy, 8, metric, "1", 5, value, 0.9 * value, 1.1 * value)
        for (policy, metric), value in values.items()
    ]
    return pl.DataFrame(rows, schema=MEDIANS.schema, orient="row")


def test_medians_stand_side_by_side_as_text() -> None:
    """Metrics in the requested order, a column per policy, three digits, large ones as integers."""
    table = over_rounds.side_by_side(
        medians(
            {
                ("shared", "waits"): 0.123456,
                ("percpu", "waits"): 12.3456,
                ("shared", "pages"): 123456.0,
                ("percpu", "pages"): -2000.0,
                ("shared", "other"): 1.0,
            }
        ),
        ["pages", "waits"],
    )
    assert table.columns == ["metric", "shared", "percpu"]
    assert table.rows() == [
        ("pages", "123,456 [111,110, 135,802]", "-2,000 [-1,800, -2,200]"),
        ("waits", "0.123 [0.111, 0.136]", "12.3 [11.1, 13.6]"),
    ]


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
