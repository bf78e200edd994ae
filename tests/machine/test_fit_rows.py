# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits come back from their rows as they were, and their figures come out again."""

import polars as pl

from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import Target, fit
from swapsim.machine.fit_rows import figures_again, of_rows, to_rows
from swapsim.machine.tables import FIT_ROWS

SMALL = MachineConfig(
    kernel="4.8",
    policy="shared",
    writers=4,
    frames=4096,
    slots=2**16,
    warmup_ns=1_000_000,
    duration_ns=5_000_000,
)
RATE = (Target(name="rate", metrics=("swap_out",), wanted=1.2e6),)


def test_fits_come_back_as_they_were() -> None:
    """Constants, figures and whether they were met, of a fit that was and of one that was not."""
    table = change_costs(costs(), {"map_ns": costs().filter(name="map_ns")["high"].item()})
    fits = {
        "met": fit(SMALL, RATE, {"unmap_ns": 4000}, constants=table, tolerance=0.2),
        "not met": fit(SMALL, RATE, {"unmap_ns": 4000}, rounds=1, tolerance=1e-9),
    }
    rows = pl.concat(to_rows(name, found) for name, found in fits.items())
    assert rows.schema == FIT_ROWS.schema
    for name, found in of_rows(rows).items():
        assert found.constants.equals(fits[name].constants)
        assert found.residuals.equals(fits[name].residuals)
        assert found.converged == fits[name].converged == (name == "met")


def test_figures_come_out_again() -> None:
    """A run with the constants that were found has the figures that were found, bit for bit."""
    rows = to_rows("a", fit(SMALL, RATE, {"unmap_ns": 4000}, runs=2, rounds=2))
    again = figures_again(rows, "a", SMALL, RATE, runs=2)
    assert again.rows() == rows.filter(pl.col("wanted").is_not_null()).rows()
