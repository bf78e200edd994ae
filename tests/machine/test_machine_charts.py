# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the machine show the rows that they are given, as pictures, and refuse other tables."""

from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl
import pytest

from swapsim import charts
from swapsim.charts.colours import PARTS
from swapsim.errors import InputError
from swapsim.machine import charts as machine_charts
from swapsim.machine.tables import PREDICTED_BY_SHARES, TIME_PER_PAGE, WHAT_IF_RANGES

POINTS = pl.DataFrame(
    [
        (0.1, 0.2, True, 1000, 9000, "c", 20.0, 3.0, 24.0, 124.0),
        (0.5, 0.2, True, 900, 9000, "c", 20.0, 3.0, 30.0, 130.0),
        (0.1, 0.4, True, 800, 9000, "c", 20.0, 3.0, 10.0, 110.0),
        (0.5, 0.4, False, 700, 9000, "c", 20.0, 3.0, 77.0, 177.0),
        (0.1, 0.2, True, 1000, 9000, "other", 50.0, 1.0, 51.0, 151.0),
    ],
    schema=PREDICTED_BY_SHARES.schema,
    orient="row",
)
PAGE = pl.DataFrame(
    [
        (kernel, part, microseconds, microseconds)
        for kernel, microseconds in (("patched", 1.0), ("base", 2.0))
        for part in PARTS
    ],
    schema=TIME_PER_PAGE.schema,
    orient="row",
)
GAINS = pl.DataFrame(
    [
        ("device", 8.0, "8 channels", 1.0, 2.0, 3.0, 9.0, 1.0, False),
        ("device", 16.0, "16 channels", -1.0, 3.0, 4.0, 9.0, 1.0, True),
        ("device", 32.0, "memory", 5.0, 6.0, 7.0, 9.0, 1.0, False),
    ],
    schema=WHAT_IF_RANGES.schema,
    orient="row",
)

MADE: dict[str, Callable[[], alt.TopLevelMixin]] = {
    "claim_along_shares": lambda: machine_charts.claim_along_shares(
        POINTS, "c", title="t", axis="gain, %"
    ),
    "time_per_page": lambda: machine_charts.time_per_page(PAGE, title="t"),
    "gain_along": lambda: machine_charts.gain_along(GAINS, title="t", setting_axis="channels"),
}


def spec(name: str) -> dict[str, Any]:
    """Return a chart's Vega-Lite."""
    return dict(MADE[name]().to_dict())


def data(name: str) -> list[dict[str, Any]]:
    """Return all rows that a chart holds."""
    return [row for rows in spec(name)["datasets"].values() for row in rows]


@pytest.mark.parametrize("name", MADE)
def test_each_chart_becomes_a_picture(name: str) -> None:
    """The renderer draws it, and its size is that of a chart and not of an empty plane."""
    png = charts.png(spec(name))
    assert png.startswith(b"\x89PNG")
    assert len(png) > 8_000


def test_a_curve_shows_the_fits_that_converged_of_its_claim() -> None:
    """Neither the other claim nor the fit that did not converge is drawn; the band is printed."""
    rows = data("claim_along_shares")
    drawn = [row["simulated"] for row in rows if "simulated" in row]
    assert sorted(drawn) == [10.0, 24.0, 30.0]
    assert [row for row in rows if "low" in row] == [{"low": 17.0, "high": 23.0, "published": 20.0}]
    with pytest.raises(InputError, match="field 'claim': no fit that converged has claim 'tides'"):
        machine_charts.claim_along_shares(POINTS, "tides", title="t", axis="a")


def test_bars_stack_the_parts_in_one_order_and_keep_that_of_the_kernels() -> None:
    """Work first, then each lock's two; kernels as they came."""
    rows = data("time_per_page")
    parts = list(PARTS)
    assert {row["part"]: row["order"] for row in rows} == {
        part: at for at, part in enumerate(parts)
    }
    encoding = spec("time_per_page")["encoding"]
    assert encoding["y"]["sort"] == ["patched", "base"]
    assert encoding["color"]["scale"] == {
        "domain": parts,
        "range": list(PARTS.values()),
    }


def test_a_band_and_a_line_follow_the_gains() -> None:
    """Low, middle and high of each setting are drawn; a word is its own tick, off the line."""
    rows = {
        (row["low"], row["middle"], row["high"]) for row in data("gain_along") if "middle" in row
    }
    assert rows == {(1.0, 2.0, 3.0), (-1.0, 3.0, 4.0), (5.0, 6.0, 7.0)}
    joined = [
        layer["data"]["name"]
        for layer in spec("gain_along")["layer"]
        if layer["mark"]["type"] in ("line", "area")
    ]
    for name in joined:
        assert [row["setting"] for row in spec("gain_along")["datasets"][name]] == [8.0, 16.0]
    axes = [
        layer["encoding"]["x"]["axis"]
        for layer in spec("gain_along")["layer"]
        if "x" in layer["encoding"]
    ]
    assert len(axes) == 5
    for axis in axes:
        assert axis["values"] == [8.0, 16.0, 32.0]
        assert "datum.value == 32.0 ? 'memory'" in axis["labelExpr"]
        assert "channels" not in axis["labelExpr"]


def test_each_chart_refuses_another_table() -> None:
    """The schema that is wanted is named."""
    with pytest.raises(InputError, match="PREDICTED_BY_SHARES"):
        machine_charts.claim_along_shares(PAGE, "c", title="t", axis="a")
    with pytest.raises(InputError, match="TIME_PER_PAGE"):
        machine_charts.time_per_page(GAINS, title="t")
    with pytest.raises(InputError, match="WHAT_IF_RANGES"):
        machine_charts.gain_along(POINTS, title="t", setting_axis="a")
