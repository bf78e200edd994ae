# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of reclaim with generations that a trace ships."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from swapsim import generations
from swapsim.traces import JoinedEvents

MARKS: Final = "tracing_mark_write"
"""The rig's own marks, which no replay reads."""


def _join(frames: Mapping[str, pl.DataFrame]) -> Mapping[str, pl.DataFrame]:
    read = {event: frame for event, frame in frames.items() if event != MARKS}
    return generations.JOINED_EVENTS.join(read)


JOINED: Final = JoinedEvents(events=generations.JOINED_EVENTS.events | {MARKS}, join=_join)
