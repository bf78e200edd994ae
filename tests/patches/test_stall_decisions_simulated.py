# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the simulator: the mail's tests and the fit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions import fitting, runs
from swapsim.patches.stall_decisions.mail import ELAPSED
from swapsim.patches.stall_decisions.runs import Run, mail_rows
from swapsim.reclaim import constants

SMALL: dict[str, Any] = {
    "constants": {
        "memory_pages": 30_000,
        "dma32_pages": 12_000,
        "other_pages": 1_000,
        "program_pages": 0,
        "cached_pages": 0,
        "min_free_pages": 256,
        "swap_pages": 40_000,
        "pool_pages": 20_000,
        "working_pages": 100,
        "working_interval_ms": 500,
        "gap_ms": 50,
        "start_percent": 0,
        "write_delay_ms": 100,
    },
    "fields": {"serve_ns": 2_000_000_000, "files": (0, 0, 10_000)},
}
ONE_FILE = SMALL | {"fields": SMALL["fields"] | {"files": (10_000,)}}


def test_a_run_has_the_rows_of_the_mail() -> None:
    """Its kernel is the mail's where it has one; every row has a unit; the seed decides."""
    run = Run(rules="mmotm", **SMALL)
    rows = mail_rows(run)
    assert set(rows["kernel"]) == {"mm1-mmotm-20130522"}
    assert set(mail_rows(replace(run, rules="series-2"))["kernel"]) == {"series-2"}
    assert rows["metric"].str.starts_with("disk: ").all()
    units = dict(rows.select("metric", "unit").iter_rows())
    assert units["disk: Ops memcachetest-0M"] == "operations/s"
    assert units["disk: Elapsed"] == "s"
    assert mail_rows(run).equals(rows)
    assert not mail_rows(replace(run, seed=2))["value"].equals(rows["value"])


def test_the_fit_uses_the_cells_that_were_stored_for_it() -> None:
    """They are of mmotm's columns."""
    targets = fitting.fit_targets()
    assert targets.pop(("disk", ELAPSED)) == pytest.approx(1157.0, abs=0.05)
    assert targets == {
        ("disk", "Ops memcachetest-0M"): 22780,
        ("disk", "Ops io-duration-4055M"): 36,
        ("disk", "Kswapd pages reclaimed"): 1172267,
        ("disk", "Kswapd pages scanned"): 8814900,
        ("nfs", "Ops io-duration-4055M"): 100,
    }


def test_the_search_finds_what_meets_the_figures() -> None:
    """Figures that each follow one constant lead to it; one out of reach, to the range's end."""

    def figures(values: Mapping[str, int], target: str) -> dict[str, float]:
        rate = values["disk_rate" if target == "disk" else "server_rate"]
        return {
            "Ops io-duration-4055M": 36 * 30_000 / rate if target == "disk" else 2e6 / rate,
            "Kswapd pages reclaimed": 900_000 + values.get("cached_pages", 0),
            "Kswapd pages scanned": 8_814_900 * (1000 / values.get("redirty_ns", 1)) ** 2,
            ELAPSED: 1057.0 + 5 * (values["gap_ms"] - 10_000) / 1000,
        }

    found = fitting.search(figures)
    assert found["op_ns"] == 43898
    assert found["disk_rate"] == pytest.approx(30_000, rel=0.01)
    assert found["cached_pages"] == pytest.approx(128_000, rel=0.01)
    assert found["redirty_ns"] == pytest.approx(1000, rel=0.03)
    assert found["server_rate"] == pytest.approx(20_000, rel=0.03)
    assert found["gap_ms"] == pytest.approx(30_000, rel=0.01)


def test_the_constants_are_those_of_the_stored_fit() -> None:
    """Each has the value that was found, in its range."""
    rows = pl.read_parquet(patch.studies.fitted.path)
    found = fitting.fitted_constants(rows)
    assert set(found) == {*fitting.FREE, "op_ns", "seek_near_ns", "gap_ms"}
    for row in constants().filter(pl.col("name").is_in(list(found))).to_dicts():
        assert row["low"] <= found[row["name"]] == row["value"] <= row["high"]


def test_a_round_by_time_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is complete at each second; shares are shares."""
    monkeypatch.setattr(runs, "Run", lambda rules, **_: Run(rules=rules, **ONE_FILE))
    found = runs.by_second("3.9")
    kinds = ("free", "active_anon", "inactive_anon", "clean", "dirty", "written")
    total = found.select(pl.sum_horizontal(*kinds)).to_series()
    assert total.max() == 29_000
    assert total.min() >= 29_000 - 4 * 32  # type: ignore[operator]
    for share in ("kswapd_sleeps", "client_waits"):
        assert found[share].is_between(0, 1).all()
