# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON lines of bpftrace, ``bpftrace -f json``, whose script prints lines of ftrace's text."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from swapsim.errors import InputError
from swapsim.io import parse_json_lines
from swapsim.traces.recording import Recording

_MOST_LOST: Final = 2**63 - 1
"""The largest number that trace.toml can have."""


def read_bpftrace(pieces: Iterator[bytes], recording: Recording) -> Iterator[bytes]:
    """Yield the text that the script printed; count lost events, whose CPU bpftrace leaves out."""
    rest = b""
    number = 0
    for piece in chain(pieces, [b""]):
        lines, end, rest = (rest + piece).rpartition(b"\n") if piece else (rest, b"", b"")
        printed = _all_printed(lines + end, recording)
        if printed is None:
            each = enumerate(lines.split(b"\n"), number + 1)
            printed = b"".join(_printed(line, at, recording) for at, line in each)
        number += lines.count(b"\n") + len(end)
        yield printed


def _all_printed(lines: bytes, recording: Recording) -> bytes | None:
    """Return what lines say that was printed; None if one of them has to be read alone."""
    try:
        reports = parse_json_lines(lines, ("type", "data"), recording.path)
    except InputError:
        return None
    printed = reports.filter(type="printf")["data"]
    odd = b"\\u" in lines or "lost_events" in reports["type"] or reports["type"].has_nulls()
    if odd or printed.has_nulls() or reports.height != lines.count(b"\n"):
        return None
    return str(printed.str.join("").item()).encode()


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
