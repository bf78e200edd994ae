# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of the Trace Event Format that checks each rule of its description.

Source: "Trace Event Format" of Chromium's trace viewer (its document on JSON Object Format, on the
phases X, b, e, s, f, i, C and M, and on nesting). It shares no code with swapsim.
"""

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

Event = dict[str, Any]

HEAD = {"ph", "pid", "tid", "ts", "name"}
MUST = {
    "X": {"dur"},
    "b": {"cat", "id2"},
    "e": {"cat", "id2"},
    "s": {"cat", "id"},
    "f": {"cat", "id", "bp"},
    "i": {"s"},
    "C": {"args"},
    "M": {"args"},
}
MAY = {"X": {"args", "cat"}, "b": {"args"}, "i": {"args", "cat"}}
METADATA = {"process_name": "name", "process_sort_index": "sort_index", "thread_name": "name"}


@dataclass
class Read:
    """A file of events, by phase, and the names of its tracks; times are ns."""

    about: dict[str, Any]
    events: list[Event]
    phases: dict[str, list[Event]] = field(default_factory=lambda: defaultdict(list))
    processes: dict[int, str] = field(default_factory=dict)
    threads: dict[tuple[int, int], str] = field(default_factory=dict)

    def slices(self, name: str) -> list[Event]:
        """Return the slices whose name begins so."""
        return [event for event in self.phases["X"] if event["name"].startswith(name)]


def read(path: Path) -> Read:
    """Read a plain or compressed file and check all of it."""
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    content = json.loads(text, parse_float=Decimal)
    assert set(content) == {"displayTimeUnit", "otherData", "traceEvents"}
    assert content["displayTimeUnit"] in {"ms", "ns"}
    found = Read(about=content["otherData"], events=content["traceEvents"])
    for event in found.events:
        check_fields(event)
        found.phases[event["ph"]].append(event)
    check_names(found)
    check_slices(found)
    check_pairs(found)
    check_arrows(found)
    return found


def check_fields(event: Event) -> None:
    """An event has the fields that its phase needs, of the right types, and no unknown ones."""
    phase = event["ph"]
    assert phase in MUST, event
    assert set(event) >= HEAD | MUST[phase], event
    assert set(event) <= HEAD | MUST[phase] | MAY.get(phase, set()), event
    assert isinstance(event["name"], str), event
    assert event["name"], event
    assert all(type(event[key]) is int and event[key] >= 0 for key in ("pid", "tid")), event
    # perfetto takes thread 0 for the first one of its process.
    assert phase not in "Xisf" or event["tid"] > 0, event
    for key in {"ts", "dur"} & set(event):
        assert event[key] >= 0, event
        event[key] = nanoseconds(event[key])
    if "args" in event:
        assert isinstance(event["args"], dict), event
        assert event["args"], event
    assert event.get("s", "t") == "t", event
    assert event.get("bp", "e") == "e", event
    if phase == "C":
        numbers = event["args"].values()
        assert all(isinstance(n, int | Decimal) and not isinstance(n, bool) for n in numbers), event


def nanoseconds(time: Decimal | int) -> int:
    """Return a time as perfetto computes it: a double of microseconds, times 1000, truncated."""
    cut = int(float(time) * 1000)
    assert 0 <= Decimal(time) * 1000 - cut < Decimal("0.5"), time
    return cut


def check_names(found: Read) -> None:
    """Metadata events name each process and thread once, and each process that has events."""
    for event in found.phases["M"]:
        key = METADATA[event["name"]]
        assert set(event["args"]) == {key}, event
        if event["name"] == "process_name":
            assert event["pid"] not in found.processes, event
            found.processes[event["pid"]] = event["args"]["name"]
        if event["name"] == "thread_name":
            track = event["pid"], event["tid"]
            assert track not in found.threads, event
            found.threads[track] = event["args"]["name"]
    assert {event["pid"] for event in found.events} == set(found.processes)


def check_slices(found: Read) -> None:
    """Slices of a thread nest: one that begins in another ends no later than that one."""
    tracks = defaultdict(list)
    for event in found.phases["X"]:
        tracks[event["pid"], event["tid"]].append(event)
    for events in tracks.values():
        open_until: list[int] = []
        for event in sorted(events, key=lambda event: event["ts"]):  # stable: as viewers do
            begin, end = event["ts"], event["ts"] + event["dur"]
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1], event
            open_until.append(end)


def check_pairs(found: Read) -> None:
    """Each asynchronous slice begins once and ends once, not before it began."""
    begun = {}
    for event in found.phases["b"]:
        key = pair_of(event)
        assert key not in begun, event
        begun[key] = event["ts"]
    for event in found.phases["e"]:
        assert begun.pop(pair_of(event)) <= event["ts"]
    assert not begun


def pair_of(event: Event) -> tuple[int, str, str, str]:
    """Return the key of an asynchronous slice, which its two ends share."""
    assert set(event["id2"]) == {"local"}, event
    return event["pid"], event["cat"], event["id2"]["local"], event["name"]


def check_arrows(found: Read) -> None:
    """Each arrow begins and ends in a slice, and ends no sooner than it begins."""
    spans = defaultdict(list)
    for event in found.phases["X"]:
        track = event["pid"], event["tid"]
        spans[track].append((event["ts"], event["ts"] + event["dur"]))
    begun = {}
    for event in found.phases["s"]:
        key = event["cat"], event["id"], event["name"]
        assert key not in begun, event
        begun[key] = event["ts"]
    for event in found.phases["f"]:
        assert begun.pop((event["cat"], event["id"], event["name"])) <= event["ts"]
    assert not begun
    for event in [*found.phases["s"], *found.phases["f"]]:
        around = spans[event["pid"], event["tid"]]
        assert any(begin <= event["ts"] < end for begin, end in around), event
