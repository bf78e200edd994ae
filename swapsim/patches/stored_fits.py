# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits of a mail's base column as they are stored, and the figures of that column."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs_by_name, costs_of
from swapsim.machine.fitting import Fitted, Target, figures, residuals
from swapsim.published.data import published_tables
from swapsim.tables import Table

FIT_ROWS: Final = Table(
    "FIT_ROWS",
    "One row per fitted constant in ns, and per figure that was met with it, wanted by the mail.",
    {"fit": pl.String, "name": pl.String, "value": pl.Float64, "wanted": pl.Float64},
    {"converged": pl.Boolean},
)


def to_rows(fit: str, fitted: Fitted) -> pl.DataFrame:
    """Return a fit as rows."""
    usual = costs_by_name()
    constants = fitted.constants.select("name", "value").iter_rows()
    met = fitted.residuals.select("target", "found", "wanted").iter_rows()
    rows: list[tuple[str, str, float, float | None, bool]] = [
        (fit, name, float(value), None, fitted.converged)
        for name, value in constants
        if value != usual[name]
    ]
    rows += [(fit, name, found, wanted, fitted.converged) for name, found, wanted in met]
    return pl.DataFrame(rows, schema=FIT_ROWS.schema, orient="row")


def of_rows(rows: pl.DataFrame) -> dict[str, Fitted]:
    """Return the fits by name that `to_rows` was given."""
    fits = {}
    for (fit,), frame in rows.group_by("fit", maintain_order=True):
        free, met = frame.filter(pl.col("wanted").is_null()), frame.drop_nulls("wanted")
        values = {name: int(value) for name, value in free.select("name", "value").iter_rows()}
        fits[str(fit)] = Fitted(
            constants=change_costs(costs_of(), values),
            residuals=residuals(met.select("name", "wanted", "value").iter_rows()),
            converged=frame["converged"][0],
        )
    return fits


def figures_again(
    rows: pl.DataFrame, fit: str, config: Machine, targets: Sequence[Target], *, runs: int
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


def base_figure(patch: str, kernel: str, row: str) -> float:
    """Return a figure of a mail's base column; other columns are not read."""
    found = _column(published_tables, patch, kernel).filter(
        pl.col("metric").str.strip_prefix("perf-profile.cycles-pp.") == row
    )
    if found.height != 1:
        raise InputError(
            f"{found.height} cells of kernel {kernel!r} have this name: name one", field=row
        )
    return float(found["value"].item())


@cache
def _column(read: Callable[[], pl.DataFrame], patch: str, kernel: str) -> pl.DataFrame:
    """Read the files once: reading takes as long as a run."""
    return read().filter(patch=patch, kernel=kernel)
