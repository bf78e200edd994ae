# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of patch D's mails, simulated, stand beside the published ones."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.tables import RESULTS
from swapsim.errors import ConfigError, InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.run import run
from swapsim.patches import cluster_next as patch
from swapsim.patches.cluster_next import fitting, prediction


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watch for a short time: what is tested here is the table, not its figures."""

    def brief(**fields: Any) -> MachineConfig:
        usual = patch.machine(**fields)
        small = {"frames": 3 * 2**12, "pages": 2**12, "slots": 2**16}
        return replace(usual, **small, duration_ns=10_000_000)

    monkeypatch.setattr(prediction, "machine", brief)


def simulated(results: pl.DataFrame) -> pl.DataFrame:
    """Return the claims of a patch that a result belongs to."""
    table = claims.three_columns(claims.published_claims(), results, claims.tolerances())
    return table.filter(pl.col("patch") == patch.PATCH, pl.col("simulated").is_not_null())


def test_each_figure_of_patch_d_meets_its_claim() -> None:
    """The score, two throughputs and the lock rows, from before to after."""
    results = patch.predict(costs(), [1])
    assert results.height == 2 * (3 + len(fitting.VERSIONS["V1"].rows))
    found = set(simulated(results)["claim"])
    assert {"D-lock-add", "D-lock-charge", "D-lock-free-entries"} <= found
    assert {"D-prose-score", "D-prose-swap-in", "D-prose-swap-out"} <= found


def test_the_third_mail_has_its_own_kernels_rows_and_policy() -> None:
    """V3 is the merged policy on 5.8, and meets the claims of V3's table."""
    rows = fitting.VERSIONS["V3"].rows
    results = patch.predict(costs(), [1], version="V3")
    assert results.schema == RESULTS.schema
    assert results.height == 2 * (3 + len(rows))
    kernels = results.select("kernel", "policy").unique(maintain_order=True).rows()
    assert kernels == [("v3 before", "shared"), ("v3 after", "percpu-rerandomise")]
    assert set(rows) < set(results["metric"])
    config = prediction.machine(policy="shared", kernel="5.8", gigabytes=prediction.TABLE_GIGABYTES)
    base = dict(run(config).select("metric", "value").iter_rows())
    for row, sites in rows.items():
        cell = results.filter(kernel="v3 before", metric=row)
        assert cell["value"].item() == sum(base[f"cycles.{site}"] for site in sites)
    assert set(simulated(results)["claim"]) == {
        "D3-lock-cgroup-record",
        "D3-lock-free-entries",
        "D3-lock-shrink-inactive",
        "D3-prose-score",
        "D3-prose-swap-in",
        "D3-prose-swap-out",
    }


def test_the_patched_kernel_may_have_another_policy() -> None:
    """The base stays shared, and only the patched kernel's rows change."""
    usual = patch.predict(costs(), [1])
    other = patch.predict(costs(), [1], policy="avoid")
    for kernel, policy, same in (("before", "shared", True), ("after", "avoid", False)):
        sides = [results.filter(kernel=kernel) for results in (usual, other)]
        assert sides[1]["policy"].unique().to_list() == [policy]
        assert sides[0]["value"].equals(sides[1]["value"]) is same


def test_what_cannot_be_simulated_is_named() -> None:
    """An unknown version and no seed are one line each."""
    with pytest.raises(ConfigError, match="version='V2': choose one of V1, V3"):
        patch.predict(costs(), [1], version="V2")
    with pytest.raises(InputError, match="field 'seeds': nothing to run"):
        patch.predict(costs(), [])


def test_runs_of_policies_are_those_of_the_machine() -> None:
    """One whole run under each policy's name."""
    ran = patch.runs(costs(), ["shared", "spread"], seed=3)
    assert list(ran) == ["shared", "spread"]
    for policy in ("shared", "spread"):
        config = prediction.machine(policy=policy, seed=3, gigabytes=prediction.TABLE_GIGABYTES)
        assert ran[policy].equals(run(config))
