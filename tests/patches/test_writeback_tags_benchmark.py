# SPDX-License-Identifier: GPL-2.0-or-later
"""swap_w_seq: one call from a kernel's features, processes and memory to what the test reports."""

from typing import Any

import polars as pl
import pytest

from swapsim.errors import ConfigError, InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.life import live
from swapsim.patches.writeback_tags import swap_w_seq

FITS = {
    "first": change_costs(costs(), {"unmap_ns": 6260, "tree_ns": 628, "tag_ns": 63, "map_ns": 195}),
    "second": change_costs(costs(), {"unmap_ns": 6022, "tree_ns": 677, "tag_ns": 7, "map_ns": 210}),
}
OLD = {"cluster_locks": False, "trunk_mb": None, "slot_caches": False}


def figures(fits: dict[str, pl.DataFrame] | None = None, **given: Any) -> dict[str, float]:
    """Return the values of a call, for 8 processes on 32 GB with 64 GB of swap unless given."""
    usual = {"processes": 8, "memory_gb": 32, "swap_gb": 64, "constants": fits or FITS}
    frame = swap_w_seq(**(usual | given))
    assert frame.columns == ["metric", "value", "low", "high", "unit"]
    assert all(low <= value <= high for _, value, low, high, _ in frame.iter_rows())
    return dict(frame.select("metric", "value").iter_rows())


def test_each_feature_of_a_later_kernel_makes_the_test_faster() -> None:
    """With 32 processes no tags, then trunks, then slot caches raise the rate of swap-out."""
    one = {"first": FITS["first"]}
    rates = [
        figures(one, processes=32, **features)["vmstat.swap.so"]
        for features in (OLD | {"tags": True}, OLD, {"slot_caches": False}, {})
    ]
    assert rates == sorted(rates)
    assert rates[3] > 2 * rates[1]


def test_rates_do_not_depend_on_the_size_of_memory() -> None:
    """Twice the memory, swap and pages take twice as long at the same rates."""
    small, large = (figures(memory_gb=32 * n, swap_gb=64 * n, **OLD) for n in (1, 2))
    assert large["vmstat.swap.so"] == pytest.approx(small["vmstat.swap.so"], rel=0.02)
    assert large["vm-scalability.time.elapsed_time"] == pytest.approx(
        2 * small["vm-scalability.time.elapsed_time"], rel=0.02
    )
    # What is swapped out is what memory does not hold: 40 of 72 GB.
    assert small["swapped out"] == pytest.approx(100 * 40 / 72, abs=1.5)
    assert small["out of swap"] == 0
    out_kib = small["vmstat.swap.so"] * small["vm-scalability.time.elapsed_time"]
    assert out_kib == pytest.approx(small["swapped out"] / 100 * 72 * 2**20)


def test_out_of_swap_is_a_result() -> None:
    """A device that is smaller than what memory does not hold stops its writers."""
    assert figures(written_gb=120)["out of swap"] == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"processes": 0}, "processes"),
        ({"memory_gb": 0}, "memory_gb"),
        ({"swap_gb": float("nan")}, "swap_gb"),
        ({"written_gb": -1}, "written_gb"),
        ({"trunk_mb": 48}, "trunk_mb"),
        ({"trunk_mb": True}, "trunk_mb"),
        ({"cluster_locks": False}, "cluster_locks"),
        ({"slot_caches": 1}, "slot_caches"),
        ({"tags": "no"}, "tags"),
    ],
)
def test_nonsense_is_refused_in_one_line(given: dict[str, Any], field: str) -> None:
    """The message names the argument and its value."""
    with pytest.raises(ConfigError, match=field) as caught:
        figures(**given)
    assert "\n" not in str(caught.value)


def test_a_window_outside_of_a_run_is_refused() -> None:
    """Where nothing is swapped out there is no phase of swapping, and no other window either."""
    life = live(MachineConfig(writers=1, accesses=500, frames=4096, kernel="4.8"), FITS["first"])
    assert life.swapped == 0
    assert life.throughput > 0
    with pytest.raises(InputError, match=r"field 'window': 'swap' is outside of the run"):
        life.metrics("swap")
    with pytest.raises(InputError, match=r"field 'window': 'write' has no counts"):
        life.metrics("write")
    with pytest.raises(ConfigError, match="accesses=0"):
        live(MachineConfig(writers=1))
