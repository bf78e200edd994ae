# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D's mails: each is fitted to its own base column, and its table is simulated."""

import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.tables import RESULTS
from swapsim.errors import ConfigError, InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.fit import Fitted, Target
from swapsim.machine.run import run
from swapsim.machine.tables import FIT
from swapsim.patches import cluster_next as patch
from swapsim.patches.cluster_next import prediction


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the arguments of each fit, which ends without a run."""
    given: dict[str, Any] = {}

    def fit(config: MachineConfig, targets: tuple[Target, ...], start: Any, **more: Any) -> Fitted:
        given.update(config=config, targets=targets, start=start, **more)
        return Fitted(constants=costs(), residuals=pl.DataFrame(schema=FIT.schema), converged=True)

    monkeypatch.setattr(prediction, "fit_machine", fit)
    return given


@pytest.mark.parametrize(
    ("version", "kernel", "swap_out", "lru", "xa_lock"),
    [
        # The base's rows of xa_lock, as printed.
        ("V1", "5.7+scan-more", 2.87, "mem_cgroup_commit_charge", 7.93 + 7.03),
        ("V3", "5.8", 2.99, "shrink_inactive_list", 7.91 + 7.11),
    ],
)
def test_each_mail_is_fitted_to_its_own_base(
    asked: dict[str, Any], version: str, kernel: str, swap_out: float, lru: str, xa_lock: float
) -> None:
    """Kernel, rate and lock rows are the mail's, the device is an eighth, the policy the base's."""
    patch.fit(version=version)
    config, targets = asked["config"], {target.name: target for target in asked["targets"]}
    assert (config.kernel, config.policy, config.slots) == (kernel, "shared", 6 * 2**18)
    assert asked["runs"] > 1
    assert len(asked["start"]) == len(targets) == 3
    assert targets["swap_out"].wanted == pytest.approx(swap_out * 1e9 / 1024)
    assert targets["lru_lock"].metrics == (f"cycles.lru_lock.{lru}",)
    assert targets["xa_lock"].wanted == pytest.approx(xa_lock)
    sites = {metric for target in asked["targets"] for metric in target.metrics}
    ran = run(replace(config, frames=3 * 2**12, pages=2**12, slots=2**16, duration_ns=10_000_000))
    assert sites <= set(ran["metric"])
    assert (config, asked["targets"]) == prediction.to_meet(version)


def test_the_targets_of_v3_do_not_depend_on_its_patched_column(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the base columns alone its targets are the same."""
    patch.fit(version="V3")
    before = asked["targets"]
    base = claims.published_tables().filter(pl.col("kernel") == "v3 before")
    monkeypatch.setattr("swapsim.machine.fit.published_tables", lambda: base)
    patch.fit(version="V3")
    assert asked["targets"] == before


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a small machine for a short time: the tests look at the table, not at its figures."""

    def brief(**fields: Any) -> MachineConfig:
        usual = patch.machine(**fields)
        small = {"frames": 3 * 2**12, "pages": 2**12, "slots": 2**16}
        return replace(usual, **small, duration_ns=10_000_000)

    monkeypatch.setattr(prediction, "machine", brief)


def simulated(results: pl.DataFrame) -> set[str]:
    """Return the claims of the patch that a result belongs to."""
    table = claims.three_columns(claims.published_claims(), results, claims.tolerances())
    mine = table.filter(pl.col("patch") == patch.PATCH, pl.col("simulated").is_not_null())
    return set(mine["claim"])


@pytest.mark.usefixtures("short")
def test_each_figure_of_the_first_mail_meets_its_claim() -> None:
    """The score, two throughputs and the lock rows, from before to after."""
    results = patch.predict(costs(), [1])
    assert results.height == 2 * (3 + len(prediction.VERSIONS["V1"].rows))
    found = simulated(results)
    assert {"D-lock-add", "D-lock-charge", "D-lock-free-entries"} <= found
    assert {"D-prose-score", "D-prose-swap-in", "D-prose-swap-out"} <= found


@pytest.mark.usefixtures("short")
def test_the_third_mail_has_its_own_kernels_rows_and_policy() -> None:
    """V3 is the merged policy on 5.8, and meets the claims of V3's table."""
    rows = prediction.VERSIONS["V3"].rows
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
    locks = {"D3-lock-cgroup-record", "D3-lock-free-entries", "D3-lock-shrink-inactive"}
    assert simulated(results) == locks | {
        *("D3-prose-score", "D3-prose-swap-in", "D3-prose-swap-out")
    }


