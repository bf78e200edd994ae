# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits as rows, to be stored: constants that were found and figures that were met with them."""

from collections.abc import Sequence

import polars as pl

from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import Fitted, Target, figures, residuals
from swapsim.machine.tables import FIT_ROWS


def to_rows(fit: str, fitted: Fitted) -> pl.DataFrame:
    """Return a fit as rows."""
    usual = dict(costs().select("name", "value").iter_rows())
    constants = fitted.constants.select("name", "value").iter_rows()
    figures = fitted.residuals.select("target", "found", "wanted").iter_rows()
    rows: list[tuple[str, str, float, float | None, bool]] = [
        (fit, name, float(value), None, fitted.converged)
        for name, value in constants
        if value != usual[name]
    ]
    rows += [(fit, name, found, wanted, fitted.converged) for name, found, wanted in figures]
    return pl.DataFrame(rows, schema=FIT_ROWS.schema, orient="row")


def of_rows(rows: pl.DataFrame) -> dict[str, Fitted]:
    """Return the fits by name that `to_rows` was given."""
    fits = {}
    for (fit,), frame in rows.group_by("fit", maintain_order=True):
        free, met = frame.filter(pl.col("wanted").is_null()), frame.drop_nulls("wanted")
        values = {name: int(value) for name, value in free.select("name", "value").iter_rows()}
        fits[str(fit)] = Fitted(
            constants=change_costs(costs(), values),
            residuals=residuals(met.select("name", "wanted", "value").iter_rows()),
            converged=frame["converged"][0],
        )
    return fits


def figures_again(
    rows: pl.DataFrame, fit: str, config: MachineConfig, targets: Sequence[Target], *, runs: int
) -> pl.DataFrame:
    """Return the rows of a fit's figures (FIT_ROWS), from new runs with the constants it found."""
    fitted = of_rows(rows.filter(fit=fit))[fit]
    found = figures(config, targets, fitted.constants, runs=runs)
    return pl.DataFrame(
        [
            (fit, target.name, figure, target.wanted, fitted.converged)
            for target, figure in zip(targets, found, strict=True)
        ],
        schema=FIT_ROWS.schema,
        orient="row",
    )
