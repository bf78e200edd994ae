# SPDX-License-Identifier: GPL-2.0-or-later
"""A perfetto trace as the text of ftrace: packets by the protobuf library, events by the C core.

Declared here is what we need of perfetto's messages, by the numbers of their fields (perfetto.dev,
protos/perfetto/trace). All else in a trace is skipped by the library.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, Final

import zstandard
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from google.protobuf.proto import parse_length_prefixed

from swapsim.traces._native_perfetto import Bundle, EventType, bundle_text
from swapsim.traces.recording import Recording

_MESSAGES: Final = {
    "Packet": "bundle=1:bytes tree=2:Tree sequence=10:uint32 stats=34:Stats dropped=42:uint32 "
    "deflated=50:bytes zstd=133:bytes",
    "Bundle": "cpu=1:uint32 lost=3:bool clock=5:uint32 errors=8*Nothing types=11*Type "
    "page=512:bytes",
    "Nothing": "",
    "Type": "number=1:int32 message=2:bytes",
    "Tree": "processes=1*Process threads=2*Thread",
    "Process": "pid=1:int32 command=3*bytes",
    "Thread": "tid=1:int32 name=2:bytes",
    "Stats": "phase=1:uint32 cpus=2*Cpu kprobes=10:Kprobes",
    "Cpu": "cpu=1:uint64 overrun=3:uint64 dropped=8:uint64",
    "Kprobes": "misses=2:int64",
}
"""Message -> its fields, ``name=number:type``, with * if it is repeated."""

_CLOCK_UNKNOWN: Final = 1
"""FtraceClock of a bundle: a clock whose name perfetto does not know, such as counter."""

_AT_START: Final = 1
"""Phase of the counters that were read when recording began."""

_PACKET: Final = b"\x0a"
"""The key of a packet, the only field of a trace: number 1, of bytes."""

_MOST_BYTES: Final = 1 << 28
"""Bytes of a packet, also once it is unpacked; perfetto's have at most some 100 KB."""

_ADDRESS: Final = "__probe_"
"""How the fields with a probe's own address begin, which no replay reads."""

_LAST_CPU: Final = (1 << 16) - 1

_DAMAGED: Final = (DecodeError, ValueError, zlib.error, zstandard.ZstdError)

_COMM_BYTES: Final = 15
"""Bytes of a task's name."""

_INT64, _UINT64, _STRING = 3, 4, 9
"""FieldDescriptorProto.Type of the fields of an event that describes itself."""

_DIRECT: Final = ("order:s", "may_writepage:s", "gfp_flags")
_PAGE: Final = ("pfn", "i_ino", "index", "s_dev", "page")
_TYPES: Final = {
    46: ("mm_vmscan_direct_reclaim_begin", _DIRECT),
    47: ("mm_vmscan_direct_reclaim_end", ("nr_reclaimed",)),
    48: ("mm_vmscan_kswapd_wake", ("nid:s", "order:s")),
    49: ("mm_vmscan_kswapd_sleep", ("nid:s",)),
    97: ("mm_filemap_add_to_page_cache", _PAGE),
    98: ("mm_filemap_delete_from_page_cache", _PAGE),
    607: ("mm_vmscan_memcg_reclaim_begin", _DIRECT),
    608: ("mm_vmscan_memcg_reclaim_end", ("nr_reclaimed",)),
}
"""Events of which perfetto has a message of their own: its number, its fields from 1 on, and :s
for a signed one. All others of ours are generic, or describe themselves."""


@cache
def _classes() -> dict[str, Any]:
    """Return a class of the protobuf library for each of _MESSAGES."""
    file = descriptor_pb2.FileDescriptorProto(name="swapsim", package="swapsim", syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields.split():
            word, _, rest = field.partition("=")
            repeated = "*" in rest
            number, _, kind = rest.replace("*", ":").partition(":")
            made = message.field.add(name=word, number=int(number))
            made.label = made.LABEL_REPEATED if repeated else made.LABEL_OPTIONAL
            made.type = made.TYPE_MESSAGE if kind in _MESSAGES else _kind(made, kind)
            if kind in _MESSAGES:
                made.type_name = f".swapsim.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"swapsim.{name}"))
        for name in _MESSAGES
    }


def _kind(field: Any, name: str) -> int:
    return int(field.Type.Value(f"TYPE_{name.upper()}"))


def read_perfetto(pieces: Iterator[bytes], recording: Recording) -> Iterator[bytes]:
    """Yield the text of a trace's events, and its losses; names of tasks go to the recording."""
    state = _State(recording)
    packets = _packets(_Stream(pieces), recording)
    parts = (part for number, packet in packets for part in state.parts(number, packet))
    yield from bundle_text(chain(_declared_types(), parts), recording)
    yield from state.losses()


class _Stream:
    """Pieces of a file, read by the protobuf library."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer at the end; DecodeError if no packet has so many."""
        if size > _MOST_BYTES:
            raise DecodeError(f"a packet of {size} bytes")
        parts = []
        while size:
            self._piece = self._piece or memoryview(next(self._pieces, b""))
            part, self._piece = self._piece[:size], self._piece[size:]
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _packets(stream: _Stream, recording: Recording) -> Iterator[tuple[int, Any]]:
    """Yield the packets with their numbers from 1; those that are packed, too."""
    number = 0
    while key := stream.read(1):
        number += 1
        try:
            packet = _packet(key, stream)
            inside = list(_unpacked(packet))
        except _DAMAGED as error:
            # The lengths of packets lead from one to the next, so that what follows is lost.
            recording.skip("packet", number, f"is damaged or cut short ({error})")
            return
        for each in inside or [packet]:
            yield number, each


