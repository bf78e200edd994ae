# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of patch C shows the list of notebook 03, and each decision has a column."""

from itertools import product

import polars as pl
import pytest

from swapsim.live import panels
from swapsim.live.description import configs, run
from swapsim.live.models import stall as rows_of


def test_first_state_is_the_list_of_the_notebook() -> None:
    """At the second meeting mmotm writes file pages, and frees one under writeback."""
    panel = panels.stalls()
    found = run(panel, panel.first).pivot("metric", index="rules", values="value")
    written = dict(found.select("rules", "written").iter_rows())
    assert written == {rules: 7 if rules in ("mmotm", "series-1") else 2 for rules in written}
    early = found.filter(pl.col("freed_under_writeback") > 0)
    assert early["rules"].to_list() == ["mmotm"]
    assert early["slept"].to_list() == [1]


def test_its_words_name_each_sleep_after_a_list() -> None:
    """No rules but those of the figures sleep there, in any setting of caller and counts."""
    panel = panels.stalls()
    named = {(each.where["rules"], each.where["metric"]) for each in panel.figures}
    callers = next(control.sets for control in panel.controls if control.name == "caller")
    for turned, caller in product(COUNTS, callers):
        rows = run(panel, panel.first | turned | {"caller": caller})
        slept = rows.filter(
            pl.col("metric").is_in(["throttle congestion_wait", "throttle writeback"]),
            pl.col("value") > 0,
        )
        assert set(slept.select("rules", "metric").rows()) <= named


OF_LIST = ("taken", "file_taken")
"""Metrics that are no decision: the pages of the list."""
COUNTS = ({}, {"dirty": "0", "writing_marked": "8"}, {"dirty": "8", "writing": "0"})


@pytest.mark.parametrize("turned", COUNTS, ids=str)
def test_no_decision_is_left_out(turned: dict[str, str]) -> None:
    """Each metric that is not zero in some place has a column in the table."""
    panel = panels.stalls()
    names = ("others", "caller")
    values = {control.name: control.sets for control in panel.controls}
    for chosen in product(*(values[name] for name in names)):
        setting = panel.first | turned | dict(zip(names, chosen, strict=True))
        ((_, config),) = configs(panel, setting, 1)
        rows = rows_of(config).filter(pl.col("value") > 0, meeting=2)
        assert {*rows["metric"]} <= {*panel.columns["metric"], *OF_LIST}
