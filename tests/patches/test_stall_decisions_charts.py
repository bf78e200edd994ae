# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C's charts draw what their frames hold, and refuse other frames."""

from typing import Any

import polars as pl
import pytest

from swapsim.charts import colours
from swapsim.claims.tables import SIMULATED_AND_LAB
from swapsim.errors import InputError
from swapsim.ffi import RECLAIM_WHERE
from swapsim.patches.stall_decisions import charts
from swapsim.patches.stall_decisions.tables import (
    SIMULATED_BY_TIME,
    SIMULATED_CELLS,
    SIMULATED_PAGE_SPANS,
    SIMULATED_WHAT_IF,
)

CELLS = pl.DataFrame(
    [
        ("t", "Ops a", "3.9", 10.0, 5.0, 4.0, 6.0, 0.5, True, False),
        ("t", "Ops a", "mmotm", 10.0, 1e6, 1e6, 1e6, 1e5, False, True),
        ("t", "b", "series-8", 10.0, 0.0, 0.0, 0.0, None, False, True),
        ("t", "b", "mmotm", 10.0, 0.001, 0.0, 0.0, 1e-4, False, True),
    ],
    schema=SIMULATED_CELLS.schema,
    orient="row",
)
SECOND = dict.fromkeys(SIMULATED_BY_TIME.names()[2:], 1) | {"client_waits": 0.5}
BY_TIME = pl.DataFrame(
    [{"rules": rules, "t_s": t, **SECOND} for rules in ("3.9", "mmotm") for t in (1, 2)],
    schema=SIMULATED_BY_TIME.schema,
)
SPANS = pl.DataFrame(
    [
        ("3.9", 700, "untouched", None, 0.0, 1.0),
        ("3.9", 700, "active", "normal", 1.0, 2.5),
        ("3.9", 700, "swapped-out", None, 2.5, 4.0),
        ("3.9", 900, "active", "dma32", 1.0, 4.0),
    ],
    schema=SIMULATED_PAGE_SPANS.schema,
    orient="row",
)
MACHINES = pl.DataFrame(
    [
        (factor, 2.0, "mmotm", seed, "scanned", 10.0 * seed)
        for factor in ("disk", "memory")
        for seed in (1, 2, 3)
    ],
    schema=SIMULATED_WHAT_IF.schema,
    orient="row",
)


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all rows of a chart's data."""
    return [row for rows in spec["datasets"].values() for row in rows]


def test_a_cell_is_a_mark_at_its_quotient() -> None:
    """Far ones are at the edge, fitted ones hollow; those without a quotient are not drawn."""
    rows = rows_of(charts.ratios_to_mail(CELLS, title="t").to_dict())
    assert [(row["row"], row["ratio"], row["kind"]) for row in rows if "row" in row] == [
        ("a", 0.5, "fitted"),
        ("a", 32.0, "above the axis"),
        ("b", 0.0313, "below the axis"),
    ]


def test_time_has_a_row_for_each_question() -> None:
    """The rows are use of memory, scans and waits; there is a column per kernel."""
    spec = charts.over_time(BY_TIME, title="t").to_dict()
    assert len(spec["concat"]) == 3
    columns = {name for row in rows_of(spec) for name in row} - {"rules", "t_s"}
    assert columns == {*colours.HOLDERS, *colours.SLEEPERS, *colours.ZONES}
    assert spec["concat"][0]["facet"]["column"]["sort"] == ["3.9", "mmotm"]


def test_a_page_is_a_strip() -> None:
    """Pages are numbered in their order; a page is not drawn before its first touch."""
    spec = charts.page_states(SPANS, title="t").to_dict()
    drawn = [(row["place"], row["where"], row["begin"], row["end"]) for row in rows_of(spec)]
    assert drawn == [(1, "active", 1, 2.5), (1, "swapped-out", 2.5, 4), (2, "active", 1, 4)]
    assert set(RECLAIM_WHERE) == set(colours.WHERE)


def test_other_machines_have_a_panel_a_factor() -> None:
    """The median, and the least and the greatest seed."""
    spec = charts.by_machine(MACHINES, "scanned", title="t").to_dict()
    assert len(spec["concat"]) == 2
    row = {"factor": "disk", "setting": 2.0, "rules": "mmotm", "value": 20.0}
    assert row | {"low": 10.0, "high": 30.0} in rows_of(spec)


@pytest.mark.parametrize("draw", [charts.ratios_to_mail, charts.over_time, charts.page_states])
def test_another_frame_is_refused(draw: Any) -> None:
    """The schema is named."""
    with pytest.raises(InputError, match="SIMULATED_"):
        draw(MACHINES, title="t")


def test_a_bar_is_the_range_of_open_settings_or_the_interval_of_the_lab() -> None:
    """There is a panel per row of the lab, with two marks per rule set."""
    table = pl.DataFrame(
        [
            (metric, rules, "pages", 5.0, 4.0, 6.0, 1.0, 9.0, 7.0, 6.5, 7.5, 1.4, True)
            for metric in ("a", "b")
            for rules in ("3.9", "mmotm")
        ],
        schema=SIMULATED_AND_LAB.schema,
        orient="row",
    )
    spec = charts.compare_with_lab(table, {"b": "B"}, title="t").to_dict()
    assert len(spec["concat"]) == 1
    rows = rows_of(spec)
    assert {row["policy"] for row in rows} == {"3.9", "mmotm"}
    spans = {row["side"]: (row["low"], row["median"], row["high"]) for row in rows}
    assert spans == {"lab": (6.5, 7.0, 7.5), "simulation": (1.0, 5.0, 9.0)}
    with pytest.raises(InputError):
        charts.compare_with_lab(table.drop("near"), {"b": "B"}, title="t")
