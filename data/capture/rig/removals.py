# SPDX-License-Identifier: GPL-2.0-or-later
"""What reclaim takes out of mappings, as the one table that replays of it read."""

from pathlib import Path
from typing import Final

import polars as pl

from rig.errors import GuestError
from swapsim.removal import REMOVALS

EVENT: Final = "removals"
# A task's call of shrink_folio_list ends with this event: what it removed stands before it.
LIST_ENDED: Final = "removal_list"
ZSTD_LEVEL: Final = 19


def tabulate(folder: Path) -> None:
    """Rewrite a new trace folder's removals, if it has any, as REMOVALS.

    Lists have the number of their end among all ends; what each task removed after its last one,
    when recording stopped, is a list too, numbered behind them.

    Raises
    ------
    GuestError
        A row is not what the kernel's event line writes, or no list ended.
    """
    path, ended = (folder / f"{event}.parquet" for event in (EVENT, LIST_ENDED))
    if not path.exists():
        return
    if not ended.exists():
        raise GuestError(f"the kernel wrote no event {LIST_ENDED}: no list of removals is known")
    ends = pl.read_parquet(ended, columns=["seq", "pid"]).sort("seq").with_row_index("list", 1)
    cut_short = ends.height + pl.col("pid").rank("dense")
    try:
        table = (
            pl.read_parquet(path)
            .sort("seq")
            .join_asof(ends, on="seq", by="pid", strategy="forward", check_sortedness=False)
            .with_columns(pl.col("list").fill_null(cut_short))
            .select(pl.col(name).cast(kind) for name, kind in REMOVALS.schema.items())
        )
    except pl.exceptions.PolarsError as error:
        raise GuestError(f"the kernel's removals are not as expected: {error}") from error
    table.write_parquet(path, compression="zstd", compression_level=ZSTD_LEVEL)
