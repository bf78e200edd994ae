# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C: the mail's machine, what is fitted to what, and the columns of the mail's tables."""

from collections.abc import Mapping

import polars as pl
import pytest

from swapsim import published
from swapsim.patches import stall_decisions as patch
from swapsim.reclaim import constants, parallelio

SMALL = {"share": 0.02, "io": (2385,)}


def test_a_run_has_the_rows_of_the_mail() -> None:
    """Its kernel is the mail's where it has one; every row has a unit; the seed decides."""
    point = patch.Point("mmotm")
    rows = patch.mail_rows(point, **SMALL)
    assert set(rows["kernel"]) == {"mm1-mmotm-20130522"}
    assert set(patch.mail_rows(patch.Point("series-2"), **SMALL)["kernel"]) == {"series-2"}
    assert rows["metric"].str.starts_with("disk: ").all()
    units = dict(rows.select("metric", "unit").iter_rows())
    assert units["disk: Kswapd pages scanned"] == "pages"
    assert units["disk: Elapsed"] == "s"
    assert patch.mail_rows(point, **SMALL).equals(rows)
    one, other = (patch.mail_rows(patch.Point("3.9", seed=seed), **SMALL) for seed in (1, 2))
    assert not one["value"].equals(other["value"])


def test_the_fit_uses_the_cells_that_were_stored_for_it() -> None:
    """They are of mmotm's columns."""
    targets = patch.wanted()
    assert targets.pop(patch.TOTAL) == pytest.approx(1157.0, abs=0.05)
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
            patch.ELAPSED: 1057.0 + 5 * (values["gap_ms"] - 10_000) / 1000,
        }

    found = patch.search(figures)
    assert found["op_ns"] == 43898
    assert found["disk_rate"] == pytest.approx(30_000, rel=0.01)
    assert found["cached_pages"] == pytest.approx(128_000, rel=0.01)
    assert found["redirty_ns"] == pytest.approx(1000, rel=0.03)
    assert found["server_rate"] == pytest.approx(20_000, rel=0.03)
    assert found["gap_ms"] == pytest.approx(30_000, rel=0.01)


def test_the_constants_are_those_of_the_stored_fit() -> None:
    """Each has the value that was found, in its range."""
    rows = pl.read_parquet(patch.fitted.path).filter(pl.col("wanted").is_null())
    found = dict(rows.select("name", "value").iter_rows())
    assert set(found) == {*patch.FITTED, "op_ns", "seek_near_ns", "gap_ms"}
    for row in constants().filter(pl.col("name").is_in(list(found))).to_dicts():
        assert row["low"] <= found[row["name"]] == row["value"] <= row["high"]


def test_memory_is_complete_at_each_second() -> None:
    """Free pages and lists are all of it, but for what three reclaimers have isolated."""
    run = parallelio("3.9", io=[2385], share=0.02)
    lists = ("free", "active_anon", "inactive_anon", "active_file", "inactive_file")
    zones = run.memory.unique(["t_ns", "zone"], keep="last", maintain_order=True)
    held = zones.group_by("t_ns").agg(pl.sum_horizontal(pl.sum(*lists)).alias("pages"))["pages"]
    assert held.max() - held.min() <= 3 * 32  # type: ignore[operator]


def test_rows_of_the_lab_have_the_names_of_the_mail() -> None:
    """Rows by size have the mail's sizes, all others are over all sizes; each is in a table."""
    sides = list(patch.measured())
    for name in ("parallelio", "vmstat", "iostat"):
        printed = set(published.table("C", f"{name}, disk")["metric"])
        own = {side.metric for side in sides if side.table == f"{name}, disk"}
        assert printed & own
    scanned = next(side for side in sides if side.metric == "Kswapd pages scanned")
    assert 100 * (scanned.ratio - 1) == pytest.approx(-76.4, abs=0.05)
    assert (scanned.runs, scanned.fitted) == (9, False)
