# SPDX-License-Identifier: GPL-2.0-or-later
"""Each chart is drawn, as a specification and as a picture."""

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import altair as alt
import polars as pl
import pytest
from IPython.core.interactiveshell import InteractiveShell
from PIL import Image

from swapsim import charts, mapping, mglru
from swapsim.charts import MIME
from swapsim.clusters import charts as clusters_charts
from swapsim.errors import InputError
from swapsim.mapping import LOCK_SITES
from swapsim.mglru.replay import chart as mglru_chart
from swapsim.slots import charts as slots_charts

SITES = pl.DataFrame(
    [
        ("4.8", tags, "swap, written", site, 100, 100, 0, 0, 100, 100, 300, 200)
        for tags in (True, False)
        for site in ("add", "delete")
    ],
    schema=LOCK_SITES.schema,
    orient="row",
)
SWEEP = pl.DataFrame(
    [
        (policy, seed, metric, seed / 2)
        for policy in ("shared", "mine")
        for metric in ("lock.moved.add", "run")
        for seed in (1, 2)
    ],
    schema=["policy", "seed", "metric", "value"],
    orient="row",
)
LISTS_OF_CLUSTERS = pl.DataFrame(
    [(rules, seq, 512 * seq, 9 - seq, seq, 0, 3, 2) for rules in ("6.12", "7.3") for seq in (1, 5)],
    schema=["rules", "seq", "in_use", "free", "full", "discard", "nonfull", "frag"],
    orient="row",
)
RUNS = pl.DataFrame(
    [
        (kernel, policy, tasks, label, tasks * k, tasks * k - 1.0, tasks * k + 2.0, f"{policy} {k}")
        for k, kernel in enumerate(("5.8", "7.3"), start=1)
        for policy in ("shared", "percpu", "mine")
        for tasks, label in ((1, "1 task"), (8, "8 tasks"), (64, "many"))
    ],
    schema=["kernel", "policy", "tasks", "label", "gain", "low", "high", "item"],
    orient="row",
).with_columns(published=pl.col("gain") + 1.0)

GENERAL: dict[str, Callable[[], Any]] = {
    "lines": lambda: charts.lines(
        RUNS, "tasks", "gain", "policy", panel="kernel", log="x", zero=True, title="Gain",
        words={"tasks": "tasks", "gain": "gain, %", "policy": "policy"},
    ),
    "lines, ground": lambda: charts.lines(
        RUNS.filter(kernel="5.8", policy="shared"), "tasks", "gain", log="x", figures=".0f",
        band=(2.0, 5.0), rule=3.0,
    ),
    "lines, each its own axis": lambda: charts.lines(
        RUNS, "tasks", "gain", "policy", panel="kernel", own_axes=True, rule=3.0,
        words={"gain": "gain by {}, %"},
    ),
    "lines, names": lambda: charts.lines(
        RUNS.filter(kernel="7.3"), "label", "gain", "policy", log="y", format="~s"
    ),
    "dots": lambda: charts.dots(
        RUNS.filter(tasks=8), "gain", "policy", "kernel", zero=True, apart=True,
    ),
    "dots, panels": lambda: charts.dots(
        RUNS.filter(tasks=8), "gain", "policy", panel="kernel", own_axes=True, columns=1
    ),
    "bars": lambda: charts.bars(
        RUNS.filter(kernel="5.8").with_columns(gain=-pl.col("gain")), "gain", "policy",
        figures=".0f",
    ),
    "bars of parts": lambda: charts.bars(
        RUNS.filter(tasks=8), "gain", "kernel", "policy", colour={"mine": "#111", "shared": "#222",
        "percpu": "#333"},
    ),
    "areas": lambda: charts.areas(RUNS, "tasks", "gain", "policy", panel="kernel"),
    "heat": lambda: charts.heat(
        RUNS.filter(tasks=8), "kernel", "policy", "gain", figures=".0f", words={"gain": "gain, %"}
    ),
    "points": lambda: charts.points(
        RUNS.filter(tasks=8).rename({"low": "gain_low", "high": "gain_high"}), "gain", "published",
        "policy", label="policy",
    ),
}  # fmt: skip


PUBLIC: dict[str, Callable[[], Any]] = {
    "lists_over_time": lambda: clusters_charts.lists_over_time(LISTS_OF_CLUSTERS, title="T"),
    "moves_against_locality": lambda: slots_charts.moves_against_locality(SWEEP, title="T"),
    "why": lambda: mglru_chart(mglru.timeline("generations-6.12-mixed-1", parts=9), title="T"),
    "work_by_site": lambda: mapping.chart(SITES, "nodes", title="T"),
}
"""The public charts of the packages."""


