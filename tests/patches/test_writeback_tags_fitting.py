# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A's machine is that of its mail, and its fit reads only the base column."""

import polars as pl
import pytest

from swapsim.claims import published_tables
from swapsim.machine.costs import change_costs, costs
from swapsim.patches import writeback_tags as patch
from swapsim.patches.writeback_tags import prediction


@pytest.mark.parametrize("tags", [True, False])
def test_the_machine_of_patch_a_is_that_of_its_mail(tags: bool) -> None:
    """Eight writers and two kswapds on one pmem under 4.8."""
    config = patch.machine(tags=tags)
    assert (config.writers, config.nodes, config.devices, config.channels) == (8, 2, 1, 0)
    assert (config.kernel, config.swap_writeback_tags, config.cpus) == ("4.8", tags, 10)


def constant(frame: pl.DataFrame, name: str) -> int:
    """Return one constant's value."""
    return int(frame.filter(pl.col("name") == name)["value"].item())


def test_patch_a_is_fitted_to_its_base_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit meets the base, and is the same without the patched column."""
    fitted = patch.fit(tag_share=0.3, map_share=0.3)
    assert fitted.converged
    assert fitted.residuals["off_percent"].abs().max() < 1.1  # type: ignore[operator]
    tree = constant(fitted.constants, "tree_ns")
    for name in ("tag_ns", "map_ns"):
        assert constant(fitted.constants, name) == pytest.approx(0.3 * tree, abs=1)
    base = published_tables().filter(pl.col("kernel").is_in(["base", "before"]))
    monkeypatch.setattr("swapsim.machine.fit.published_tables", lambda: base)
    again = patch.fit(tag_share=0.3, map_share=0.3)
    assert again.constants.equals(fitted.constants)


def test_the_rate_while_swapping_is_above_the_mean_of_the_run() -> None:
    """Filling memory does not swap, and lowers the mean of swap.so."""
    rate = prediction.swap_phase_rate(costs())
    assert 1_207_402 < rate < 1.15 * 1_207_402
    # A slower fill takes more of the run's time, and leaves less to swapping.
    slow = change_costs(costs(), {"fault_ns": 5000})
    assert prediction.swap_phase_rate(slow) > rate


def test_a_run_at_the_fitted_rate_is_the_mails() -> None:
    """A complete run at the rate while swapping has the two rates of the mail."""
    throughput, swap_out = prediction.run_rates(prediction.swap_phase_rate(costs()), costs())
    assert throughput == pytest.approx(2_506_952)
    assert swap_out == pytest.approx(1_207_402)


def test_a_gain_while_swapping_is_a_smaller_one_of_the_run() -> None:
    """The fill of memory does not get faster."""
    base, faster = (prediction.run_rates(rate, costs())[0] for rate in (1.0e6, 1.2e6))
    assert 1.15 < faster / base < 1.2
