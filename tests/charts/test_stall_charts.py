# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of stall decisions draw what their frames hold, and refuse other frames."""

from typing import Any

import polars as pl
import pytest

from swapsim import charts
from swapsim.charts.colours import FATES
from swapsim.errors import InputError
from swapsim.schemas import LED_PAGES, RULE_SPANS

SPANS = pl.DataFrame(
    [
        ("flag", ["3.9", "mmotm"], "-", "3.9"),
        ("flag", ["series-1"], "U = T,\nby kswapd", "the series"),
        ("sleep", ["3.9", "mmotm", "series-1"], "never", "3.9"),
    ],
    schema=RULE_SPANS,
    orient="row",
)
PAGES = pl.DataFrame(
    [
        (1, "mmotm", 1, "dirty", "kept: dirty"),
        (1, "mmotm", 2, "writing marked", "freed under writeback"),
        (1, "series-1", 1, "dirty", "kept: dirty"),
        (1, "series-1", 2, "writing marked", "kept: slept for"),
    ],
    schema=LED_PAGES,
    orient="row",
)


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all rows of a chart's data."""
    return [row for rows in spec["datasets"].values() for row in rows]


def test_a_rule_is_a_bar_over_the_rule_sets_that_have_it() -> None:
    """Its words in one line or two."""
    spec = charts.rules_table(SPANS, title="t").to_dict()
    rows = [row for row in rows_of(spec) if row.get("decision") == "flag"]
    assert [(round(row["left"]), round(row["right"]), row["lines"]) for row in rows] == [
        (0, 2, 1),
        (2, 3, 2),
    ]
    heads = [row["name"] for row in rows_of(spec) if "name" in row]
    assert heads == ["3.9", "mmotm", "series-1"]


def test_a_page_has_a_cell_for_each_rule_set() -> None:
    """What must not happen is red; only fates that occur are in the key."""
    spec = charts.pages_by_rules(PAGES, title="t").to_dict()
    assert {"place": 2, "rules": "mmotm", "fate": "freed under writeback"} in rows_of(spec)
    scale = spec["encoding"]["color"]["scale"]
    assert scale["domain"] == ["freed under writeback", "kept: slept for", "kept: dirty"]
    assert scale["range"][0] == FATES["freed under writeback"]
    assert spec["encoding"]["x"]["sort"] == ["mmotm", "series-1"]


def test_other_frames_are_refused() -> None:
    """Each chart names the table that it was not given."""
    with pytest.raises(InputError, match="RULE_SPANS"):
        charts.rules_table(PAGES, title="t")
    with pytest.raises(InputError, match="LED_PAGES"):
        charts.pages_by_rules(SPANS, title="t")