DRAWN = PUBLIC | GENERAL


@cache
def spec_of(name: str) -> dict[str, Any]:
    """Return a chart's Vega-Lite, drawn once for all tests, which only read it."""
    return dict(DRAWN[name]().to_dict())


def test_a_spec_does_not_depend_on_earlier_charts() -> None:
    """Names are the chart's own, not altair's, which count all charts of a process."""
    for name in DRAWN:
        assert not re.search(r'"(param|view)_\d+"', json.dumps(spec_of(name))), name
    assert DRAWN["lines"]().to_dict() == spec_of("lines")


def test_a_notebook_gets_an_interactive_chart_and_a_picture() -> None:
    """The picture, black on white, has the description as its alternative text."""
    charts.use()
    with alt.renderers.enable("swapsim"):
        data, metadata = DRAWN["lines"]()._repr_mimebundle_()
    assert data[MIME]["$schema"].endswith("/v5.json"), "as JupyterLab names its own"
    assert metadata["image/png"]["alt"] == data[MIME]["description"]
    assert {"image/png", "text/plain", MIME} == set(data)


def test_a_chart_has_the_columns_that_it_draws_with_six_digits() -> None:
    """Other columns go: a notebook of more than a megabyte is not shown by code hosts."""
    frame = pl.DataFrame({"x": [1 / 3], "y z": [2], "unused": ["word"]})
    (rows,) = charts.lines(frame, "x", "y z").to_dict()["datasets"].values()
    assert rows == [{"x": 0.333333, "y z": 2}]


def test_a_picture_is_packed_with_a_palette() -> None:
    """A rare colour of a chart stays."""
    frame = pl.DataFrame({"x": range(99), "y": range(99), "who": ["one"] + ["others"] * 98})
    colour = {"one": "#d62728", "others": "#4c78a8"}
    picture = Image.open(
        io.BytesIO(charts.png(charts.points(frame, "x", "y", "who", colour=colour).to_dict()))
    )
    assert picture.mode == "P"
    found = {each for _, each in picture.convert("RGB").getcolors()}
    assert any(abs(r - 0xD6) + abs(g - 0x27) + abs(b - 0x28) < 9 for r, g, b in found)


def test_a_chart_answers() -> None:
    """Marks have tooltips, a legend selects, axes zoom, and there is an alternative text."""
    spec = spec_of("lines")
    assert {each["name"]: each.get("bind") for each in spec["params"]} == {
        "chosen": "legend",
        "moved": "scales",
    }
    assert spec["description"].startswith("Gain. kernel: 5.8, 7.3. tasks: 1 to 64.")
    *_, dot = spec["concat"][0]["layer"]
    assert [tip["title"] for tip in dot["encoding"]["tooltip"]] == [
        "kernel", "tasks", "gain, %", "policy", "from", "to",
    ]  # fmt: skip
    assert dot["encoding"]["opacity"]["condition"][0]["param"] == "chosen"


def test_altair_is_imported_by_the_first_chart() -> None:
    """It takes seconds, which a command without a chart does not wait for."""
    code = "import sys, swapsim.charts; print({'altair', 'vl_convert', 'PIL'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("height", [0, charts.MOST_ROWS + 1])
def test_too_few_or_too_many_rows_are_refused(height: int) -> None:
    """A chart has at least one row, and at most as many as fit."""
    frame = pl.DataFrame({"x": range(height), "y": range(height)})
    with pytest.raises(InputError, match="rows"):
        charts.lines(frame, "x", "y")


def test_a_notebook_shows_figures_with_the_digits_worth_reading() -> None:
    """Four digits of a small figure, whole large ones: `charts.use` says so to IPython."""
    shell = InteractiveShell.instance()
    try:
        shell.run_cell("from swapsim import charts; charts.use(); import polars as pl")
        frame = pl.DataFrame({"ns": [48_520.0, 1 / 3], "pages": [1_234_567, None]})
        shown, _ = shell.display_formatter.format(frame)
        for text in (shown["text/html"], shown["text/plain"]):
            assert all(each in text for each in ("48,520", "0.3333", "1,234,567", "null"))
            assert "0.33333" not in text
            assert "48,520.0" not in text
    finally:
        InteractiveShell.clear_instance()
        pl.Config.restore_defaults()
