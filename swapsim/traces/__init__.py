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
from swapsim.traces.reclaim_rows import ReclaimRows, check_reclaim_rows, reclaim_rows
from swapsim.traces.replays import locate, replays_of, require_events, shipped
from swapsim.traces.signing import sign
from swapsim.traces.slot_events import (
    SlotSetUp,
    check_slot_events,
    handed_out,
    slot_events,
    slot_set_up,
    thinned,
)
from swapsim.traces.slot_requests import request_streams, traced_device

__all__ = [
    "PROVENANCE",
    "ImportSummary",
    "ReclaimRows",
    "SlotSetUp",
    "check_reclaim_rows",
    "check_slot_events",
    "events",
    "handed_out",
    "import_text",
    "info",
    "locate",
    "provenance",
    "read_event",
    "reclaim_rows",
    "replays_of",
    "request_streams",
    "require_events",
    "require_order",
    "scan_event",
    "shipped",
    "sign",
    "slot_events",
    "slot_set_up",
    "table_bytes",
    "thinned",
    "traced_device",
]
