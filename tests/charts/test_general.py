# SPDX-License-Identifier: GPL-2.0-or-later
"""Each general chart is drawn from plain rows, with words, panels and colours of the frame."""

import altair as alt
import polars as pl
import pytest

from swapsim.charts import general, rendered
from swapsim.errors import InputError

RUNS = pl.DataFrame(
    [
        (kernel, policy, tasks, label, tasks * k, tasks * k - 1.0, tasks * k + 2.0, f"{policy} {k}")
        for k, kernel in enumerate(("5.8", "7.3"), start=1)
        for policy in ("shared", "percpu", "mine")
        for tasks, label in ((1, "1 task"), (8, "8 tasks"), (64, "many"))
    ],
    schema=["kernel", "policy", "tasks", "label", "gain", "low", "high", "item"],
    orient="row",
).with_columns(published=pl.col("gain") + 1.0, until=pl.col("tasks") * 2, place=pl.col("tasks"))

CHARTS = {
    "lines": lambda: general.lines(
        RUNS, "tasks", "gain", "policy", panel="kernel", log="x", zero=True, title="Gain",
        words={"tasks": "tasks", "gain": "gain, %", "policy": "policy"},
    ),
    "lines, ticks": lambda: general.lines(
        RUNS.filter(kernel="5.8", policy="shared"), "tasks", "gain", tick="label", log="x",
        figures=".0f", band=(2.0, 5.0), rule=3.0,
    ),
    "lines, names": lambda: general.lines(
        RUNS.filter(kernel="7.3"), "label", "gain", "policy", log="y", format="~s"
    ),
    "dots": lambda: general.dots(
        RUNS.filter(tasks=8), "gain", "policy", "kernel", zero=True, published="published",
        apart=True,
    ),
    "dots, panels": lambda: general.dots(
        RUNS.filter(tasks=8), "gain", "policy", panel="kernel", own_axes=True, columns=1, tight=True
    ),
    "bars": lambda: general.bars(
        RUNS.filter(kernel="5.8").with_columns(gain=-pl.col("gain")), "gain", "policy",
        figures=".0f",
    ),
    "bars of parts": lambda: general.bars(
        RUNS.filter(tasks=8), "gain", "kernel", "policy", colour={"mine": "#111", "shared": "#222",
        "percpu": "#333"},
    ),
    "areas": lambda: general.areas(RUNS, "tasks", "gain", "policy", panel="kernel"),
    "heat": lambda: general.heat(
        RUNS.filter(tasks=8), "kernel", "policy", "gain", figures=".0f", words={"gain": "gain, %"}
    ),
    "heat of kinds": lambda: general.heat(
        RUNS.filter(tasks=8), "kernel", "item", "policy", text="label"
    ),
    "spans": lambda: general.spans(RUNS, "tasks", "until", "policy", "label", panel="kernel"),
    "spans of numbers": lambda: general.spans(RUNS, "tasks", "until", "place", "label"),
    "points": lambda: general.points(
        RUNS.filter(tasks=8).rename({"low": "gain_low", "high": "gain_high"}), "gain", "published",
        "policy", label="policy",
    ),
    "points of names": lambda: general.points(
        RUNS.filter(kernel="5.8"), "gain", "policy", "label", shape="label", log="x", band=(1, 2)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHARTS)
def test_each_general_chart_is_drawn(name: str) -> None:
    """Each chart has its description, tooltips and names, and the renderer draws it."""
    chart = CHARTS[name]()
    spec = chart.to_dict()
    assert len(spec["description"]) > 20
    assert "tooltip" in str(spec)
    assert rendered(chart, ".svg").startswith(b"<svg")


def test_a_panel_for_each_value_in_the_order_of_the_frame() -> None:
    """Panels are called by their values, and share the axis of figures by default."""
    spec = CHARTS["lines"]().to_dict()
    assert [panel["title"]["text"] for panel in spec["concat"]] == ["5.8", "7.3"]
    assert spec["resolve"]["scale"] == {"y": "shared"}
    assert not CHARTS["dots, panels"]().to_dict()["resolve"].get("scale")


def test_policies_have_their_own_colours_everywhere() -> None:
    """A built-in policy has its colour, a user's one of its own."""
    text = str(CHARTS["lines"]().to_dict())
    assert "#a6611a" in text
    assert "#7f7f7f" in text


def test_numbers_have_colours_as_names_do() -> None:
    """The colours of a column of numbers are those of its numbers, so that its lines are drawn."""
    chart = general.lines(RUNS.filter(policy="shared"), "low", "gain", "tasks").to_dict()
    marks = [mark["encoding"].get("color", {}) for mark in chart["concat"][0]["layer"]]
    assert any(mark.get("scale", {}).get("domain") == [1, 8, 64] for mark in marks)


@pytest.mark.parametrize("height", [0, general.MOST_ROWS + 1])
def test_too_few_or_too_many_rows_are_refused(height: int) -> None:
    """A chart has at least one row, and at most as many as fit."""
    frame = pl.DataFrame({"x": range(height), "y": range(height)})
    with pytest.raises(InputError, match="rows"):
        general.lines(frame, "x", "y")


def test_charts_are_plain_altair() -> None:
    """A reader may go on with a chart as altair's own."""
    assert isinstance(CHARTS["bars"](), alt.ConcatChart)
