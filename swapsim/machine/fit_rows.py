# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits as rows of one table, to be kept: constants found, and figures met with them."""

from collections.abc import Mapping, Sequence

import polars as pl

from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import Fitted, Target, figures, residuals
from swapsim.machine.tables import FIT_ROWS


def to_rows(fits: Mapping[str, Fitted]) -> pl.DataFrame:
    """Return fits as rows.

    Parameters
    ----------
    fits : mapping of str to Fitted
        A name -> what was found, from the constants of data/costs.csv on.

    Returns
    -------
    polars.DataFrame
        Schema FIT_ROWS: of each fit the constants that are not those of data/costs.csv, and the
        figures.
    """
    usual = dict(costs().select("name", "value").iter_rows())
    rows: list[tuple[str, str, float, float | None, bool]] = []
    for fit, fitted in fits.items():
        rows += [
            (fit, name, float(value), None, fitted.converged)
            for name, value in fitted.constants.select("name", "value").iter_rows()
            if value != usual[name]
        ]
        rows += [
            (fit, name, found, wanted, fitted.converged)
            for name, found, wanted in fitted.residuals.select(
                "target", "found", "wanted"
            ).iter_rows()
        ]
    return FIT_ROWS.check(pl.DataFrame(rows, schema=FIT_ROWS.schema, orient="row"))


def of_rows(rows: pl.DataFrame) -> dict[str, Fitted]:
    """Return the fits that `to_rows` was given."""
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


def met_anew(
    rows: pl.DataFrame, fit: str, config: MachineConfig, targets: Sequence[Target], *, runs: int
) -> pl.DataFrame:
    """Run the machine with a fit's constants and return the rows of its figures, made anew.

    Parameters
    ----------
    rows : polars.DataFrame
        Schema FIT_ROWS.
    fit : str
        Which.
    config, targets, runs
        As for `fit.fit`.

    Returns
    -------
    polars.DataFrame
        Schema FIT_ROWS.
    """
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
