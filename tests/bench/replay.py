# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows a second of the writeback-tags replay, beside the plain Python oracle."""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from swapsim import traces
from swapsim.io.paths import repository_root, shipped_traces
from swapsim.mapping.config import MappingConfig
from swapsim.mapping.replay import replay_rows
from swapsim.mapping.rows import writeback_rows

NAMES = ("replay/memory", "replay/parquet")
ROUNDS = 5
COPIES = 20
"""The shipped trace is short: it is replayed this many times in one go."""

ORACLE_ROWS = 100_000


def run() -> Iterator[dict[str, object]]:
    """Yield a row per name; ours and peer alternate, medians of five."""
    sys.path.insert(0, str(repository_root() / "tests" / "oracles"))
    import oracle_replay

    trace = shipped_traces()["random-80-20"]
    once = writeback_rows(trace)
    rows = copies(once, int(once["seq"].max()) + 1)  # type: ignore[arg-type]
    few = list(rows.head(ORACLE_ROWS).select("op", "folio", "index", "file").iter_rows())
    config = MappingConfig()

    def oracle() -> None:
        model = oracle_replay.Oracle("4.8", tags=True, trunk_shift=14)
        for row in few:
            model.feed(*row)

    with tempfile.TemporaryDirectory() as folder:
        enlarge(trace, Path(folder), int(once["seq"].max()) + 1)  # type: ignore[arg-type]
        yield measured("replay/memory", lambda: replay_rows(rows, config), rows.height, oracle)
        yield measured(
            "replay/parquet",
            lambda: replay_rows(writeback_rows(folder), config),
            rows.height,
            oracle,
        )


def copies(frame: pl.DataFrame, period: int) -> pl.DataFrame:
    """Return a table laid end to end, each copy later by the whole trace."""
    later = (pl.lit(copy * period, dtype=pl.UInt64) for copy in range(COPIES))
    return pl.concat([frame.with_columns(pl.col("seq") + shift) for shift in later])


def enlarge(trace: Path, folder: Path, period: int) -> None:
    """Write a trace folder whose every table is laid end to end."""
    for event in traces.events(trace)["event"]:
        table = traces.scan_event(trace, event).collect()
        copies(table, period).write_parquet(folder / f"{event}.parquet")
    (folder / traces.PROVENANCE).write_text('[text]\nname = "copies"\n')


def measured(
    name: str, ours: Callable[[], object], rows: int, peer: Callable[[], object]
) -> dict[str, object]:
    """Return one line of the benchmark, rates in million rows a second."""
    seconds: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(ROUNDS):
        for side, call in (("ours", ours), ("peer", peer)):
            start = time.perf_counter()
            call()
            seconds[side].append(time.perf_counter() - start)
    our_rate = rows / statistics.median(seconds["ours"]) / 1e6
    peer_rate = ORACLE_ROWS / statistics.median(seconds["peer"]) / 1e6
    return {
        "name": name,
        "ours": round(our_rate, 3),
        "peer": round(peer_rate, 3),
        "unit": "million rows/s (peer: the Python oracle)",
        "ratio": round(our_rate / peer_rate, 2),
    }
