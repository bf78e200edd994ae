# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' tables, simulated, stand beside the published ones."""

from dataclasses import replace

import polars as pl
import pytest

from swapsim import compare, predict, simulate
from swapsim.costs import costs
from swapsim.published import claims, tolerances
from swapsim.schemas import RESULTS

A, D = "01-writeback-tags", "04-percpu-cluster-next"


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watch for a short time: what is tested here are the tables, not the figures."""
    tags, base = simulate.writeback_tags, simulate.cluster_next

    def brief_a(**fields: bool) -> simulate.MachineConfig:
        return replace(tags(**fields), frames=2**13, slots=2**17, duration_ns=10_000_000)

    def brief_d(**fields: str) -> simulate.MachineConfig:
        small = {"frames": 3 * 2**12, "pages": 2**12, "slots": 2**16, "duration_ns": 10_000_000}
        return replace(base(**fields), **small)

    monkeypatch.setattr(simulate, "writeback_tags", brief_a)
    monkeypatch.setattr(simulate, "cluster_next", brief_d)


def simulated(patch: str, results: pl.DataFrame) -> pl.DataFrame:
    """Return the claims of a patch that a result belongs to."""
    table = compare.three_columns(claims(), results, tolerances())
    return table.filter(pl.col("patch") == patch, pl.col("simulated").is_not_null())


def test_each_figure_of_patch_a_meets_its_claim() -> None:
    """Two rates and four lock rows, from base to base+patch."""
    results = predict.writeback_tags(costs(), [1, 2])
    assert results.schema == RESULTS
    assert results.height == 2 * 2 * 6
    found = simulated(A, results)
    assert {
        "A-throughput",
        "A-swap-out",
        "A-lock-add",
        "A-lock-remove",
        "A-lock-start-writeback",
        "A-lock-end-writeback",
    } <= set(found["claim"])
    falls = found.filter(pl.col("claim").str.ends_with("writeback"))
    assert falls["simulated"].to_list() == [-100.0, -100.0]


def test_each_figure_of_patch_d_meets_its_claim() -> None:
    """The score, two throughputs and the lock rows, from before to after."""
    results = predict.cluster_next(costs(), [1])
    assert results.height == 2 * (3 + len(predict.CLUSTER_NEXT_ROWS))
    found = set(simulated(D, results)["claim"])
    assert {"D-lock-add", "D-lock-charge", "D-lock-free-entries"} <= found
    assert {"D-prose-score", "D-prose-swap-in", "D-prose-swap-out"} <= found
