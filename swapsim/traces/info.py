# SPDX-License-Identifier: GPL-2.0-or-later
"""What a trace folder holds, in some lines."""

from pathlib import Path
from typing import Any, Final

from swapsim.traces.folder import FILES, events, provenance
from swapsim.traces.replays import replays_of

_WIDEST: Final = 100
"""Letters of a line that holds several things; what takes more has a line for each."""


def info(folder: Path | str) -> str:
    """Say in some lines what a trace folder holds, whence it is, and which replays it can feed.

    Raises
    ------
    InputError
        As for `provenance` and `events`.
    """
    items = provenance(folder)
    counted = events(folder)
    held = "as they were written" if FILES in items else "held to no sha256: trace.toml tells none"
    width = max((len(event) for event in counted["event"]), default=0)
    lines = [f"{folder}: {counted['rows'].sum()} rows of {counted.height} events, {held}"]
    lines += [f"  {event:{width}} {rows:>12}" for event, rows in counted.iter_rows()]
    gone = [name for name in items.get(FILES, ()) if not (Path(folder) / name).exists()]
    lines += [f"  {name} is not here, though trace.toml tells of it" for name in gone]
    lines.append("provenance:")
    for title, table in items.items():
        if title not in ("events", FILES):
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
    items = [
        " ".join(str(item).split()) for item in (value if isinstance(value, list) else [value])
    ]
    line = f"  {title}: {', '.join(items)}"
    if len(items) == 1 or len(line) <= _WIDEST:
        return [line]
    return [f"  {title}:", *(f"    {item}" for item in items)]