def _packet(key: bytes, stream: _Stream) -> Any:
    if key != _PACKET:
        raise DecodeError(f"no packet but a field with the key {key[0]:#04x}")
    packet = parse_length_prefixed(_classes()["Packet"], stream)
    if packet is None:
        raise DecodeError("no length")
    return packet


def _unpacked(packet: Any) -> Iterator[Any]:
    """Yield the packets in a compressed one."""
    if packet.deflated:
        plain = zlib.decompressobj()
        yield from _inner(plain.decompress(packet.deflated, _MOST_BYTES), plain.unconsumed_tail)
    if packet.zstd:
        stream = zstandard.ZstdDecompressor().stream_reader(packet.zstd)
        yield from _inner(stream.read(_MOST_BYTES), stream.read(1))


def _inner(data: bytes, more: bytes) -> Iterator[Any]:
    if more:
        raise DecodeError(f"more than {_MOST_BYTES} bytes")
    stream = _Stream(iter([data]))
    while key := stream.read(1):
        yield _packet(key, stream)


class _State:
    """What is known of a trace so far: its losses, its clock, and names by pid."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._whole: bool | None = None
        self._sequences: set[int] = set()
        self._gaps: set[int] = set()
        self._lost: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self._misses: Counter[bool] = Counter()

    def parts(self, number: int, packet: Any) -> Iterator[Bundle | EventType]:
        """Yield what a packet has of events, and of their types."""
        self._name(packet.tree)
        self._count(packet.stats)
        if not packet.HasField("bundle"):
            return
        try:
            bundle = _classes()["Bundle"].FromString(packet.bundle)
        except DecodeError as error:
            self._recording.skip("packet", number, f"has a bundle that is damaged ({error})")
            return
        whole = bundle.clock == _CLOCK_UNKNOWN
        if self._whole not in (None, whole) or bundle.cpu > _LAST_CPU or bundle.page:
            self._recording.skip("packet", number, self._oddity(bundle))
            return
        self._whole = whole
        # The first packet of a writer has this flag, too, where no packet was lost before it.
        if packet.dropped and packet.sequence in self._sequences:
            self._gaps.add(bundle.cpu)
        self._sequences.add(packet.sequence)
        if bundle.lost or bundle.errors:
            self._gaps.add(bundle.cpu)
        yield from _types(bundle.types)
        yield Bundle(packet.bundle, bundle.cpu, number, whole_clock=whole)

    @staticmethod
    def _oddity(bundle: Any) -> str:
        if bundle.page:
            return "has a page of the ring buffer that its perfetto could not read"
        return f"is of CPU {bundle.cpu}" if bundle.cpu > _LAST_CPU else "has another clock"

    def losses(self) -> Iterator[bytes]:
        """Yield a line for each CPU that lost events, and count the misses of probes."""
        lost = {cpu: max(ends[False] - ends[True], 0) for cpu, ends in self._lost.items()}
        for cpu in sorted(cpu for cpu, count in lost.items() if count):
            yield f"CPU:{cpu} [LOST {lost[cpu]} EVENTS]\n".encode()
        for cpu in sorted(cpu for cpu in self._gaps if not lost.get(cpu)):
            yield f"CPU:{cpu} [LOST EVENTS]\n".encode()
        self._recording.unplaced += max(self._misses[False] - self._misses[True], 0)

    def _name(self, tree: Any) -> None:
        """Remember the names of threads; a process has that of its program."""
        names = self._recording.names
        for process in tree.processes:
            if process.command:
                program = process.command[0].decode(errors="replace")
                names.setdefault(process.pid, PurePosixPath(program).name[:_COMM_BYTES])
        for thread in tree.threads:
            if thread.name:
                names[thread.tid] = thread.name.decode(errors="replace")

    def _count(self, stats: Any) -> None:
        """Remember the counters of losses when recording began, and the last ones."""
        start = stats.phase == _AT_START
        for cpu in stats.cpus:
            self._lost[cpu.cpu][start] = cpu.overrun + cpu.dropped
        if stats.HasField("kprobes"):
            self._misses[start] = stats.kprobes.misses


def _types(described: Any) -> Iterator[EventType]:
    """Yield the types of events that describe themselves, as generic ones may since perfetto 50."""
    for each in described:
        try:
            message = descriptor_pb2.DescriptorProto.FromString(each.message)
        except DecodeError:
            continue
        # A name that is not UTF-8 comes as bytes, and the C core refuses what becomes of it.
        fields = tuple(
            (field.number, str(field.name), field.type == _INT64)
            for field in message.field
            if field.type in (_INT64, _UINT64, _STRING)
        )
        taken = tuple(field for field in fields if not field[1].startswith(_ADDRESS))
        yield EventType(each.number, str(message.name), taken)


def _declared_types() -> Iterator[EventType]:
    """Yield the types of _TYPES."""
    for number, (name, fields) in _TYPES.items():
        pairs = (field.partition(":") for field in fields)
        yield EventType(
            number, name, tuple((at, pair[0], pair[2] == "s") for at, pair in enumerate(pairs, 1))
        )
