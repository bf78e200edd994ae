# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits find the constants that produced their targets."""

from dataclasses import replace

import polars as pl
import pytest

from swapsim.errors import ConfigError, InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import Target, fit
from swapsim.machine.run import run
from swapsim.machine.tables import FIT
from swapsim.study.tables import CONSTANTS

SMALL = MachineConfig(
    kernel="4.8",
    policy="shared",
    nodes=2,
    writers=6,
    frames=4096,
    slots=2**17,
    warmup_ns=2_000_000,
    duration_ns=100_000_000,
)

TREE = ("cycles.tree_lock.add_to_swap_cache.shrink_page_list", "cycles.tree_lock.__remove_mapping")


def constant(frame: pl.DataFrame, name: str) -> int:
    """Return one constant's value."""
    return int(frame.filter(pl.col("name") == name)["value"].item())


def test_a_fit_finds_the_constants_that_made_its_targets() -> None:
    """The rate and the waits of a machine determine the two constants."""
    known = change_costs(costs(), {"map_ns": 100, "lru_page_ns": 30})
    truth = change_costs(known, {"tree_ns": 1000, "unmap_ns": 12000})
    ran = dict(run(SMALL, truth).select("metric", "value").iter_rows())
    fitted = fit(
        SMALL,
        (
            Target(name="rate", metrics=("swap_out",), wanted=ran["swap_out"]),
            Target(name="tree", metrics=TREE, wanted=sum(ran[metric] for metric in TREE)),
        ),
        {"unmap_ns": 7000, "tree_ns": 600},
        constants=known,
    )
    assert fitted.converged
    assert fitted.constants.schema == CONSTANTS.schema
    assert fitted.residuals.schema == FIT.schema
    assert constant(fitted.constants, "tree_ns") == pytest.approx(1000, rel=0.03)
    assert constant(fitted.constants, "unmap_ns") == pytest.approx(12000, rel=0.05)


def test_a_fit_needs_as_many_constants_as_targets() -> None:
    """Too few or too many free constants, and a tie to a fixed one, are refused by name."""
    target = Target(name="rate", metrics=("swap_out",), wanted=1e6)
    with pytest.raises(ConfigError, match="1 targets need as many free constants"):
        fit(SMALL, (target,), {"tree_ns": 5, "map_ns": 5})
    with pytest.raises(ConfigError, match="tied='tag_ns': 'map_ns' is not a free constant"):
        fit(SMALL, (target,), {"tree_ns": 5}, tied={"tag_ns": ("map_ns", 1.0)})
    with pytest.raises(InputError, match="constant 'tree' is unknown"):
        fit(SMALL, (target,), {"tree": 5})


def test_a_fit_to_several_runs_meets_their_mean() -> None:
    """The figures are means over as many seeds, from that of the config on."""
    truth = change_costs(costs(), {"tree_ns": 400, "unmap_ns": 4000})
    config = replace(SMALL, duration_ns=4_000_000, seed=7)
    runs = [
        dict(run(replace(config, seed=seed), truth).select("metric", "value").iter_rows())
        for seed in (7, 8, 9)
    ]
    wanted = [
        sum(ran[metric] for ran in runs for metric in metrics) / 3
        for metrics in (("swap_out",), TREE)
    ]
    targets = (
        Target(name="rate", metrics=("swap_out",), wanted=wanted[0]),
        Target(name="tree", metrics=TREE, wanted=wanted[1]),
    )
    start = {"unmap_ns": 4000, "tree_ns": 400}
    exact = fit(config, targets, start, runs=3, tolerance=1e-9, rounds=1)
    assert exact.converged
    assert exact.residuals["off_percent"].abs().max() == pytest.approx(0, abs=1e-9)
    alone = fit(config, targets, start, runs=1, tolerance=1e-9, rounds=1)
    assert not alone.converged
    with pytest.raises(ConfigError, match="runs=0: choose at least 1"):
        fit(config, targets, start, runs=0)
