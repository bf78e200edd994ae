# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of patch A's mail, simulated, stands beside the published one."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.tables import RESULTS
from swapsim.errors import InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.run import run
from swapsim.patches import writeback_tags as patch
from swapsim.patches.writeback_tags import prediction


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watch for a short time: what is tested here is the table, not its figures."""

    def brief(**fields: Any) -> MachineConfig:
        usual = patch.machine(**fields)
        return replace(usual, frames=2**13, slots=2**17, duration_ns=10_000_000)

    monkeypatch.setattr(prediction, "machine", brief)


def simulated(results: pl.DataFrame) -> pl.DataFrame:
    """Return the claims of a patch that a result belongs to."""
    table = claims.three_columns(claims.published_claims(), results, claims.tolerances())
    return table.filter(pl.col("patch") == patch.PATCH, pl.col("simulated").is_not_null())


def test_each_figure_of_patch_a_meets_its_claim() -> None:
    """Two rates and four lock rows, from base to base+patch."""
    results = patch.predict(costs(), [1, 2])
    assert results.schema == RESULTS.schema
    assert results.height == 2 * 2 * 6
    found = simulated(results)
    assert {
        "A-throughput",
        "A-swap-out",
        "A-lock-add",
        "A-lock-remove",
        "A-lock-start-writeback",
        "A-lock-end-writeback",
    } <= set(found["claim"])
    falls = found.filter(pl.col("claim").str.ends_with("writeback"))
    assert falls["simulated"].to_list() == pytest.approx([-100.0, -100.0])


def test_no_seed_is_refused() -> None:
    """Nothing to run is one line."""
    with pytest.raises(InputError, match="field 'seeds': nothing to run"):
        patch.predict(costs(), [])


def test_runs_of_both_kernels_are_those_of_the_machine() -> None:
    """One whole run under each kernel's name."""
    ran = patch.runs(costs(), seed=3)
    assert list(ran) == ["base", "base+patch"]
    for tags, found in zip((True, False), ran.values(), strict=True):
        assert found.equals(run(prediction.machine(tags=tags, seed=3), costs()))
