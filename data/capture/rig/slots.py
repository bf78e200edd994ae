# SPDX-License-Identifier: GPL-2.0-or-later
"""The events of the slot allocator, as the one table that replays of them read."""

from pathlib import Path
from typing import Final

import polars as pl

from rig.errors import GuestError
from swapsim.slots.events import SLOT_EVENTS

EVENT: Final = "slot_events"
# The kernel's event has all fields; which of them an op means, null elsewhere.
FIELDS: Final = {
    "n": ("call", "done", "fail", "free", "reuse"),
    "offset": ("alloc", "free", "reuse"),
    "base": ("call",),
    "next": ("done",),
    "lowest": ("call",),
    "highest": ("call",),
}
# Slot events have little else than numbers that repeat: the highest level saves a third.
ZSTD_LEVEL: Final = 19


def tabulate(folder: Path) -> None:
    """Rewrite a new trace folder's slot events, if it has any, as SLOT_EVENTS.

    Raises
    ------
    GuestError
        A row is not what the kernel's event line writes.
    """
    path = folder / f"{EVENT}.parquet"
    if not path.exists():
        return
    events = pl.read_parquet(path)
    try:
        table = events.with_columns(
            pl.when(pl.col("op").is_in(ops)).then(pl.col(field)).alias(field)
            for field, ops in FIELDS.items()
        ).select(pl.col(name).cast(kind) for name, kind in SLOT_EVENTS.items())
    except pl.exceptions.PolarsError as error:
        raise GuestError(f"the kernel's slot events are not as expected: {error}") from error
    table.write_parquet(path, compression="zstd", compression_level=ZSTD_LEVEL)
