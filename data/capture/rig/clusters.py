# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the cluster allocators that a trace ships."""

from pathlib import Path
from typing import Final

import polars as pl

from rig.slots import ZSTD_LEVEL

EVENTS: Final = "cluster_events"
DEVICES: Final = "cluster_devices"


def tabulate(folder: Path) -> None:
    """Keep CLUSTER_EVENTS and CLUSTER_DEVICES alone in a new trace folder that has them.

    No replay reads the other events of the probes: the requests that the slot cache of 6.12 serves,
    the slots that it returns, results of the attempts to reclaim, the rig's own marks.
    """
    path = folder / f"{EVENTS}.parquet"
    if not path.exists():
        return
    for other in folder.glob("*.parquet"):
        if other.stem not in (EVENTS, DEVICES):
            other.unlink()
    events = pl.read_parquet(path)
    events.write_parquet(path, compression="zstd", compression_level=ZSTD_LEVEL)
