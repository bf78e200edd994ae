# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of reclaim of stock kernels that a trace ships: generations, and throttles."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim.mglru import joining as mglru
from swapsim.stall import sums_joining
from swapsim.traces import JoinedEvents

MARKS: Final = "tracing_mark_write"
"""The rig's own marks, which no replay reads."""


def _without_marks(joined: JoinedEvents) -> JoinedEvents:
    def join(
        frames: Mapping[str, pl.DataFrame], head: Mapping[str, Any]
    ) -> Mapping[str, pl.DataFrame]:
        read = {event: frame for event, frame in frames.items() if event != MARKS}
        return joined.join(read, head)

    return JoinedEvents(events=joined.events | {MARKS}, join=join)


JOINED: Final = {
    "generations": _without_marks(mglru.JOINED_EVENTS),
    "throttles": _without_marks(sums_joining.JOINED_EVENTS),
}
"""By the beginning of the names of their groups of events."""