@pytest.mark.usefixtures("short")
def test_the_patched_kernel_may_have_another_policy() -> None:
    """The base stays shared, and only the patched kernel's rows change."""
    usual = patch.predict(costs(), [1])
    other = patch.predict(costs(), [1], policy="avoid")
    for kernel, policy, same in (("before", "shared", True), ("after", "avoid", False)):
        sides = [results.filter(kernel=kernel) for results in (usual, other)]
        assert sides[1]["policy"].unique().to_list() == [policy]
        assert sides[0]["value"].equals(sides[1]["value"]) is same


def test_what_cannot_be_simulated_is_named() -> None:
    """An unknown version and no seed are one line each; V2 prints the figures of V3."""
    refused = "version='V2': choose one of V1, V3"
    with pytest.raises(ConfigError, match=refused):
        patch.fit(version="V2")
    with pytest.raises(ConfigError, match=refused):
        patch.predict(costs(), [1], version="V2")
    with pytest.raises(InputError, match="field 'seeds': nothing to run"):
        patch.predict(costs(), [])


@pytest.mark.usefixtures("short")
def test_runs_of_policies_are_those_of_the_machine() -> None:
    """One complete run under each policy's name."""
    ran = patch.runs(costs(), ["shared", "spread"], seed=3)
    assert list(ran) == ["shared", "spread"]
    for policy in ("shared", "spread"):
        config = prediction.machine(policy=policy, seed=3, gigabytes=prediction.TABLE_GIGABYTES)
        assert ran[policy].equals(run(config))


def grown_by(percent: float) -> pl.DataFrame:
    """Return RESULTS of both mails in which every profile row grows by so many percent."""
    head = {"patch": patch.PATCH, "policy": "", "n_tasks": 16, "seed": 1}
    frames = []
    for version, prefix in (("V1", "D-lock-"), ("V3", "D3-lock-")):
        mail = prediction.VERSIONS[version]
        mine = claims.published_claims().filter(pl.col("claim").str.starts_with(prefix))
        for kernel, value in ((mail.base, 1.0), (mail.patched, 1 + percent / 100)):
            rows = [(metric, value, "% of cycles") for metric in mine["metric"]]
            frames.append(claims.results(rows, head | {"kernel": kernel}))
    return pl.concat(frames)


def test_two_mails_together_are_the_mean_of_their_quotients() -> None:
    """+3.45 and +42.63 % are +21.5, +11.36 and +78.29 % are +40.9; tolerances shrink too."""
    table = patch.growth_in_both_mails(grown_by(25.0))
    assert table["row"].to_list() == ["free-entries", "shrink-inactive"]
    together = [100 * (math.sqrt(a * b) - 1) for a, b in ((1.0345, 1.4263), (1.1136, 1.7829))]
    assert table["published_together"].to_list() == pytest.approx(together)
    assert [round(value, 1) for value in together] == [21.5, 40.9]
    assert table["tolerance"].to_list() == pytest.approx([18.5 / math.sqrt(2)] * 2)
    assert table["simulated_together"].to_list() == pytest.approx([25.0, 25.0])


@pytest.mark.parametrize(
    ("percent", "agree"), [(30.0, "11"), (22.0, "10"), (50.0, "01"), (60.0, "00")]
)
def test_growth_is_judged_by_both_mails(percent: float, agree: str) -> None:
    """It agrees within 13 points of 21.5 and of 40.9 %; a mail without figures leaves it open."""
    grown = grown_by(percent)
    wanted = [{"1": "agrees", "0": "contradicts"}[each] for each in agree]
    assert patch.growth_in_both_mails(grown)["verdict"].to_list() == wanted
    table = patch.growth_in_both_mails(grown.filter(pl.col("kernel") == "before"))
    assert table["verdict"].to_list() == [None, None]


def test_the_profile_has_its_two_rows_of_the_swap_cache() -> None:
    """The rows that the patch is about, before and after, as printed."""
    rows = {row["waiting_in"]: row for row in patch.profile().iter_rows(named=True)}
    add = rows["add_to_swap_cache.add_to_swap.shrink_page_list"]
    assert (add["before"], add["after"]) == (7.93, 0.53)
    remove = rows["__remove_mapping.shrink_page_list"]
    assert (remove["before"], remove["after"]) == (7.03, None)
