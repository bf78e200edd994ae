# SPDX-License-Identifier: GPL-2.0-or-later
"""What a trace folder holds, in some lines."""

from pathlib import Path
from typing import Any

from swapsim.traces.folder import events, provenance
from swapsim.traces.replays import replays_of


def describe(folder: Path | str) -> str:
    """Say in some lines what a trace folder holds, whence it is, and which replays it can feed.

    Raises
    ------
    InputError
        As for `provenance` and `events`.
    """
    told = provenance(folder)
    counted = events(folder)
    width = max((len(event) for event in counted["event"]), default=0)
    lines = [f"{folder}: {counted['rows'].sum()} rows of {counted.height} events"]
    lines += [f"  {event:{width}} {rows:>12}" for event, rows in counted.iter_rows()]
    lines.append("provenance:")
    for title, table in told.items():
        if title != "events":
            lines += _describe_table(title, table)
    lines.append("replays:")
    for replay, can, missing in replays_of(counted["event"]).iter_rows():
        lines.append(f"  {replay}: {'yes' if can else f'no, it lacks {missing}'}")
    return "\n".join(lines)


def _describe_table(title: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return [
            line for key, item in value.items() for line in _describe_table(f"{title}.{key}", item)
        ]
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return [f"  {title}: {' '.join(str(value).split())}"]
