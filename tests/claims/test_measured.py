# SPDX-License-Identifier: GPL-2.0-or-later
"""RESULTS are rows with labels; rounds of a real kernel give medians with intervals, and ranks."""

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.tables import MEDIANS, RESULTS
from swapsim.errors import InputError
from swapsim.io import paths


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
    row = claims.medians(rounds(shared=[5.0, 1.0, 4.0, 2.0, 9.0, 3.0, 6.0])).row(0, named=True)
    assert row["rounds"] == 7
    assert row["median"] == 4.0
    assert 1.0 <= row["low"] < 4.0 < row["high"] <= 9.0


def test_one_round_or_equal_rounds_have_a_point_for_interval() -> None:
    """Equal values need no bootstrap."""
    for values in ([2.5], [2.5, 2.5, 2.5]):
        row = claims.medians(rounds(shared=values)).row(0, named=True)
        assert (row["low"], row["high"]) == (2.5, 2.5)


def test_the_best_has_rank_one_whichever_end_is_better() -> None:
    """The best policy is first, and its rank is 1."""
    medians = claims.medians(rounds(slow=[1.0] * 5, fast=[9.0] * 5, middle=[4.0] * 5))
    for better, order in (
        ("lower", ["slow", "middle", "fast"]),
        ("higher", ["fast", "middle", "slow"]),
    ):
        ranked = claims.ranks(medians, "bounces", better=better)
        assert ranked["policy"].to_list() == order
        assert ranked["rank"].to_list() == ["1", "2", "3"]
    with pytest.raises(InputError, match="choose lower or higher"):
        claims.ranks(medians, "bounces", better="neither")


def test_bad_input_is_named() -> None:
    """An unknown experiment, metric or confidence, or another table, is refused in one line."""
    frame = rounds(shared=[1.0])
    with pytest.raises(InputError, match="no such experiment"):
        claims.measured_results("unknown")
    with pytest.raises(InputError, match="no such metric"):
        claims.ranks(claims.medians(frame), "waits")
    with pytest.raises(InputError, match="confidence"):
        claims.medians(frame, confidence=1.0)
    with pytest.raises(InputError, match="no such column"):
        claims.medians(frame.drop("seed"))


def test_each_measurement_has_its_provenance() -> None:
    """Command, date, kernel, switches and sources are stored with every result."""
    shipped = paths.shipped_measurements()
    assert "writeback-tags" in shipped
    for name in shipped:
        assert claims.measured_results(name)["source"].unique().to_list() == ["measured"]
        stored = claims.measured_provenance(name)
        assert {"command", "date", "emulator", "host"} <= set(stored["measured"])
        kernels = stored["kernel"]
        varies = stored["experiment"]["varies"]
        if varies == "stock kernel":  # it is the distribution's, without switches of ours
            for kernel in kernels.values():
                assert {"package", "package_version", "cluster_size"} <= set(kernel)
            continue
        assert ("trunk_shift" in kernels) == (varies != "kernel")
        for kernel in kernels.values() if varies == "kernel" else [kernels]:
            assert {"package_version", "configuration", "cluster_size"} <= set(kernel)
        switches = ("swap_tags", "swap_base", "batched_removal", "reclaim_rules", "kernel")
        assert varies in switches
        # 6.1 has the patches' switches, a newer kernel only names of its locks.
        ours = "switch.cocci" if varies != "kernel" or "6.1" in kernels else ".cocci"
        assert any(path.endswith(ours) for path in stored["sources"])


def medians(values: dict[tuple[str, str], float]) -> pl.DataFrame:
    """Return MEDIANS by hand: (policy, metric) -> its median, with a tenth to either side."""
    rows = [
        ("p", "measured", "6.1", policy, 8, metric, "1", 5, value, 0.9 * value, 1.1 * value)
        for (policy, metric), value in values.items()
    ]
    return pl.DataFrame(rows, schema=MEDIANS.schema, orient="row")


def test_medians_stand_side_by_side_as_text() -> None:
    """Metrics in the requested order, a column per policy, three digits, large ones as integers."""
    table = claims.side_by_side(
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
    with pytest.raises(InputError, match="field 'metric': no such metric: 'tides'"):
        claims.side_by_side(medians({("shared", "waits"): 1.0}), ["waits", "tides"])
    with pytest.raises(InputError, match="MEDIANS"):
        claims.side_by_side(rounds(shared=[1.0]), ["bounces"])


LABELS = {"patch": "p", "kernel": "6.1", "policy": "on", "n_tasks": 8, "seed": 3}


def test_each_row_has_the_labels_of_its_run() -> None:
    """The source is simulated unless a label gives another."""
    frame = claims.results([("waits", 2.5, "%"), ("pages", 7, "page")], LABELS)
    assert frame.schema == RESULTS.schema
    assert frame.row(0) == ("p", "simulated", "6.1", "on", 8, 3, "waits", 2.5, "%")
    assert frame["value"].to_list() == [2.5, 7.0]
    measured = claims.results([("waits", 2.5, "%")], {**LABELS, "source": "measured"})
    assert measured["source"].to_list() == ["measured"]


def test_a_column_of_a_frame_is_not_labelled() -> None:
    """A column of the frame takes precedence over the label of the same name."""
    rows = pl.DataFrame({"policy": ["on", "off"], "metric": "a", "value": [1.0, 2.0], "unit": "1"})
    frame = claims.results(rows, LABELS)
    assert frame["policy"].to_list() == ["on", "off"]
    assert frame["seed"].to_list() == [3, 3]


def test_a_label_that_is_missing_is_named() -> None:
    """Each column needs a value."""
    with pytest.raises(InputError, match="seed"):
        claims.results([("waits", 2.5, "%")], {k: v for k, v in LABELS.items() if k != "seed"})
