# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of a recording whose CPUs were written one by one, in order of time."""

from collections.abc import Callable, Collection
from typing import Final

import numpy as np
import polars as pl

from swapsim.traces._native import CLOCK
from swapsim.traces.raw_fields import as_printed
from swapsim.traces.recording import Recording

_UNKNOWN: Final = "<...>"
"""The name of a task that ftrace has forgotten."""


class ByTime:
    """Collects all rows, and passes them on with seq in order of time.

    Rows of the same time stay in the order in which they came.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._rows: dict[str, list[pl.DataFrame]] = {}

    def take(self, event: str, rows: pl.DataFrame) -> None:
        """Accept some rows of an event, with CLOCK."""
        self._rows.setdefault(event, []).append(rows)

    def finish(
        self, sink: Callable[[str, pl.DataFrame], None], with_clock: Collection[str]
    ) -> None:
        """Pass on the rows of each event; CLOCK is left out except for some events."""
        tables = {
            event: pl.concat(rows, how="diagonal").rechunk() for event, rows in self._rows.items()
        }
        self._rows = {}
        place = self._places(tables)
        for event in sorted(tables):
            rows = tables.pop(event)
            rows = rows.with_columns(pl.Series("seq", place[rows["seq"].to_numpy()]))
            rows = rows if rows["seq"].is_sorted() else rows.sort("seq")
            rows = as_printed(event, self._named(rows))
            sink(event, rows if event in with_clock else rows.drop(CLOCK))

    @staticmethod
    def _places(tables: dict[str, pl.DataFrame]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        """Return for each number of a row its place in the order of time."""
        times = [
            rows.select("seq", time=pl.coalesce(CLOCK, pl.col("t_ns").cast(pl.UInt64)))
            for rows in tables.values()
        ]
        if not times:
            return np.zeros(0, np.uint64)
        seq, time = (pl.concat(each[name] for each in times).to_numpy() for name in ("seq", "time"))
        # A line that cannot be read has a number, but no row.
        by_seq = np.full(int(seq.max()) + 1, np.iinfo(np.uint64).max, np.uint64)
        by_seq[seq] = time
        place = np.empty(len(by_seq), np.uint64)
        place[np.argsort(by_seq, kind="stable")] = np.arange(len(by_seq), dtype=np.uint64)
        return place

    def _named(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows with the names of tasks that came apart from the events."""
        names = self._recording.names
        if not names:
            return rows
        known = pl.col("pid").replace_strict(names, default=None, return_dtype=pl.String)
        unknown = pl.col("comm") == _UNKNOWN
        return rows.with_columns(
            comm=pl.when(unknown).then(known.fill_null(_UNKNOWN)).otherwise("comm")
        )
