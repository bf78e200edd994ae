# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of the mail beside the same rows of the world and of the lab: three columns each."""

from collections.abc import Sequence

import polars as pl

from swapsim import claims
from swapsim.claims.medians import spread
from swapsim.patches.stall_decisions.lab import as_mailed
from swapsim.patches.stall_decisions.mail import KERNELS, printed
from swapsim.patches.stall_decisions.tables import SIMULATED_CELLS, SIMULATED_VERDICTS


def beside(
    cells: pl.DataFrame,
    judged: pl.DataFrame,
    measured: pl.DataFrame,
    rows: Sequence[str],
    target: str = "disk",
) -> pl.DataFrame:
    """Set a few rows of the mail beside the same rows of the world and of the lab.

    Parameters
    ----------
    cells : polars.DataFrame
        Schema SIMULATED_CELLS.
    judged : polars.DataFrame
        Schema SIMULATED_VERDICTS.
    measured : polars.DataFrame
        Schema RESULTS, of EXPERIMENT.
    rows : sequence of str
        As for `mail.printed`.
    target : {"disk", "nfs"}
        The lab has no NFS.

    Returns
    -------
    polars.DataFrame
        Three lines a row, published, simulated and measured: ``row, source``, a text for each rule
        set of KERNELS, simulated ones as "mean [least, greatest]" over the seeds, measured ones as
        "median [low, high]", and ``change`` of the last against mmotm in percent; and how the
        simulated line was judged. A dash where nobody has a figure.

    Raises
    ------
    InputError
        A row is not in the mail, or should have been measured and was not.
    """
    published = printed(target, rows)
    sources = {
        "published": published,
        "simulated": _simulated(cells, judged, rows, target),
        "measured": _measured(measured, rows) if target == "disk" else published.head(0),
    }
    order = published.select("row", place=pl.int_range(pl.len()))
    dash = pl.lit("-")
    lines = [
        order.join(frame, on="row", how="left", maintain_order="left").with_columns(
            pl.col(*KERNELS.values()).fill_null(dash), source=pl.lit(source)
        )
        for source, frame in sources.items()
    ]
    return (
        pl.concat(lines, how="diagonal_relaxed")
        .sort("place", maintain_order=True)
        .select("row", "source", *KERNELS.values(), "change", pl.col("verdict").fill_null(""))
    )


def _measured(measured: pl.DataFrame, rows: Sequence[str]) -> pl.DataFrame:
    name = pl.col("metric").str.strip_prefix("disk: ").str.strip_prefix("Ops ")
    ours = as_mailed(measured).with_columns(kernel=pl.lit("6.1"), metric=name)
    medians = claims.medians(ours.filter(pl.col("metric").is_in(rows)))
    values = medians.pivot("policy", index="metric", values="median")
    return (
        claims.side_by_side(medians, rows)
        .join(values.select("metric", change=_change()), on="metric", maintain_order="left")
        .rename({"metric": "row"})
        .select("row", *KERNELS.values(), "change")
    )


def _simulated(
    cells: pl.DataFrame, judged: pl.DataFrame, rows: Sequence[str], target: str
) -> pl.DataFrame:
    """Return a line a row: each kernel's mean and seeds, and what was judged of the row."""
    SIMULATED_CELLS.check(cells)
    SIMULATED_VERDICTS.check(judged)
    name = pl.col("metric").str.strip_prefix("Ops ")
    chosen = pl.col("table").str.ends_with(f", {target}") & name.is_in(rows)
    texts = pl.struct("simulated", "low", "high").map_elements(spread, return_dtype=pl.String)
    own = cells.filter(chosen).select("rules", "simulated", row=name, text=texts)
    values = own.pivot("rules", index="row", values="simulated")
    size = pl.format("size {} of {}", "inside", "cells")
    order = pl.when(pl.col("order").is_not_null()).then(pl.format("order {}, ", "order"))
    verdict = pl.concat_str(order.otherwise(pl.lit("")), size)
    return (
        own.pivot("rules", index="row", values="text")
        .join(values.select("row", change=_change()), on="row", maintain_order="left")
        .join(judged.filter(chosen).select(row=name, verdict=verdict), on="row")
    )


def _change() -> pl.Expr:
    """Return the change from mmotm to the series in percent, null where mmotm has 0."""
    base, series = pl.col("mmotm"), pl.col("series-8")
    return pl.when(base != 0).then((100 * (series / base - 1)).round(1))
