# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of generations chooses as the rules do, from a real second of a recording on."""

from itertools import product

import polars as pl
import pytest

from swapsim.ffi import MGLRU_RULES
from swapsim.live import panels
from swapsim.live.description import figures, run
from swapsim.mglru.recording import recording
from swapsim.mglru.replay import chosen as chosen_by_rules

RECORDING, SECOND = "generations-6.12-held-4", 99
REFAULTED = ("avg_refaulted", "refaulted")


def chosen(**turned: object) -> dict[str, bool]:
    """Return for each rule set whether file pages are taken."""
    panel = panels.mglru()
    rows = run(panel, panel.first | {name: str(value) for name, value in turned.items()})
    found = rows.filter(metric="takes file")
    return {rules: bool(value) for rules, value in found.select("rules", "value").rows()}


def test_first_state_is_a_second_of_a_recording() -> None:
    """Rates and swappiness are those of a second of 6.12, rounded, and so is what both choose."""
    rows = recording(RECORDING)
    chosen_by = {each: chosen_by_rules(rows, each)["first"] for each in MGLRU_RULES}
    since = pl.col("t_ns") - pl.col("t_ns").min()
    second = rows.choices.with_columns(**chosen_by).filter(since // 10**9 == SECOND, lruvec=0)

    def pages(each: str, first_tier: int, *names: str) -> int:
        columns = [f"{name}_{each}_{tier}" for name in names for tier in range(first_tier, 4)]
        return int(second.select(pl.sum_horizontal(columns).cast(pl.Int64).sum()).item())

    back = {each: pages(each, 0, *REFAULTED) for each in ("anon", "file")}
    for each in back:
        rate = 100 * back[each] / pages(each, 0, "avg_total", "evicted", "protected")
        assert panels.FIRST[each] == pytest.approx(rate, abs=0.5)
    upper = 100 * pages("file", 1, *REFAULTED) / back["file"]
    assert panels.FIRST["upper"] == pytest.approx(upper, abs=5)
    assert second["swappiness"].unique().to_list() == [panels.FIRST["swappiness"]]
    assert chosen() == {each: (second[each] == "file").all() for each in MGLRU_RULES}
    assert len(set(chosen().values())) == 2


def test_swappiness_at_its_ends_leaves_the_rates_out() -> None:
    """0 and 1 take file pages, 200 anonymous ones, whatever the rates are."""
    for swappiness, file in ((0, True), (1, True), (200, False)):
        for anon, of_file in product((0, 50), (0, 50)):
            found = chosen(swappiness=swappiness, anon=anon, file=of_file)
            assert found == dict.fromkeys(MGLRU_RULES, file)


def test_a_kernel_has_no_result_at_a_swappiness_that_it_refuses() -> None:
    """201 is new in 7.3: the side of 6.12 is empty, and its figures are none."""
    panel = panels.mglru()
    rows = run(panel, panel.first | {"swappiness": "201"})
    assert rows.filter(rules="6.12").select("metric", "value").rows() == [("takes file", None)]
    assert set(rows.filter(rules="7.3", metric="takes file")["value"]) == {0}
    lines = figures(panel, rows)
    assert [line.endswith(": none") for line in lines] == ["6.12" in line for line in lines]


def test_the_margin_says_where_the_choice_turns() -> None:
    """One point below the turn file pages are taken, above it anonymous ones."""
    panel = panels.mglru()
    rows = run(panel, panel.first | {"upper": "0", "swappiness": "60", "anon": "8"})
    turns = dict(rows.filter(metric="turn at the setting").select("rules", "value").rows())
    for rules, turn in turns.items():
        assert 1 < turn < 49
        assert chosen(upper=0, swappiness=60, anon=8, file=int(turn))[rules]
        assert not chosen(upper=0, swappiness=60, anon=8, file=int(turn) + 1)[rules]


def test_only_6_12_takes_the_older_generation() -> None:
    """With an older generation of anonymous pages it takes these, 7.3 goes by the rates."""
    found = chosen(upper=0, swappiness=60, anon=40, file=5, older="of anonymous pages older")
    assert found == {"6.12": False, "7.3": True}


def test_below_the_threshold_file_pages_are_taken() -> None:
    """40 % of 100 evicted file pages are fewer than 64; without a threshold the rates decide."""
    assert chosen(anon=4, file=40, upper=0, evicted=100) == dict.fromkeys(MGLRU_RULES, True)
    without = chosen(anon=4, file=40, upper=0, evicted=100, few=0)
    assert without == dict.fromkeys(MGLRU_RULES, False)
    assert chosen(anon=4, file=40, upper=0) == without
