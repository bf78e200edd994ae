# SPDX-License-Identifier: GPL-2.0-or-later
"""A few rows of the mail by three sources: published, simulated and measured."""

from collections.abc import Sequence

import polars as pl

from swapsim import claims
from swapsim.claims.rounds import spread
from swapsim.patches.stall_decisions.lab import as_mailed
from swapsim.patches.stall_decisions.mail import RULES, change_by_series, printed
from swapsim.patches.stall_decisions.tables import SIMULATED_CELLS, SIMULATED_VERDICTS


def three_sources(
    cells: pl.DataFrame,
    judged: pl.DataFrame,
    measured: pl.DataFrame,
    rows: Sequence[str],
    target: str = "disk",
) -> pl.DataFrame:
    """Return a few rows of the mail as published, as simulated and as measured.

    Parameters
    ----------
    cells, judged, measured : polars.DataFrame
        Schemas SIMULATED_CELLS, SIMULATED_VERDICTS, and RESULTS of EXPERIMENT.
    rows : sequence of str
        As for `printed`.
    target : {"disk", "nfs"}
        The lab has no NFS.

    Returns
    -------
    polars.DataFrame
        Three lines per row: ``row, source``, a text for each rule set of KERNELS, simulated ones
        as "mean [lowest, highest]" over the seeds, measured ones as "median [low, high]"; the
        ``change`` of the last against mmotm in percent; and how the simulated line is ``judged``. A
        dash where a source has no figure.

    Raises
    ------
    InputError
        A row is not in the mail, or was not measured.
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
            pl.col(*RULES).fill_null(dash), source=pl.lit(source)
        )
        for source, frame in sources.items()
    ]
    return (
        pl.concat(lines, how="diagonal_relaxed")
        .sort("place", maintain_order=True)
        .select("row", "source", *RULES, "change", judged=pl.col("verdict").fill_null(""))
    )


def _measured(measured: pl.DataFrame, rows: Sequence[str]) -> pl.DataFrame:
    name = pl.col("metric").str.strip_prefix("disk: ").str.strip_prefix("Ops ")
    ours = as_mailed(measured).with_columns(kernel=pl.lit("6.1"), metric=name)
    medians = claims.medians(ours.filter(pl.col("metric").is_in(rows)))
    values = medians.pivot("policy", index="metric", values="median")
    return (
        claims.side_by_side(medians, rows)
        .join(
            values.select("metric", change=change_by_series()), on="metric", maintain_order="left"
        )
        .rename({"metric": "row"})
        .select("row", *RULES, "change")
    )


def _simulated(
    cells: pl.DataFrame, judged: pl.DataFrame, rows: Sequence[str], target: str
) -> pl.DataFrame:
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
        .join(values.select("row", change=change_by_series()), on="row", maintain_order="left")
        .join(judged.filter(chosen).select(row=name, verdict=verdict), on="row")
    )
