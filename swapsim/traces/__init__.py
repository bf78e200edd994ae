# SPDX-License-Identifier: GPL-2.0-or-later
"""What real kernels did: trace folders are imported, read and described here.

A trace folder holds ``EVENT.parquet`` per event, and ``trace.toml``: where it
comes from, and in its table [files] the sha256 of each Parquet file, which whoever reads one
compares. It appears whole or not at all.
"""

from swapsim.traces.folder import (
    PROVENANCE,
    events,
    provenance,
    read_event,
    require_order,
    scan_event,
    table_bytes,
)
from swapsim.traces.importing import ImportSummary, import_text
from swapsim.traces.info import info
from swapsim.traces.replays import locate, replays_of, require_events, shipped
from swapsim.traces.signing import sign

__all__ = [
    "PROVENANCE",
    "ImportSummary",
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
    "sign",
    "table_bytes",
]
