# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits find the constants that produced their targets, and come back from their rows."""

from dataclasses import replace

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.machine.config import Machine
from swapsim.machine.constants import CONSTANTS, change_costs, costs
from swapsim.machine.fitting import Target, fit_costs
from swapsim.machine.running import run_rows
from swapsim.patches.common import FIT_ROWS, figures_again, fit_rows, fitted_costs

SMALL = Machine(
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


def targets_of(rate: float, tree: float) -> tuple[Target, Target]:
    """Return the rate of swapping out and the waits for the swap cache's lock as targets."""
    return (
        Target(name="rate", metrics=("swap_out",), wanted=rate),
        Target(name="tree", metrics=TREE, wanted=tree),
    )


def constant(frame: pl.DataFrame, name: str) -> int:
    """Return one constant's value."""
    return int(frame.filter(pl.col("name") == name)["value"].item())


def test_a_fit_finds_the_constants_that_made_its_targets() -> None:
    """The rate and the waits of a machine determine the two constants."""
    known = change_costs(costs(), {"map_ns": 100, "lru_page_ns": 30})
    truth = change_costs(known, {"tree_ns": 1000, "unmap_ns": 12000})
    ran = dict(run_rows(SMALL, truth).select("metric", "value").iter_rows())
    fitted = fit_costs(
        SMALL,
        targets_of(ran["swap_out"], sum(ran[metric] for metric in TREE)),
        {"unmap_ns": 7000, "tree_ns": 600},
        constants=known,
    )
    assert fitted.converged
    assert fitted.constants.schema == CONSTANTS.schema
    assert constant(fitted.constants, "tree_ns") == pytest.approx(1000, rel=0.03)
    assert constant(fitted.constants, "unmap_ns") == pytest.approx(12000, rel=0.05)


def test_a_fit_needs_as_many_constants_as_targets() -> None:
    """Too few or too many free constants, and a tie to a fixed one, are refused by name."""
    target = Target(name="rate", metrics=("swap_out",), wanted=1e6)
    with pytest.raises(InputError, match="1 targets need as many free constants"):
        fit_costs(SMALL, (target,), {"tree_ns": 5, "map_ns": 5})
    with pytest.raises(InputError, match="constant 'tree' is unknown"):
        fit_costs(SMALL, (target,), {"tree": 5})


def test_a_fit_to_several_runs_meets_their_mean() -> None:
    """The figures are means over as many seeds, from that of the config on."""
    truth = change_costs(costs(), {"tree_ns": 400, "unmap_ns": 4000})
    config = replace(SMALL, duration_ns=4_000_000, seed=7)
    runs = [
        dict(run_rows(replace(config, seed=seed), truth).select("metric", "value").iter_rows())
        for seed in (7, 8, 9)
    ]
    wanted = [
        sum(ran[metric] for ran in runs for metric in metrics) / 3
        for metrics in (("swap_out",), TREE)
    ]
    targets = targets_of(*wanted)
    start = {"unmap_ns": 4000, "tree_ns": 400}
    exact = fit_costs(config, targets, start, runs=3, tolerance=1e-9, rounds=1)
    assert exact.converged
    assert exact.residuals["off_percent"].abs().max() == pytest.approx(0, abs=1e-9)
    alone = fit_costs(config, targets, start, runs=1, tolerance=1e-9, rounds=1)
    assert not alone.converged


SHORT = replace(SMALL, nodes=1, writers=4, duration_ns=5_000_000)
RATE = (Target(name="rate", metrics=("swap_out",), wanted=1.2e6),)


def test_fits_come_back_as_they_were() -> None:
    """Costs that differ, and whether they were met, of a fit that was and of one that was not."""
    table = change_costs(costs(), {"map_ns": costs().filter(name="map_ns")["high"].item()})
    fits = {
        "met": fit_costs(SHORT, RATE, {"unmap_ns": 4000}, constants=table, tolerance=0.2),
        "not met": fit_costs(SHORT, RATE, {"unmap_ns": 4000}, rounds=1, tolerance=1e-9),
    }
    rows = pl.concat(fit_rows(name, found) for name, found in fits.items())
    assert rows.schema == FIT_ROWS.schema
    for name, found in fitted_costs(rows).items():
        assert change_costs(costs(), found)["value"].equals(fits[name].constants["value"])
        assert rows.filter(fit=name)["converged"].unique().to_list() == [name == "met"]


def test_figures_come_out_again() -> None:
    """A run with the costs that were found has the figures that were found, bit for bit."""
    rows = fit_rows("a", fit_costs(SHORT, RATE, {"unmap_ns": 4000}, runs=2, rounds=2))
    again = figures_again(rows, 5, lambda _: (SHORT, RATE), 2)
    assert again.rows() == rows.filter(pl.col("wanted").is_not_null()).rows()
