# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON lines of bpftrace, ``bpftrace -f json``, whose script prints lines of ftrace's text."""

import json
from collections.abc import Iterator
from typing import Any, Final

from swapsim.traces.recording import Recording

_MOST_LOST: Final = 2**63 - 1
"""The largest number that trace.toml can have."""


def read_bpftrace(pieces: Iterator[bytes], recording: Recording) -> Iterator[bytes]:
    """Yield the text that the script printed; count lost events, whose CPU bpftrace leaves out."""
    rest = b""
    number = 0
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        printed = []
        for line in lines:
            number += 1
            printed.append(_printed(line, number, recording))
        yield b"".join(printed)
    if rest:
        yield _printed(rest, number + 1, recording)


def _printed(line: bytes, number: int, recording: Recording) -> bytes:
    """Return what a line says that was printed, and nothing for all else that bpftrace reports."""
    if not line.strip():
        return b""
    try:
        report = json.loads(line)
        kind, data = report["type"], report.get("data")
        if kind == "printf":
            return str(data).encode()
        if kind == "lost_events":
            recording.unplaced += _count(data["events"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        problem = f"is no report of bpftrace, or is cut short ({_in_words(error)})"
        recording.skip("line", number, problem)
    return b""


def _count(events: object) -> int:
    if not isinstance(events, int) or not 0 <= events <= _MOST_LOST:
        raise ValueError("a number of lost events that cannot be")
    return events


def _in_words(error: Any) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)
