# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the cluster allocators that a trace ships."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim.clusters.joining import JOINED_EVENTS
from swapsim.traces import JoinedEvents

TABLES: Final = ("cluster_events", "cluster_devices")
ZSTD_LEVEL: Final = 22
# Events of the same probes that no replay reads: what is returned to the slot cache of 6.12, the
# ends of attempts and passes, the rig's own marks.
LEFT_OUT: Final = frozenset(
    {"slot_return", "slot_flush", "slot_try_end", "discard_pass_end", "tracing_mark_write"}
)


def _join(frames: Mapping[str, pl.DataFrame], head: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    read = {event: frame for event, frame in frames.items() if event not in LEFT_OUT}
    joined = JOINED_EVENTS.join(read, head)
    # On 6.12 the requests that its slot cache serves are tables of their own.
    return {name: joined[name] for name in TABLES} if TABLES[0] in joined else joined


JOINED: Final = JoinedEvents(events=JOINED_EVENTS.events | LEFT_OUT, join=_join)


def compress(folder: Path) -> None:
    """Write CLUSTER_EVENTS as small as zstd can."""
    path = folder / f"{TABLES[0]}.parquet"
    if path.exists():
        events = pl.read_parquet(path)
        events.write_parquet(path, compression="zstd", compression_level=ZSTD_LEVEL)
