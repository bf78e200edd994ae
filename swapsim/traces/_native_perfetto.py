# SPDX-License-Identifier: GPL-2.0-or-later
"""The C reader of perfetto's bundles of events: bytes in, text of ftrace out."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from swapsim._core import ffi, lib
from swapsim.ffi.structs import check, config, new
from swapsim.traces.recording import Recording

_TEXT_BYTES: Final = 4 << 20
"""Text before it is parsed, as large as a piece of a file."""


class EventType(NamedTuple):
    """A type of events: its number, its name, and of its fields number, name, and if signed."""

    number: int
    name: str
    fields: tuple[tuple[int, str, bool], ...]


class Bundle(NamedTuple):
    """The encoded events of a CPU."""

    data: bytes
    cpu: int
    packet: int
    """Number of its packet in the trace."""
    whole_clock: bool
    """True if the clock is no time in ns."""


def bundle_text(parts: Iterable[Bundle | EventType], recording: Recording) -> Iterator[bytes]:
    """Yield the text of bundles, whose types come before them; count events of other types."""
    handle = None
    types: list[EventType] = []
    for part in parts:
        if isinstance(part, EventType):
            types.append(part)
            continue
        if handle is None:
            how = config(lib.sws_perfetto_config_init, None, whole_clock=part.whole_clock)
            handle = new(lib.sws_perfetto_new, how, free=lib.sws_perfetto_free)
        while types:
            _declare(handle, types.pop(0), recording, part.packet)
        code = lib.sws_perfetto_read(handle, part.data, len(part.data), part.cpu)
        if code == lib.SWS_ERROR_BAD_ARGUMENT:
            recording.skip("packet", part.packet, "has events that are damaged")
        else:
            check(code)
        text = _text(handle)
        if len(text) >= _TEXT_BYTES:
            yield text[:]
            lib.sws_perfetto_clear(handle)
    if handle is not None:
        yield _text(handle)[:]
        recording.others = lib.sws_perfetto_others(handle)


def _declare(handle: Any, declared: EventType, recording: Recording, packet: int) -> None:
    names = [(number, name.encode(), signed) for number, name, signed in declared.fields]
    code = lib.sws_perfetto_know(handle, declared.number, declared.name.encode())
    for name in names if code == lib.SWS_OK else ():
        code = code or lib.sws_perfetto_know_field(handle, *name)
    if code == lib.SWS_ERROR_BAD_ARGUMENT:
        recording.skip("packet", packet, "has a type of events that is damaged")
    else:
        check(code)


def _text(handle: Any) -> Any:
    length = ffi.new("size_t *")
    text = lib.sws_perfetto_text(handle, length)
    return ffi.buffer(text, length[0]) if length[0] else b""
