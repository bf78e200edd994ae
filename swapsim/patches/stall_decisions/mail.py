# SPDX-License-Identifier: GPL-2.0-or-later
"""What the series' mail prints, against the series' own base."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.errors import InputError

PATCH: Final = "03-stall-decisions"

KERNELS: Final = {
    "vanilla": "3.9",
    "mm1-mmotm-20130522": "mmotm",
    "mm1-lessdisrupt-v7r10": "series-8",
}
"""The mail's three kernels, and what their rules are called here."""


def printed(target: str, rows: Sequence[str]) -> pl.DataFrame:
    """Set a few rows of the mail's tables side by side, with the series' own part.

    Parameters
    ----------
    target : {"disk", "nfs"}
    rows : sequence of str
        As the mail calls them; those of parallelio without their ``Ops``.

    Returns
    -------
    polars.DataFrame
        ``row``, the text of a cell for each rule set of KERNELS, and ``change``: of the last
        against mmotm in percent, null where mmotm has 0.

    Raises
    ------
    InputError
        The mail prints no such row.
    """
    cells = (
        claims.published_tables()
        .filter(pl.col("patch") == PATCH, pl.col("table").str.ends_with(f", {target}"))
        .with_columns(
            pl.col("kernel").replace_strict(KERNELS), row=pl.col("metric").str.strip_prefix("Ops ")
        )
    )
    unknown = [row for row in rows if row not in cells["row"]]
    if unknown:
        raise InputError(f"the mail prints no {unknown[0]!r} for {target!r}", field="rows")
    texts, values = (
        cells.pivot("kernel", index="row", values=column) for column in ("printed", "value")
    )
    base, series = pl.col("mmotm"), pl.col("series-8")
    change = pl.when(base != 0).then((100 * (series - base) / base).round(1))
    return (
        pl.DataFrame({"row": rows}, schema={"row": pl.String})
        .join(texts, on="row", how="left", maintain_order="left")
        .join(values.select("row", change=change), on="row", how="left", maintain_order="left")
    )
