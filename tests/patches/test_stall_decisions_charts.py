# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch C draws: the rules as a table, and the frames behind its other pictures."""

from typing import Any

import polars as pl
from oracle_stall_recording import RULES
from test_verify import kernel, rows_of

from swapsim.charts import colours
from swapsim.ffi import RECLAIM_WHERE
from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions import notebook_03, notebook_03b
from swapsim.stall import decided_lists

SPANS = pl.DataFrame(
    [
        ("flag", ["3.9", "mmotm"], "-", "3.9"),
        ("flag", ["series-1"], "unqueued = all,\nby kswapd", "the series"),
        ("sleep", ["3.9", "mmotm", "series-1"], "never", "3.9"),
    ],
    schema=["decision", "rules", "text", "since"],
    orient="row",
)
PAIRS = pl.DataFrame(
    [("3.9", "mmotm", 1000, 99.99), ("3.9", "series-1", 1000, 40.0)],
    schema=["one", "other", "lists", "decisions"],
    orient="row",
)
STEPS = pl.DataFrame(
    [("scanned", "series-1", "either", "+10 %"), ("scanned", "series-2", "falls", "-91 %")],
    schema=["metric", "policy", "seen", "text"],
    orient="row",
)


def data_of(chart: Any) -> list[dict[str, Any]]:
    """Return all rows of a chart's data."""
    return [row for rows in chart.to_dict(validate=False)["datasets"].values() for row in rows]


def test_a_rule_is_a_bar_over_the_rule_sets_that_have_it() -> None:
    """Its words in as many lines as fit it."""
    found = data_of(patch.charts.rules_table(SPANS, title="t"))
    rows = [row for row in found if row.get("decision") == "flag"]
    assert [
        (round(row["left"]), round(row["right"]), row["written"].count("\n")) for row in rows
    ] == [(0, 2, 0), (2, 3, 2)]
    for row in rows:
        letters = max(map(len, row["written"].split("\n")))
        assert letters * 5 <= 64 * (row["right"] - row["left"])
    assert [row["name"] for row in found if "name" in row] == ["3.9", "mmotm", "series-1"]


def test_a_pair_that_is_not_alike_throughout_is_not_called_100() -> None:
    """99.99 % is drawn as 99."""
    rows = data_of(patch.charts.agreement(PAIRS, "a trace"))
    assert [row["decisions"] for row in rows] == [99, 40]


def test_each_rule_set_has_its_stretch_of_lists() -> None:
    """Of a generated recording."""
    decided = decided_lists(rows_of(kernel("6.1", 5, cpus=1, steps=300)))
    assert notebook_03.stretch(decided, 20)["rules"].n_unique() == len(RULES)


def test_what_a_round_shows_has_its_colours() -> None:
    """Each state of a page, zone and sleeper; the notebooks' cells draw all other pictures."""
    by_time = patch.studies.by_time.load()
    parts = [row.get("part") for each in notebook_03b.over_time(by_time) for row in data_of(each)]
    assert {*colours.HOLDERS, *colours.ZONES, *colours.SLEEPERS} <= set(parts)
    states = data_of(notebook_03b.page_states(patch.studies.page_spans.load()))
    assert {row["where"] for row in states} <= set(colours.WHERE) == set(RECLAIM_WHERE)
