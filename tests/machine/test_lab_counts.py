# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine counted as in the lab: the order of policies, the deviation from a kernel."""

import polars as pl
import pytest
from lab_machines import lock_ledger

from swapsim.errors import InputError
from swapsim.machine.constants import costs
from swapsim.patches import lab
from swapsim.patches.rounds import MEDIANS
from swapsim.published.data import results

METRIC = "xa_lock acquisitions"


def medians_of(rows: list[tuple[str, float, float, float]]) -> pl.DataFrame:
    """Return measured medians of one metric by hand."""
    return pl.DataFrame(
        [
            ("p", "measured", "6.1", policy, 8, METRIC, "1/page", 5, median, low, high)
            for policy, median, low, high in rows
        ],
        schema=MEDIANS.schema,
        orient="row",
    )


def results_of(values: dict[str, float], seed: int = 1, **labels: str) -> pl.DataFrame:
    """Return results of one metric by hand, simulated ones by default."""
    head = {"patch": "p", "kernel": "6.1", "n_tasks": 8, "seed": seed} | labels
    return pl.concat(
        results([(METRIC, value, "1/page")], head | {"policy": policy})
        for policy, value in values.items()
    )


def rounds_of(*rounds: dict[str, float]) -> pl.DataFrame:
    """Return the measured results of some rounds by hand."""
    return pl.concat(
        results_of(values, seed, source="measured") for seed, values in enumerate(rounds, 1)
    )


def test_what_was_not_simulated_is_named() -> None:
    """A policy that only the kernel ran."""
    with pytest.raises(InputError, match="simulation of b"):
        lab.pairs(results_of({"a": 1.0}), rounds_of({"a": 1.0, "b": 2.0}), METRIC)


def test_the_same_seed_counts_the_same() -> None:
    """A run depends on its config only."""
    config = lock_ledger(seed=3)
    assert lab.run_as_lab(config).equals(lab.run_as_lab(config))


def test_only_work_outside_of_locks_takes_longer() -> None:
    """Eight CPUs on a host's two take seven times as long for work, and as long for holds."""
    config = lock_ledger()
    stretched = lab.lab_costs(config)
    for name, value in costs().select("name", "value").iter_rows():
        factor = 7 if name in lab.OUTSIDE_OF_LOCKS else 1
        assert stretched[name] == factor * value


def test_order_counts_the_pairs_that_agree() -> None:
    """Of three policies two are tied, and one of the two other pairs contradicts the kernel."""
    more = [{"a": 1.0, "b": 1.1, "c": 2.0 + seed} for seed in range(4)]
    measured = rounds_of({"a": 1.2, "b": 1.1, "c": 2.1}, *more)
    simulated = results_of({"a": 1.0, "b": 3.0, "c": 2.0})
    pairs = lab.pairs(simulated, measured, METRIC)
    assert pairs.select("less", "more", "agrees").rows() == [("a", "c", True), ("b", "c", False)]
    another = results_of({"a": 1.0, "b": 1.5, "c": 2.0})
    si_lock = pl.lit("si->lock acquisitions").alias("metric")
    table = lab.order(
        pl.concat([simulated, another.with_columns(si_lock)]),
        pl.concat([measured, measured.with_columns(si_lock)]),
        ["si->lock acquisitions", METRIC],
    )
    assert table.rows() == [("si->lock acquisitions", 2, 2), (METRIC, 2, 1)]
    tied = rounds_of(*more[:2])
    assert lab.order(simulated, tied, [METRIC]).rows() == [(METRIC, 0, 0)]


def test_deviations_are_in_percent_of_the_kernel_for_the_ledger_only() -> None:
    """A column per policy, a row per lock of the ledger that both have."""
    medians = medians_of([("a", 4.0, 4.0, 4.0), ("b", 2.0, 2.0, 2.0)])
    simulated = results_of({"a": 5.0, "b": 1.5})
    other = pl.lit("xa_lock contended acquisitions").alias("metric")
    table = lab.off_percent(
        pl.concat([simulated, simulated.with_columns(other)]),
        pl.concat([medians, medians.with_columns(other)]),
    )
    assert table.columns == ["metric", "a", "b"]
    assert table.rows() == [(METRIC, 25.0, -25.0)]
