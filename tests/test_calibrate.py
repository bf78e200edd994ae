# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits find what a base column says, and look at nothing else."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim import calibrate, simulate
from swapsim.calibrate import Fitted, Target
from swapsim.claims.published import published_tables
from swapsim.config import MachineConfig
from swapsim.errors import ConfigError, InputError
from swapsim.machine.costs import change_costs, costs
from swapsim.schemas import COSTS, FIT

SMALL = MachineConfig(
    kernel="4.8",
    policy="shared",
    nodes=2,
    writers=6,
    frames=4096,
    slots=2**17,
    warmup_ns=2_000_000,
    duration_ns=20_000_000,
)
TREE = ("cycles.tree_lock.add_to_swap_cache.shrink_page_list", "cycles.tree_lock.__remove_mapping")


def constant(frame: pl.DataFrame, name: str) -> int:
    """Return one constant's value."""
    return int(frame.filter(pl.col("name") == name)["value"].item())


def test_a_fit_finds_the_constants_that_made_its_targets() -> None:
    """From the rate and the waits of a known machine the two constants come back."""
    truth = change_costs(costs(), {"tree_ns": 400, "unmap_ns": 4000})
    run = dict(simulate.run(SMALL, truth).select("metric", "value").iter_rows())
    fitted = calibrate.fit(
        SMALL,
        (
            Target(name="rate", metrics=("swap_out",), wanted=run["swap_out"]),
            Target(name="tree", metrics=TREE, wanted=sum(run[metric] for metric in TREE)),
        ),
        {"unmap_ns": 7000, "tree_ns": 600},
    )
    assert fitted.converged
    assert fitted.constants.schema == COSTS
    assert fitted.residuals.schema == FIT
    assert constant(fitted.constants, "tree_ns") == pytest.approx(400, rel=0.03)
    assert constant(fitted.constants, "unmap_ns") == pytest.approx(4000, rel=0.05)


