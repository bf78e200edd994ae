# SPDX-License-Identifier: GPL-2.0-or-later
"""Each mail of patch D is fitted to its own base column."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim.claims import published_tables
from swapsim.errors import ConfigError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.fit import Fitted, Target
from swapsim.machine.run import run
from swapsim.machine.tables import FIT
from swapsim.patches import cluster_next as patch
from swapsim.patches.cluster_next import fitting


@pytest.mark.parametrize(
    ("version", "kernel", "swap_out", "lru"),
    [
        ("V1", "5.7+scan-more", 2.87, "mem_cgroup_commit_charge"),
        ("V3", "5.8", 2.99, "shrink_inactive_list"),
    ],
)
def test_each_mail_of_patch_d_is_fitted_to_its_own_base(
    monkeypatch: pytest.MonkeyPatch, version: str, kernel: str, swap_out: float, lru: str
) -> None:
    """Kernel, rate and lock rows are the mail's, the device is an eighth, the policy the base's."""
    asked: dict[str, Any] = {}

    def fit(config: MachineConfig, targets: tuple[Target, ...], start: Any, **more: Any) -> Fitted:
        asked.update(config=config, targets=targets, start=start, **more)
        return Fitted(constants=costs(), residuals=pl.DataFrame(schema=FIT.schema), converged=True)

    monkeypatch.setattr(fitting, "fit_machine", fit)
    patch.fit(version=version)
    config, targets = asked["config"], {target.name: target for target in asked["targets"]}
    assert (config.kernel, config.policy, config.slots) == (kernel, "shared", 6 * 2**18)
    assert asked["runs"] > 1
    assert len(asked["start"]) == len(targets) == 3
    assert targets["swap_out"].wanted == pytest.approx(swap_out * 1e9 / 1024)
    assert targets["lru_lock"].metrics == (f"cycles.lru_lock.{lru}",)
    # The base's rows of xa_lock, as printed: 7.93 + 7.03 in V1, 7.91 + 7.11 in V3.
    assert targets["xa_lock"].wanted == pytest.approx({"V1": 14.96, "V3": 15.02}[version])
    sites = {metric for target in targets.values() for metric in target.metrics}
    ran = run(replace(config, frames=3 * 2**12, pages=2**12, slots=2**16))
    assert sites <= set(ran["metric"])


def test_the_fit_of_v3_never_looks_at_its_patched_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the base columns alone its targets are the same."""
    seen: list[tuple[Target, ...]] = []

    def fit(_: MachineConfig, targets: tuple[Target, ...], *__: Any, **___: Any) -> Fitted:
        seen.append(targets)
        return Fitted(constants=costs(), residuals=pl.DataFrame(schema=FIT.schema), converged=True)

    monkeypatch.setattr(fitting, "fit_machine", fit)
    patch.fit(version="V3")
    base = published_tables().filter(pl.col("kernel") == "v3 before")
    monkeypatch.setattr("swapsim.machine.fit.published_tables", lambda: base)
    patch.fit(version="V3")
    assert seen[0] == seen[1]


def test_a_mail_of_patch_d_that_is_not_there_is_refused() -> None:
    """V2 prints the figures of V3."""
    with pytest.raises(ConfigError, match="version='V2': choose one of V1, V3"):
        patch.fit(version="V2")
