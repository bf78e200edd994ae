# SPDX-License-Identifier: GPL-2.0-or-later
"""The events of a text of ftrace, written as trace-cmd records them."""

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_HEAD = re.compile(
    r" *(?P<comm>.+?)-(?P<pid>\d+) +(?:\(.*?\) )?\[(?P<cpu>\d+)\] \S+ +(?P<time>[\d.]+): "
    r"(?P<event>\w+): +(?P<rest>.*)"
)
_FIELD = re.compile(r"(?:^|(?<= ))(?:(dev|ino|bdi) |(\w+)=)([^ ]+)")

Value = int | str


@dataclass(frozen=True)
class Event:
    """An event and its fields."""

    t_ns: int
    cpu: int
    pid: int
    comm: str
    name: str
    fields: Mapping[str, Value]


def events_of(text: str) -> list[Event]:
    """Return the events of a text of tracefs or trace-cmd."""
    found = []
    for line in text.splitlines():
        head = _HEAD.fullmatch(line)
        if head:
            words = {(dev or key): value for dev, key, value in _FIELD.findall(head["rest"])}
            fields = {key: _value(value) for key, value in words.items()}
            seconds, point, decimals = head["time"].partition(".")
            time = int(seconds + decimals.ljust(9, "0")) if point else int(seconds)
            task = int(head["cpu"]), int(head["pid"]), head["comm"].strip()
            found.append(Event(time, *task, head["event"], fields))
    return found


def _value(value: str) -> Value:
    """Return a number, of which an address is one below 2^64, or the word that it is not."""
    if value.startswith("0x") or re.fullmatch(r"[0-9a-f]{16}", value):
        return int(value, 16)
    return int(value) if re.fullmatch(r"-?\d+", value) else value


_ADDRESSES = ("folio", "entry", "flags", "mapping", "private", "shadow", "pfn", "page", "memcg")

_PAGE_BYTES = 4096
_DATA_BYTES = 112  # the longest event that its type_len counts: 28 words
_COMMON = (("unsigned short", "type", 2), ("char", "flags", 1), ("char", "count", 1))
_PAGE_HEAD = (
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"
)
_EVENT_HEAD = (
    "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
    "\tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n"
    "\ttime_stamp : type == 31\n\tdata max type_len  == 28\n"
)


def numeric(events: Sequence[Event]) -> list[Event]:
    """Return the events that `trace_dat` can write: all of their fields are numbers."""
    return [
        event
        for event in events
        if event.fields
        and all(isinstance(value, int) for value in event.fields.values())
        and 8 + 8 * len(event.fields) <= _DATA_BYTES
    ]


def trace_dat(events: Sequence[Event]) -> bytes:
    """Return a trace.dat of version 6, a page of the ring buffer after the other for each CPU.

    Source: trace-cmd.dat.v6(5), and the formats of events in tracefs.
    """
    kinds = {event.name: event for event in events}
    numbers = {name: 1000 + at for at, name in enumerate(kinds)}
    formats = [_format(event, numbers[name]).encode() for name, event in kinds.items()]
    commands = "".join(f"{pid} {comm}\n" for pid, comm in {e.pid: e.comm for e in events}.items())
    head = [
        b"\x17\x08\x44tracing6\0\0\x08" + struct.pack("<I", _PAGE_BYTES),
        b"header_page\0" + _sized(_PAGE_HEAD.encode()),
        b"header_event\0" + _sized(_EVENT_HEAD.encode()),
        struct.pack("<II", 0, 1) + b"swapsim\0" + struct.pack("<I", len(formats)),
        *map(_sized, formats),
        struct.pack("<II", 0, 0),
        _sized(commands.encode()),
    ]
    cpus = max(event.cpu for event in events) + 1
    head.append(struct.pack("<I", cpus) + b"options  \0\0\0flyrecord\0")
    at = -(-(sum(map(len, head)) + 16 * cpus) // _PAGE_BYTES) * _PAGE_BYTES
    bodies = [_pages([e for e in events if e.cpu == cpu], numbers) for cpu in range(cpus)]
    for body in bodies:
        head.append(struct.pack("<QQ", at, len(body)))
        at += len(body)
    front = b"".join(head)
    return front + bytes(-len(front) % _PAGE_BYTES) + b"".join(bodies)


def _sized(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def _format(event: Event, number: int) -> str:
    """Return an event's format as tracefs prints it: its common fields, and its own of 8 bytes."""
    common = [(kind, f"common_{name}", size) for kind, name, size in _COMMON]
    fields = [*common, ("int", "common_pid", 4), *(("u64", f, 8) for f in event.fields)]
    lines, at = [], 0
    for kind, name, size in fields:
        signed = int(kind == "int")
        lines.append(f"\tfield:{kind} {name};\toffset:{at};\tsize:{size};\tsigned:{signed};\n")
        at += size
    lines.insert(4, "\n")
    text = " ".join(f"{name}={'0x%Lx' if name in _ADDRESSES else '%Ld'}" for name in event.fields)
    values = "".join(f", REC->{name}" for name in event.fields)
    fields_text = "".join(lines)
    return (
        f'name: {event.name}\nID: {number}\nformat:\n{fields_text}\nprint fmt: "{text}"{values}\n'
    )


def _pages(events: Sequence[Event], numbers: Mapping[str, int]) -> bytes:
    """Return pages of a CPU's events, whose times are differences to the event before."""
    pages: list[tuple[int, bytearray]] = []
    before = 0
    for event in events:
        values = (int(value) & (1 << 64) - 1 for value in event.fields.values())
        data = struct.pack("<HBBi", numbers[event.name], 0, 0, event.pid)
        data += b"".join(struct.pack("<Q", value) for value in values)
        later = event.t_ns - before
        full = not pages or len(pages[-1][1]) + 4 + len(data) > _PAGE_BYTES - 16
        if full or not 0 <= later < 1 << 27:
            pages.append((event.t_ns, bytearray()))
            later = 0
        pages[-1][1].extend(struct.pack("<I", len(data) // 4 | later << 5) + data)
        before = event.t_ns
    return b"".join(
        struct.pack("<QQ", t_ns, len(data)) + bytes(data) + bytes(_PAGE_BYTES - 16 - len(data))
        for t_ns, data in pages
    )
