# SPDX-License-Identifier: GPL-2.0-or-later
"""The events of a text of ftrace, written as other programs record them.

perfetto and bpftrace have an event's fields as in its structure: numbers in place of words, other
names than in the text. They are turned back here, and encoded by the protobuf library, whose
descriptors are declared a second time, with all of an event, which swapsim reads in C.
"""

import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_HEAD = re.compile(
    r" *(?P<comm>.+?)-(?P<pid>\d+) +(?:\(.*?\) )?\[(?P<cpu>\d+)\] \S+ +(?P<time>[\d.]+): "
    r"(?P<event>\w+): +(?P<rest>.*)"
)
_FIELD = re.compile(r"(?:^|(?<= ))(?:(dev|ino|bdi) |(\w+)=)([^ ]+)")

Value = int | str


@dataclass(frozen=True)
class Event:
    """An event, and its fields as in its structure; an address is a number below 2^64."""

    t_ns: int
    cpu: int
    pid: int
    comm: str
    name: str
    fields: Mapping[str, Value]


_LRU = ("inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable")
_BITS = {
    "RECLAIM_WB_ANON": 1,
    "RECLAIM_WB_FILE": 2,
    "RECLAIM_WB_SYNC": 4,
    "RECLAIM_WB_ASYNC": 8,
    "RECLAIM_WB_MIXED": 16,
    "VMSCAN_THROTTLE_ISOLATED": 2,
}
_NAMES = {
    "mm_vmscan_lru_isolate": {"classzone": "highest_zoneidx"},
    "mm_vmscan_lru_shrink_inactive": {
        "nr_activate_anon": "nr_activate0",
        "nr_activate_file": "nr_activate1",
        "flags": "reclaim_flags",
    },
    "mm_vmscan_write_folio": {"flags": "reclaim_flags"},
    "mm_vmscan_throttled": {"usect_delayed": "usec_delayed"},
    "mm_filemap_add_to_page_cache": {"ino": "i_ino", "dev": "s_dev", "ofs": "index"},
    "mm_filemap_delete_from_page_cache": {"ino": "i_ino", "dev": "s_dev", "ofs": "index"},
    "writeback_dirty_folio": {"bdi": "name"},
}
TYPED = {
    "mm_vmscan_direct_reclaim_begin": (46, {"order": 1, "gfp_flags": 3}),
    "mm_vmscan_direct_reclaim_end": (47, {"nr_reclaimed": 1}),
    "mm_vmscan_kswapd_wake": (48, {"nid": 1, "order": 2}),
    "mm_vmscan_kswapd_sleep": (49, {"nid": 1}),
    "mm_filemap_add_to_page_cache": (97, {"pfn": 1, "i_ino": 2, "index": 3, "s_dev": 4}),
    "mm_filemap_delete_from_page_cache": (98, {"pfn": 1, "i_ino": 2, "index": 3, "s_dev": 4}),
    "mm_vmscan_memcg_reclaim_begin": (607, {"order": 1, "gfp_flags": 3}),
    "mm_vmscan_memcg_reclaim_end": (608, {"nr_reclaimed": 1}),
}
"""Events of which perfetto has a message: its number, and those of its fields."""


def events_of(text: str) -> list[Event]:
    """Return the events of a text of tracefs or trace-cmd."""
    found = []
    for line in text.splitlines():
        head = _HEAD.fullmatch(line)
        if head:
            words = {(dev or key): value for dev, key, value in _FIELD.findall(head["rest"])}
            raw = _NAMES.get(head["event"], {})
            fields = {raw.get(key, key): _raw(key, value) for key, value in words.items()}
            seconds, point, decimals = head["time"].partition(".")
            time = int(seconds + decimals.ljust(9, "0")) if point else int(seconds)
            task = int(head["cpu"]), int(head["pid"]), head["comm"].strip()
            found.append(Event(time, *task, head["event"], fields))
    return found


def _raw(key: str, value: str) -> Value:
    """Return a value as an event's structure has it."""
    if key == "dev":
        major, minor = map(int, value.split(":"))
        return (minor & 0xFF) | major << 8 | (minor & ~0xFF) << 12
    if key == "bdi":
        return value.removesuffix(":")
    if key == "lru":
        return _LRU.index(value)
    if key == "ino" and not value.isdecimal():
        return int(value, 16)
    if key == "ofs":
        return int(value) // 4096
    if key == "gfp_flags":
        return len(value)
    if value.split("|")[0] in _BITS:
        return sum(_BITS[word] for word in value.split("|"))
    if value.startswith("0x") or re.fullmatch(r"[0-9a-f]{16}", value):
        return int(value, 16)
    return int(value) if re.fullmatch(r"-?\d+", value) else value


# --- perfetto ---

