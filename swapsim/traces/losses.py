# SPDX-License-Identifier: GPL-2.0-or-later
"""What a trace lacks of its recording, so that figures computed of it may be off."""

from pathlib import Path
from typing import Final

from swapsim.traces.folder import FILES, locate, provenance

_KINDS: Final = (
    ("gaps_of_unknown_size", "losses of unknown size"),
    ("overwritten", "events overwritten before its begin"),
)


def losses(folder: Path | str) -> list[str]:
    """Return in words what a trace folder lacks: events, lines, order, tables; else nothing."""
    origin, located = provenance(folder), locate(folder)
    lost, skipped = origin.get("lost", {}), sum(origin.get("skipped", {}).values())
    earlier = origin.get("text", {}).get("earlier_events", 0)
    return [
        *(f"{n:,} events lost on CPU {cpu}" for cpu, n in lost.get("events_by_cpu", {}).items()),
        *(f"{lost[kind]:,} {words}" for kind, words in _KINDS if lost.get(kind)),
        *([f"{skipped:,} line{'s' * (skipped > 1)} skipped by its import"] if skipped else []),
        *(
            [f"{earlier:,} event{'s' * (earlier > 1)} earlier than the one before"]
            if earlier
            else []
        ),
        *(f"{name} missing" for name in origin.get(FILES, ()) if not (located / name).exists()),
    ]
