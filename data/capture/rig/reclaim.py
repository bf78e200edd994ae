# SPDX-License-Identifier: GPL-2.0-or-later
"""What reclaim met, decided and slept, as the tables that replays of it read."""

from pathlib import Path
from typing import Final

import polars as pl

from rig.errors import GuestError
from swapsim.stall.tables import (
    RECLAIM_CLEARS,
    RECLAIM_FOLIOS,
    RECLAIM_LISTS,
    RECLAIM_PASSES,
    RECLAIM_ROUNDS,
    THROTTLES,
)

TABLES: Final = {
    "reclaim_folios": RECLAIM_FOLIOS,
    "reclaim_lists": RECLAIM_LISTS,
    "reclaim_passes": RECLAIM_PASSES,
    "reclaim_rounds": RECLAIM_ROUNDS,
    "reclaim_clears": RECLAIM_CLEARS,
    "throttles": THROTTLES,
}
# A task's event of this kind has the pass and list that requested its next throttle.
ASKERS: Final = "throttle_askers"
# The kernel's text for a value that it did not ask for or that is missing.
UNASKED: Final = -1
NONE: Final = "none"
ZSTD_LEVEL: Final = 19


def tabulate(folder: Path) -> None:
    """Rewrite a new trace folder's events of reclaim, if it has any, as their tables.

    Raises
    ------
    GuestError
        A row is not what the kernel's event line writes.
    """
    for event, schema in TABLES.items():
        path = folder / f"{event}.parquet"
        if not path.exists():
            continue
        try:
            events = pl.read_parquet(path).sort("seq")
            if event == "throttles":
                events = _asked(events, folder / f"{ASKERS}.parquet")
            table = events.select(
                _column(events, name, kind).alias(name) for name, kind in schema.items()
            )
        except pl.exceptions.PolarsError as error:
            raise GuestError(f"the kernel's {event} are not as expected: {error}") from error
        table.write_parquet(path, compression="zstd", compression_level=ZSTD_LEVEL)


def _asked(throttles: pl.DataFrame, askers: Path) -> pl.DataFrame:
    """Add to each sleep its request: the last event of its task before it, if that is one."""
    if not askers.exists():
        return throttles.with_columns(pl.lit(0).alias("pass"), pl.lit(0).alias("list"))
    asked = pl.read_parquet(askers, columns=["seq", "pid", "pass", "list"])
    return (
        pl.concat([throttles, asked], how="diagonal")
        .sort("seq")
        .with_columns(pl.col("pass", "list").shift(1).over("pid").fill_null(0))
        .filter(pl.col("reason").is_not_null())
    )


def _column(events: pl.DataFrame, name: str, kind: pl.DataType) -> pl.Expr:
    """One of a table's columns from what the kernel wrote; it writes no word of 2013's."""
    if name not in events.columns:
        return pl.lit(None, kind)
    column = pl.col(name)
    if events.schema[name] == pl.String:
        return pl.when(column != NONE).then(column).cast(kind)
    if kind == pl.Boolean and events.schema[name] != pl.Boolean:
        return pl.when(column != UNASKED).then(column == 1)
    if kind.is_unsigned_integer() and events.schema[name].is_signed_integer():
        return pl.when(column != UNASKED).then(column).cast(kind)
    return column.cast(kind)
