# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits of patch A's base as rows that are stored, and what they predict.

A row is one of RESULTS, with both shares of its fit; ``policy`` names the fit. The rows of a fit
come first: its constants, the figures that it met, and the share of pages swapped out. Then each of
`prediction.KERNELS` is predicted with each seed.
"""

from collections.abc import Sequence
from itertools import product
from typing import Final

import polars as pl

from swapsim.errors import require_some
from swapsim.machine.constants import LONGEST_TAGS_NS, change_costs, costs
from swapsim.machine.fitting import Fitted, residuals
from swapsim.machine.running import labels
from swapsim.patches.what_if import picked
from swapsim.patches.writeback_tags import prediction
from swapsim.published.data import RESULTS, Row, results

SWAPPED: Final = "swapped share"
_MET: Final = "met: "

_SHARES: Final = {"tag_share": pl.Float64(), "map_share": pl.Float64()}


def predict_at_shares(
    shares: tuple[float, float],
    *,
    name: str = "",
    seeds: Sequence[int] = (1, 2),
    constants: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Fit the base at a tag share and a map share, and predict both kernels with each seed.

    A fit that does not converge has no rows.
    """
    require_some(seeds, "seeds")
    fitted, swapped = prediction.fit_and_share(*shares, constants=constants)
    usual = dict(costs().select("name", "value").iter_rows())
    rows: list[Row] = [
        (constant, float(value), "ns")
        for constant, value in fitted.constants.select("name", "value").iter_rows()
        if value != usual[constant]
    ]
    rows += [(_MET + target, found, "") for target, _, found, _ in fitted.residuals.iter_rows()]
    rows.append((SWAPPED, swapped, "1"))
    name = name or "tags {:g}, map {:g}".format(*shares)
    label = labels(prediction.machine(tags=True), kernel=prediction.BASE, policy=name)
    fit = _with_shares(results(rows, label), shares)
    if not fitted.converged:
        return fit.clear()
    points = product(prediction.KERNELS, seeds)
    return pl.concat([fit, *(_predict(fit, name, kernel, seed) for kernel, seed in points)])


def predict_at_tag_share(tag_share: float) -> pl.DataFrame:
    """Fit the base at a tag share and its `prediction.map_share_at`, and predict both kernels."""
    return predict_at_shares((tag_share, prediction.map_share_at(tag_share)))


def again(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    """Predict one kernel with one seed and a stored fit: a sample of the rows."""
    predicted = rows.filter(metric=prediction.THROUGHPUT)
    return _predict(rows, *picked(predicted, ["policy", "kernel", "seed"], pick))


def of_rows(rows: pl.DataFrame) -> dict[str, Fitted]:
    """Return the stored fits by their names."""
    return {str(name): _fit(own) for (name,), own in rows.group_by("policy", maintain_order=True)}


def swapped_of(rows: pl.DataFrame, name: str) -> float:
    """Return the share of pages swapped out in a stored fit."""
    return float(rows.filter(policy=name, metric=SWAPPED)["value"].item())


def with_tags_up_to(rows: pl.DataFrame, longest_ns: float = LONGEST_TAGS_NS) -> pl.DataFrame:
    """Return the fits in which tags hold the lock for at most this long."""
    short = rows.filter(pl.col("metric") == "tag_ns", pl.col("value") <= longest_ns)
    return rows.join(short, on="policy", how="semi", maintain_order="left")


def _fit(rows: pl.DataFrame) -> Fitted:
    value = dict(rows.filter(kernel=prediction.BASE).select("metric", "value").iter_rows())
    free = dict(rows.filter(unit="ns").select("metric", pl.col("value").cast(pl.Int64)).iter_rows())
    return Fitted(
        constants=change_costs(costs(), free),
        residuals=residuals(
            (target.name, target.wanted, value[_MET + target.name])
            for target in prediction.targets()
        ),
        converged=True,
    )


def _predict(rows: pl.DataFrame, name: str, kernel: str, seed: int) -> pl.DataFrame:
    own = rows.filter(policy=name)
    found = prediction.predict_kernel(
        kernel, _fit(own).constants, swapped=swapped_of(own, name), seed=seed, policy=name
    )
    return _with_shares(found, own.select(*_SHARES).row(0))


def _with_shares(rows: pl.DataFrame, shares: tuple[float, ...]) -> pl.DataFrame:
    return RESULTS.check(rows).with_columns(
        pl.lit(share, kind).alias(name)
        for (name, kind), share in zip(_SHARES.items(), shares, strict=True)
    )
