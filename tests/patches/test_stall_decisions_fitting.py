# SPDX-License-Identifier: GPL-2.0-or-later
"""The world's constants are fitted to 3.9's column at 0M and 4055M, within their ranges."""

from collections.abc import Mapping

import polars as pl
import pytest

from swapsim import claims, reclaim
from swapsim.patches.stall_decisions import fitting, studies

RANGES = {
    row["name"]: (row["low"], row["value"], row["high"])
    for row in reclaim.constants().iter_rows(named=True)
}


def test_no_other_column_or_size_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 3.9's cells of 0M and 4055M alone the targets are the same."""
    printed = claims.published_tables()
    seen = printed.filter(
        pl.col("kernel") == "vanilla", pl.col("metric").str.contains("-0M$|-4055M$")
    )
    monkeypatch.setattr(claims, "published_tables", lambda: seen)
    assert fitting.wanted() == {
        "Ops memcachetest-0M": 23117,
        "Ops memcachetest-4055M": 4104,
        "Ops io-duration-4055M": 160,
        "Ops majorfaults-4055M": 21357,
    }


def test_the_search_finds_what_meets_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures that each follow one constant lead to it; one out of reach, to the range's end."""
    rows = list(fitting.FREE.values())

    def figures(constants: Mapping[str, int]) -> dict[str, float]:
        delay, rate, seek = (constants[name] for name in fitting.FREE)
        return {
            rows[0]: 4104 * (20_000 / delay) ** 0.5,
            rows[1]: 160 * (30_000 / rate) * (seek / 3_000_000) ** 0.1,
            rows[2]: 21357 * (9_000_000 / seek),
        }

    monkeypatch.setattr(fitting, "figures", figures)
    found = fitting.search()
    assert found["write_delay_ms"] == pytest.approx(20_000, rel=0.02)
    assert found["disk_rate"] == pytest.approx(30_000 * (5 / 3) ** 0.1, rel=0.02)
    assert found["seek_near_ns"] == 5_000_000


def test_what_was_found_stands_in_the_constants() -> None:
    """The stored fit is that of data/world.csv, each constant in its range, no figure far off."""
    rows = pl.read_parquet(studies.fitted.path)
    found = fitting.constants_of(rows)
    assert set(found) == set(fitting.FREE)
    for name, value in found.items():
        low, stands, high = RANGES[name]
        assert low <= value == stands <= high
    missed = fitting.residuals_of(rows)
    assert missed["target"].to_list() == list(fitting.TARGETS)
    assert missed["off_percent"].abs().max() < 20  # type: ignore[operator]