_MESSAGES = {
    "Trace": "packet=1*Packet",
    "Packet": "bundle=1:Bundle tree=2:Tree sequence=10:uint32 stats=34:Stats dropped=42:uint32 "
    "deflated=50:bytes",
    "Bundle": "cpu=1:uint32 event=2*Event lost=3:bool clock=5:uint32 described=11*Described",
    "Described": "number=1:int32 message=2:bytes",
    "Event": "time=1:uint64 pid=2:uint32 switch=4:Numbers generic=327:Generic "
    + " ".join(f"typed{number}={number}:Numbers" for number, _ in TYPED.values())
    + " "
    + " ".join(f"own{number}={number}:Mixed" for number in range(65536, 65600)),
    "Numbers": " ".join(f"n{n}={n}:uint64" for n in range(1, 9)),
    "Mixed": " ".join(f"n{n}={n}:uint64 s{n}={n + 100}:string" for n in range(1, 30)),
    "Generic": "name=1:string field=2*Field",
    "Field": "name=1:string text=3:string signed=4:int64 unsigned=5:uint64",
    "Tree": "process=1*Process thread=2*Thread",
    "Process": "pid=1:int32 command=3*string",
    "Thread": "tid=1:int32 name=2:string",
    "Stats": "phase=1:uint32 cpu=2*Cpu kprobes=10:Kprobes",
    "Cpu": "cpu=1:uint64 overrun=3:uint64",
    "Kprobes": "misses=2:int64",
}


@cache
def messages() -> dict[str, Any]:
    """Return the classes of _MESSAGES."""
    file = descriptor_pb2.FileDescriptorProto(name="t", package="t", syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields.split():
            parts = re.fullmatch(r"(\w+)=(\d+)([:*])(\w+)", field)
            assert parts
            made = message.field.add(name=parts[1], number=int(parts[2]))
            made.label = 3 if parts[3] == "*" else 1
            if parts[4] in _MESSAGES:
                made.type, made.type_name = 11, f".t.{parts[4]}"
            else:
                made.type = made.Type.Value(f"TYPE_{parts[4].upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"t.{name}"))
        for name in _MESSAGES
    }


def perfetto(
    events: Sequence[Event], *, described: bool = False, deflated: bool = False, clock: int = 0
) -> Any:
    """Return a trace as perfetto writes it: a bundle for each CPU in turn, then the tasks' names.

    Events without a message of their own are generic ones, or have described themselves.
    """
    trace = messages()["Trace"]()
    by_cpu = sorted(events, key=lambda event: event.cpu)
    types: dict[str, int] = {}
    for cpu, some in groupby(by_cpu, key=lambda event: event.cpu):
        of_cpu = list(some)
        for at in range(0, len(of_cpu), 200):
            packet = trace.packet.add(sequence=1)
            packet.bundle.cpu = cpu
            packet.bundle.clock = clock
            for event in of_cpu[at : at + 200]:
                _encode(event, packet.bundle, types if described else None)
    names = {event.pid: event.comm for event in events}
    tree = trace.packet.add().tree
    for pid, comm in names.items():
        tree.thread.add(tid=pid, name=comm)
    if not deflated:
        return trace
    packed = messages()["Trace"]()
    packed.packet.add(deflated=zlib.compress(trace.SerializeToString()))
    return packed


def _encode(event: Event, bundle: Any, types: dict[str, int] | None) -> None:
    made = bundle.event.add(time=event.t_ns, pid=event.pid)
    if event.name in TYPED:
        number, fields = TYPED[event.name]
        for name, at in fields.items():
            setattr(getattr(made, f"typed{number}"), f"n{at}", event.fields[name])
    elif types is None:
        made.generic.name = event.name
        made.generic.field.add(name="__probe_ip", unsigned=1)
        for name, value in event.fields.items():
            field = made.generic.field.add(name=name)
            setattr(field, _kind(name, value), value)
    else:
        if event.name not in types:
            types[event.name] = 65536 + len(types)
            message = descriptor_pb2.DescriptorProto(name=event.name)
            for at, (name, value) in enumerate(event.fields.items(), 1):
                kind = {"text": 9, "signed": 3, "unsigned": 4}[_kind(name, value)]
                number = at + 100 * (kind == 9)
                message.field.add(name=name, number=number, type=kind)  # type: ignore[arg-type]
            bundle.described.add(number=types[event.name], message=message.SerializeToString())
        own = getattr(made, f"own{types[event.name]}")
        own.SetInParent()
        for at, value in enumerate(event.fields.values(), 1):
            if isinstance(value, str):
                setattr(own, f"s{at}", value)
            else:
                setattr(own, f"n{at}", value & (1 << 64) - 1)


_ADDRESSES = ("folio", "entry", "flags", "mapping", "private", "shadow", "pfn", "page", "memcg")


def _kind(name: str, value: Value) -> str:
    if isinstance(value, str):
        return "text"
    return "unsigned" if name in _ADDRESSES or value >= 1 << 63 else "signed"


# --- bpftrace ---


def bpftrace(events: Sequence[Event]) -> str:
    """Return the lines of ``bpftrace -f json`` with the script of `swapsim probes`."""
    reports = [{"type": "attached_probes", "data": {"probes": 3}}]
    lines = (json.dumps(report) for report in [*reports, *_printed(events)])
    return "\n".join(lines) + "\n"


def _printed(events: Sequence[Event]) -> Iterator[dict[str, Any]]:
    for event in sorted(events, key=lambda each: each.cpu):
        words = " ".join(_word(*field) for field in event.fields.items())
        time = f"{event.t_ns // 10**9}.{event.t_ns % 10**9:09d}"
        head = f"{event.comm}-{event.pid} [{event.cpu:03d}] {time}: {event.name}: "
        yield {"type": "printf", "data": f"{head}{words}\n"}


def _word(name: str, value: Value) -> str:
    shown = f"{value:#x}" if name in _ADDRESSES and isinstance(value, int) else str(value)
    return f"{name}={shown}"


# --- trace-cmd ---

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
