# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D's mails: each is fitted to its own base column, and its table is simulated."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim import published
from swapsim.machine.config import Machine
from swapsim.machine.constants import costs
from swapsim.machine.fitting import Fitted, Target
from swapsim.machine.running import metric_values, run_rows
from swapsim.patches.cluster_next import machines, mails
from swapsim.published import data
from swapsim.published.data import RESULTS


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the arguments of each fit, which ends without a run."""
    given: dict[str, Any] = {}

    def fit(config: Machine, targets: tuple[Target, ...], start: Any, **more: Any) -> Fitted:
        given.update(config=config, targets=targets, start=start, **more)
        return Fitted(constants=costs(), residuals=pl.DataFrame(), converged=True)

    monkeypatch.setattr(mails, "fit_machine", fit)
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
    mails.fit(version=version)
    config, targets = asked["config"], {target.name: target for target in asked["targets"]}
    assert (config.kernel, config.policy, config.slots) == (kernel, "shared", 6 * 2**18)
    assert asked["runs"] > 1
    assert len(asked["start"]) == len(targets) == 3
    assert targets["swap_out"].wanted == pytest.approx(swap_out * 1e9 / 1024)
    assert targets["lru_lock"].metrics == (f"cycles.lru_lock.{lru}",)
    assert targets["xa_lock"].wanted == pytest.approx(xa_lock)
    sites = {metric for target in asked["targets"] for metric in target.metrics}
    ran = run_rows(
        replace(config, frames=3 * 2**12, pages=2**12, slots=2**16, duration_ns=10_000_000)
    )
    assert sites <= set(ran["metric"])
    assert (config, asked["targets"]) == mails.to_meet(version)


def test_the_targets_of_v3_do_not_depend_on_its_patched_column(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the base columns alone its targets are the same."""
    mails.fit(version="V3")
    before = asked["targets"]
    base = data.published_tables().filter(pl.col("kernel") == "v3 before")
    monkeypatch.setattr("swapsim.patches.stored_fits.published_tables", lambda: base)
    mails.fit(version="V3")
    assert asked["targets"] == before


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a small machine for a short time: the tests look at the table, not at its figures."""

    def brief(**fields: Any) -> Machine:
        usual = machines.machine(**fields)
        small = {"frames": 3 * 2**12, "pages": 2**12, "slots": 2**16}
        return replace(usual, **small, duration_ns=10_000_000)

    monkeypatch.setattr(mails, "machine", brief)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("version", "suffix"), [("V1", ""), ("V3", ", V3")])
def test_each_mail_has_its_own_kernels_rows_and_policy(version: str, suffix: str) -> None:
    """The score, both throughputs and the lock rows are rows of the mail's tables."""
    mail = mails.VERSIONS[version]
    results = pl.concat(mails.predict(version, kernel, costs(), 1) for kernel in mail.kernels)
    assert results.schema == RESULTS.schema
    assert results.height == 2 * (3 + len(mail.rows))
    named = results.select("kernel", "policy").unique(maintain_order=True).rows()
    assert named == list(mail.kernels.items())
    base = metric_values(
        mails.machine(policy="shared", kernel=mail.machine, gigabytes=machines.GIGABYTES)
    )
    for row, sites in mail.rows.items():
        cell = results.filter(kernel=mail.base, metric=row)
        assert cell["value"].item() == sum(base[f"cycles.{site}"] for site in sites)
    printed = (published.table("D", name + suffix)["metric"] for name in ("profile", "score"))
    assert set(results["metric"]) <= set().union(*printed)
