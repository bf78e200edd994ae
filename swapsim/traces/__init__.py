# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of real kernels: trace folders are imported, read and described here.

A trace folder has ``EVENT.parquet`` per event, and ``trace.toml`` with its provenance and, in the
table [files], the sha256 of each Parquet file, which is compared before a file is read. A folder
appears complete or not at all.
"""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.traces._native import CLOCK
from swapsim.traces.folder import (
    PROVENANCE,
    events,
    locate,
    provenance,
    read_event,
    require_order,
    scan_event,
    sign,
    table_bytes,
)
from swapsim.traces.importing import ImportSummary, JoinedEvents, import_text
from swapsim.traces.replays import (
    described,
    info,
    replays_of,
    require_events,
    shipped,
    shipped_traces,
)

if TYPE_CHECKING:
    from swapsim.traces import probes as probes
    from swapsim.traces import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "probes", "tables")

__all__ = [
    "CLOCK",
    "PROVENANCE",
    "ImportSummary",
    "JoinedEvents",
    "described",
    "events",
    "import_text",
    "info",
    "locate",
    "provenance",
    "read_event",
    "replays_of",
    "require_events",
    "require_order",
    "scan_event",
    "shipped",
    "shipped_traces",
    "sign",
    "table_bytes",
]
