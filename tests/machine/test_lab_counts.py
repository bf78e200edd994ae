# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine counted as in the lab."""

from lab_machines import OUTSIDE_OF_LOCKS, lab_costs, lock_ledger, run_as_lab

from swapsim.machine.constants import costs


def test_the_same_seed_counts_the_same() -> None:
    """A run depends on its config only."""
    config = lock_ledger(seed=3)
    assert run_as_lab(config).equals(run_as_lab(config))


def test_only_work_outside_of_locks_takes_longer() -> None:
    """Eight CPUs on a host's two take seven times as long for work, and as long for holds."""
    config = lock_ledger()
    stretched = lab_costs(config)
    for name, value in costs().select("name", "value").iter_rows():
        factor = 7 if name in OUTSIDE_OF_LOCKS else 1
        assert stretched[name] == factor * value