def test_patch_a_is_fitted_to_its_base_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit of patch A meets its base, and is the same when the patched column is not there."""
    fitted = calibrate.fit_writeback_tags(tag_share=0.3, map_share=0.3)
    assert fitted.converged
    assert fitted.residuals["off_percent"].abs().max() < 1.1  # type: ignore[operator]
    tree = constant(fitted.constants, "tree_ns")
    for name in ("tag_ns", "map_ns"):
        assert constant(fitted.constants, name) == pytest.approx(0.3 * tree, abs=1)
    base = published_tables().filter(pl.col("kernel").is_in(["base", "before"]))
    monkeypatch.setattr(calibrate, "published_tables", lambda: base)
    again = calibrate.fit_writeback_tags(tag_share=0.3, map_share=0.3)
    assert again.constants.equals(fitted.constants)


def test_the_rate_while_swapping_is_above_the_mean_of_the_run() -> None:
    """The fill of memory swaps nothing: the mean of swap.so is pulled down by it."""
    rate = calibrate.swap_phase_rate(costs())
    assert 1_207_402 < rate < 1.15 * 1_207_402
    # Filling memory slowly leaves more of the run's time to it, and less to swapping.
    slow = change_costs(costs(), {"fault_ns": 5000})
    assert calibrate.swap_phase_rate(slow) > rate


def test_a_run_at_the_fitted_rate_is_the_mails() -> None:
    """The rate while swapping, put back into a whole run, gives the two rates of the mail."""
    throughput, swap_out = calibrate.run_rates(calibrate.swap_phase_rate(costs()), costs())
    assert throughput == pytest.approx(2_506_952)
    assert swap_out == pytest.approx(1_207_402)


def test_a_gain_while_swapping_is_a_smaller_one_of_the_run() -> None:
    """The fill of memory does not get faster."""
    base, faster = (calibrate.run_rates(rate, costs())[0] for rate in (1.0e6, 1.2e6))
    assert 1.15 < faster / base < 1.2


def test_a_fit_needs_as_many_constants_as_targets() -> None:
    """Too few or too many free constants, and a tie to a fixed one, are refused by name."""
    target = Target(name="rate", metrics=("swap_out",), wanted=1e6)
    with pytest.raises(ConfigError, match="1 targets need as many free constants"):
        calibrate.fit(SMALL, (target,), {"tree_ns": 5, "map_ns": 5})
    with pytest.raises(ConfigError, match="tied='tag_ns': 'map_ns' is no free constant"):
        calibrate.fit(SMALL, (target,), {"tree_ns": 5}, tied={"tag_ns": ("map_ns", 1.0)})
    with pytest.raises(InputError, match="cost 'tree' is unknown"):
        calibrate.fit(SMALL, (target,), {"tree": 5})


def test_a_fit_to_several_runs_meets_their_mean() -> None:
    """The targets are those of the mean over as many seeds, from the config's own on."""
    truth = change_costs(costs(), {"tree_ns": 400, "unmap_ns": 4000})
    config = replace(SMALL, duration_ns=4_000_000, seed=7)
    runs = [
        dict(simulate.run(replace(config, seed=seed), truth).select("metric", "value").iter_rows())
        for seed in (7, 8, 9)
    ]
    wanted = [
        sum(run[metric] for run in runs for metric in metrics) / 3
        for metrics in (("swap_out",), TREE)
    ]
    targets = (
        Target(name="rate", metrics=("swap_out",), wanted=wanted[0]),
        Target(name="tree", metrics=TREE, wanted=wanted[1]),
    )
    start = {"unmap_ns": 4000, "tree_ns": 400}
    exact = calibrate.fit(config, targets, start, runs=3, tolerance=1e-9, rounds=1)
    assert exact.converged
    assert exact.residuals["off_percent"].abs().max() == pytest.approx(0, abs=1e-9)
    alone = calibrate.fit(config, targets, start, runs=1, tolerance=1e-9, rounds=1)
    assert not alone.converged
    with pytest.raises(ConfigError, match="runs=0: choose at least 1"):
        calibrate.fit(config, targets, start, runs=0)


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
        return Fitted(constants=costs(), residuals=pl.DataFrame(schema=FIT), converged=True)

    monkeypatch.setattr(calibrate, "fit", fit)
    calibrate.fit_cluster_next(version=version)
    config, targets = asked["config"], {target.name: target for target in asked["targets"]}
    assert (config.kernel, config.policy, config.slots) == (kernel, "shared", 6 * 2**18)
    assert asked["runs"] > 1
    assert len(asked["start"]) == len(targets) == 4
    assert targets["swap_out"].wanted == pytest.approx(swap_out * 1e9 / 1024)
    assert targets["lru_lock"].metrics == (f"cycles.lru_lock.{lru}",)
    # The base's rows of xa_lock, as printed: 7.93 + 7.03 in V1, 7.91 + 7.11 in V3.
    assert targets["xa_lock"].wanted == pytest.approx({"V1": 14.96, "V3": 15.02}[version])
    sites = {metric for target in targets.values() for metric in target.metrics}
    run = simulate.run(replace(config, frames=3 * 2**12, pages=2**12, slots=2**16))
    assert sites <= set(run["metric"])


def test_the_fit_of_v3_never_looks_at_its_patched_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the base columns alone its targets are the same."""
    seen: list[tuple[Target, ...]] = []

    def fit(_: MachineConfig, targets: tuple[Target, ...], *__: Any, **___: Any) -> Fitted:
        seen.append(targets)
        return Fitted(constants=costs(), residuals=pl.DataFrame(schema=FIT), converged=True)

    monkeypatch.setattr(calibrate, "fit", fit)
    calibrate.fit_cluster_next(version="V3")
    base = published_tables().filter(pl.col("kernel") == "v3 before")
    monkeypatch.setattr(calibrate, "published_tables", lambda: base)
    calibrate.fit_cluster_next(version="V3")
    assert seen[0] == seen[1]


def test_a_mail_of_patch_d_that_is_not_there_is_refused() -> None:
    """V2 prints the figures of V3."""
    with pytest.raises(ConfigError, match="version='V2': choose one of V1, V3"):
        calibrate.fit_cluster_next(version="V2")
