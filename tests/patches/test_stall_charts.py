# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of stall decisions draw what their frames hold, and refuse other frames."""

from typing import Any

import polars as pl
import pytest

from swapsim.charts import colours
from swapsim.charts.colours import OUTCOMES
from swapsim.claims.tables import MEDIANS_BY_SIZE, PAIRED
from swapsim.errors import InputError
from swapsim.patches.stall_decisions import charts as patch_charts
from swapsim.patches.stall_decisions.tables import PROCESSED_PAGES, RULE_SPANS, STALL_AGREEMENT
from swapsim.stall.tables import DECIDED_LISTS

SPANS = pl.DataFrame(
    [
        ("flag", ["3.9", "mmotm"], "-", "3.9"),
        ("flag", ["series-1"], "unqueued = all,\nby kswapd", "the series"),
        ("sleep", ["3.9", "mmotm", "series-1"], "never", "3.9"),
    ],
    schema=RULE_SPANS.schema,
    orient="row",
)
PAGES = pl.DataFrame(
    [
        (1, "mmotm", 1, "dirty", "kept: dirty"),
        (1, "mmotm", 2, "writing marked", "freed under writeback"),
        (1, "series-1", 1, "dirty", "kept: dirty"),
        (1, "series-1", 2, "writing marked", "kept: slept for"),
    ],
    schema=PROCESSED_PAGES.schema,
    orient="row",
)
MEDIANS = pl.DataFrame(
    [
        (size, "p", "measured", "6.1", rules, 1, "scanned", "pages", 5, 9.0, 8.0, 11.0)
        for rules in ("mmotm", "series-1")
        for size in ("0", "2.84")
    ],
    schema=MEDIANS_BY_SIZE.schema,
    orient="row",
)
STEPS = pl.DataFrame(
    [
        ("scanned", "pages", "mmotm", "series-1", 5, 10.0, 11.0, -1.0, 3.0, "either"),
        ("scanned", "pages", "series-1", "series-2", 5, 11.0, 1.0, -12.0, -8.0, "falls"),
        ("slept", "s", "mmotm", "series-1", 5, 0.0, 0.0, 0.0, 0.0, "either"),
        ("slept", "s", "series-1", "series-2", 5, 0.0, 12.4, 2.0, 13.0, "rises"),
    ],
    schema=PAIRED.schema,
    orient="row",
)


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all rows of a chart's data."""
    return [row for rows in spec["datasets"].values() for row in rows]


def test_a_rule_is_a_bar_over_the_rule_sets_that_have_it() -> None:
    """Its words in as many lines as fit it."""
    spec = patch_charts.rules_table(SPANS, title="t").to_dict()
    rows = [row for row in rows_of(spec) if row.get("decision") == "flag"]
    assert [
        (round(row["left"]), round(row["right"]), row["written"].count("\n")) for row in rows
    ] == [(0, 2, 0), (2, 3, 2)]
    for row in rows:
        letters = max(map(len, row["written"].split("\n")))
        assert letters * 5 <= 64 * (row["right"] - row["left"])
    heads = [row["name"] for row in rows_of(spec) if "name" in row]
    assert heads == ["3.9", "mmotm", "series-1"]


def test_a_page_has_a_cell_for_each_rule_set() -> None:
    """What must not happen is red; only fates that occur are in the key."""
    spec = patch_charts.pages_by_rules(PAGES, title="t").to_dict()
    (row,) = (row for row in rows_of(spec) if (row["place"], row["rules"]) == (2, "mmotm"))
    assert (row["page"], row["outcome"]) == ("writing marked", "freed under writeback")
    scale = spec["encoding"]["color"]["scale"]
    assert scale["domain"] == ["freed under writeback", "kept: slept for", "kept: dirty"]
    assert scale["range"][0] == OUTCOMES["freed under writeback"]
    assert spec["encoding"]["x"]["sort"] == ["mmotm", "series-1"]


def test_figures_along_the_rule_sets_have_a_panel_a_metric() -> None:
    """A line a size, with its interval; the rule sets in their order."""
    spec = patch_charts.along_rules(MEDIANS, {"scanned": "pages scanned"}, title="t").to_dict()
    (panel,) = spec["concat"]
    assert panel["title"]["text"] == "pages scanned"
    assert panel["layer"][0]["encoding"]["x"]["sort"] == ["mmotm", "series-1"]
    row = {"policy": "mmotm", "size": "2.84", "median": 9.0, "low": 8.0, "high": 11.0}
    assert row in rows_of(spec)


def test_a_step_shows_its_change_in_percent_or_from_nothing_its_figure() -> None:
    """Coloured where the rounds have one sign."""
    rows = rows_of(patch_charts.by_patch(STEPS, title="t").to_dict())
    cells = {(row["metric"], row["policy"]): (row["seen"], row["text"]) for row in rows}
    assert cells == {
        ("scanned", "series-1"): ("may fall or rise", "+10 %"),
        ("scanned", "series-2"): ("falls", "-91 %"),
        ("slept", "series-1"): ("may fall or rise", "0"),
        ("slept", "series-2"): ("rises", "+12"),
    }


def test_a_pair_that_is_not_alike_throughout_is_not_called_100() -> None:
    """Rule sets stand in order of age."""
    pairs = pl.DataFrame(
        [("3.9", "mmotm", 1000, 0.5, 0.9999, 1.0, 1.0)], schema=STALL_AGREEMENT.schema, orient="row"
    )
    spec = patch_charts.agreement(pairs, "flags", title="t").to_dict()
    assert rows_of(spec) == [{"one": "3.9", "other": "mmotm", "percent": 99}]


def test_a_stretch_has_a_bar_for_each_list_by_what_is_decided_after_it() -> None:
    """The longest sleep counts."""
    lists = [(True, True, 3), (False, True, 3), (False, False, 2), (False, False, 0)]
    rows = [
        {"rules": "mmotm", "nth": nth, "forced": forced, "waits": waits, "flags_set": flags}
        for nth, (forced, waits, flags) in enumerate(lists)
    ]
    spec = patch_charts.stretch(
        pl.DataFrame(rows, schema=DECIDED_LISTS.schema), title="t"
    ).to_dict()
    assert [row["decision"] for row in rows_of(spec)] == list(colours.STALLS)


def test_other_frames_are_refused() -> None:
    """Each chart names the table that it was not given."""
    with pytest.raises(InputError, match="RULE_SPANS"):
        patch_charts.rules_table(PAGES, title="t")
    with pytest.raises(InputError, match="PROCESSED_PAGES"):
        patch_charts.pages_by_rules(SPANS, title="t")
    with pytest.raises(InputError, match="MEDIANS_BY_SIZE"):
        patch_charts.along_rules(STEPS, {}, title="t")
    with pytest.raises(InputError, match="PAIRED"):
        patch_charts.by_patch(MEDIANS, title="t")
    with pytest.raises(InputError, match="STALL_AGREEMENT"):
        patch_charts.agreement(STEPS, "flags", title="t")
    with pytest.raises(InputError, match="DECIDED_LISTS"):
        patch_charts.stretch(STEPS, title="t")
