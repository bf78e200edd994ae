# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's tables of patch C, as printed: three kernels, two targets."""

from collections.abc import Sequence
from itertools import product
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.ffi import STALL_RULES
from swapsim.published import data

PATCH: Final = "03-stall-decisions"

KERNELS: Final = {
    "vanilla": "3.9",
    "mm1-mmotm-20130522": "mmotm",
    "mm1-lessdisrupt-v7r10": "series-8",
}
"""The mail's three kernels, and the names of their rule sets."""

RULES: Final = tuple(KERNELS.values())
BEFORE, BASE, SERIES = RULES

SIZES: Final = {"0M": "0", "715M": "0.5", "2385M": "1.67", "4055M": "2.84"}
"""The mail's files, and their sizes in the lab: multiples of the memory that the pool leaves."""

ELAPSED: Final = "Elapsed"
"""The time of a run, which the mail prints only as the quotient of two rows."""


MAIN_ROWS: Final = (
    *("memcachetest-0M", "memcachetest-4055M", "io-duration-4055M", "Swap Outs"),
    *("Kswapd pages scanned", "Kswapd efficiency", "Page writes file", "Page reclaim immediate"),
)
"""Rows of the mail's tables that show what the series is about."""


def printed(target: str, rows: Sequence[str] = MAIN_ROWS) -> pl.DataFrame:
    """Return rows of the mail as printed, a column per rule set, and the series' ``change`` in %.

    Those of parallelio have no ``Ops``. The change is null where mmotm has 0.
    """
    found = (
        data.published_tables()
        .filter(pl.col("patch") == PATCH, pl.col("table").str.ends_with(f", {target}"))
        .with_columns(
            pl.col("kernel").replace_strict(KERNELS), row=pl.col("metric").str.strip_prefix("Ops ")
        )
    )
    unknown = [row for row in rows if row not in found["row"]]
    if unknown:
        raise InputError(f"the mail prints no {unknown[0]!r} for {target!r}", field="rows")
    texts, values = (
        found.pivot("kernel", index="row", values=column) for column in ("printed", "value")
    )
    changes = values.select("row", change=change_by_series())
    order = pl.DataFrame({"row": rows}, schema={"row": pl.String})
    return order.join(texts, on="row", maintain_order="left").join(
        changes, on="row", maintain_order="left"
    )


def change_by_series() -> pl.Expr:
    """Return the change from mmotm to the series in percent, null where mmotm has 0."""
    base, series = pl.col(BASE), pl.col(SERIES)
    return pl.when(base != 0).then((100 * (series / base - 1)).round(1))


def printed_values() -> dict[tuple[str, str, str], float]:
    """Return each printed figure by target, row and rules, with the time of each run."""
    tables = data.published_tables().filter(
        pl.col("patch") == PATCH, pl.col("kernel").is_in(list(KERNELS))
    )
    found = {
        (row["table"].rpartition(", ")[2], row["metric"], KERNELS[row["kernel"]]): row["value"]
        for row in tables.iter_rows(named=True)
    }
    for target, rules in product(("disk", "nfs"), RULES):
        scanned = found[target, "Kswapd pages scanned", rules]
        found[target, ELAPSED, rules] = scanned / found[target, "Kswapd velocity", rules]
    return found


STEPS: Final = tuple(name for name in STALL_RULES if name == "mmotm" or name.startswith("series"))
"""The base, and each state of the series: one more patch per step."""
