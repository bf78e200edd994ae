# SPDX-License-Identifier: GPL-2.0-or-later
"""What one global lock for tags would cost, by the contention machine and a closed loop."""

import polars as pl
import pytest

from swapsim.machine.constants import costs_by_name
from swapsim.patches.newer_kernels.global_lock import Setting, changes, of_setting, relative_rate


def test_one_cpu_pays_the_hold_twice_a_page() -> None:
    """A lone CPU loses the time of its holds, because it never waits."""
    cost = costs_by_name()
    expected = 10_000 / (10_000 + 2 * (cost["tag_ns"] + cost["irq_save_ns"]))
    rate = relative_rate(10_000, cost, tasks=1, per_page=2, seed=1)
    assert rate == pytest.approx(expected, abs=0.01)


def test_a_saturated_lock_serves_one_cpu_at_a_time() -> None:
    """With many CPUs the rate is that of the lock: a hold and a hand-over for each acquisition."""
    cost = costs_by_name() | {"tag_ns": 5000}
    rate = relative_rate(10_000, cost, tasks=32, per_page=2, seed=1)
    hand_over = [cost[f"travel_{where}_socket_ns"] * 3 for where in ("same", "other")]
    fastest, slowest = (10_000 / (32 * 2 * (5000 + each)) for each in hand_over)
    assert slowest * 0.98 < rate < fastest * 1.02


def test_ranges_contain_the_costs_own_values() -> None:
    """The summary has the change at the costs' own values within the range over their ends."""
    runs = pl.concat(
        of_setting(Setting(tasks=8, seed=1, hold=end, travel=end, work=end))
        for end in ("low", "value", "high")
    )
    row = changes(runs).row(0, named=True)
    assert row["low"] <= row["change"] <= row["high"] < 0
