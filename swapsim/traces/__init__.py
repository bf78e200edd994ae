# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of real kernels: trace folders are imported, read and described here.

A trace folder has ``EVENT.parquet`` per event, and ``trace.toml`` with its provenance and, in the
table [files], the sha256 of each Parquet file, which is compared before a file is read. A folder
appears complete or not at all.
"""

from swapsim.traces._native import CLOCK as CLOCK
from swapsim.traces.folder import PROVENANCE as PROVENANCE
from swapsim.traces.folder import described as described
from swapsim.traces.folder import events as events
from swapsim.traces.folder import info as info
from swapsim.traces.folder import locate as locate
from swapsim.traces.folder import provenance as provenance
from swapsim.traces.folder import read_event as read_event
from swapsim.traces.folder import require_events as require_events
from swapsim.traces.folder import require_order as require_order
from swapsim.traces.folder import scan_event as scan_event
from swapsim.traces.folder import shipped as shipped
from swapsim.traces.folder import shipped_folders as shipped_folders
from swapsim.traces.folder import shipped_traces as shipped_traces
from swapsim.traces.folder import sign as sign
from swapsim.traces.folder import table_bytes as table_bytes
from swapsim.traces.importing import ImportSummary as ImportSummary
from swapsim.traces.importing import JoinedEvents as JoinedEvents
from swapsim.traces.importing import import_text as import_text
