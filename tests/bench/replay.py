# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows a second of the writeback-tags replay, compared with the plain Python model."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import harness
import polars as pl

from swapsim import traces
from swapsim.io import shipped_traces
from swapsim.mapping import MappingConfig, replay_rows, writeback_rows

NAMES = ("replay/memory", "replay/parquet")
COPIES = 20
"""The shipped trace is short: it is replayed this many times in one go."""

MODEL_ROWS = 100_000


def run() -> Iterator[dict[str, object]]:
    """Yield the benchmarks of NAMES."""
    import oracle_replay

    trace = shipped_traces()["random-80-20"]
    once = writeback_rows(trace)
    rows = copies(once, int(once["seq"].max()) + 1)  # type: ignore[arg-type]
    few = list(rows.head(MODEL_ROWS).select("op", "folio", "index", "file").iter_rows())
    config = MappingConfig()

    def by_model() -> None:
        model = oracle_replay.Oracle("4.8", tags=True, trunk_shift=14)
        for row in few:
            model.feed(*row)

    with tempfile.TemporaryDirectory() as folder:
        enlarge(trace, Path(folder), int(once["seq"].max()) + 1)  # type: ignore[arg-type]
        sides: dict[str, Callable[[], object]] = {
            "replay/memory": lambda: replay_rows(rows, config),
            "replay/parquet": lambda: replay_rows(writeback_rows(folder), config),
        }
        unit = f"million rows/s ({harness.MODEL})"
        for name, call in sides.items():
            ours = partial(harness.rate, rows.height, call)
            peer = partial(harness.rate, MODEL_ROWS, by_model)
            yield harness.compare(name, unit, ours, peer, 1e6)


def copies(frame: pl.DataFrame, period: int) -> pl.DataFrame:
    """Return copies of a table, one after another in time."""
    later = (pl.lit(copy * period, dtype=pl.UInt64) for copy in range(COPIES))
    return pl.concat([frame.with_columns(pl.col("seq") + shift) for shift in later])


def enlarge(trace: Path, folder: Path, period: int) -> None:
    """Write a trace folder that contains a trace several times, one after another."""
    for event in traces.events(trace)["event"]:
        table = traces.scan_event(trace, event).collect()
        copies(table, period).write_parquet(folder / f"{event}.parquet")
    (folder / traces.PROVENANCE).write_text('[text]\nname = "copies"\n')
