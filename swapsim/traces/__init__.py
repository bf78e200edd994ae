# SPDX-License-Identifier: GPL-2.0-or-later
"""What real kernels did: trace folders are imported, read and described here.

A trace folder holds ``EVENT.parquet`` per event, and ``trace.toml``: where it
comes from. It appears whole or not at all.
"""

from swapsim.traces.description import describe
from swapsim.traces.folder import PROVENANCE, events, provenance, scan_event
from swapsim.traces.importing import ImportSummary, import_text
from swapsim.traces.replays import replays_of, require_events, shipped
from swapsim.traces.slot_events import (
    SlotSetUp,
    handed_out,
    slot_events,
    slot_set_up,
    thinned,
)
from swapsim.traces.slot_requests import request_streams, traced_device

__all__ = [
    "PROVENANCE",
    "ImportSummary",
    "SlotSetUp",
    "describe",
    "events",
    "handed_out",
    "import_text",
    "provenance",
    "replays_of",
    "request_streams",
    "require_events",
    "scan_event",
    "shipped",
    "slot_events",
    "slot_set_up",
    "thinned",
    "traced_device",
]
