# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits find what a base column says, and look at nothing else."""

import polars as pl
import pytest

from swapsim import calibrate, simulate
from swapsim.calibrate import Target
from swapsim.config import MachineConfig
from swapsim.costs import change_costs, costs
from swapsim.errors import ConfigError, InputError
from swapsim.published import published_tables
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
