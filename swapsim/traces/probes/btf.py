# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's type information (BTF): offsets of members, parameters of functions."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from swapsim.errors import InputError
from swapsim.io import read_bytes, translate_errors

_MAGIC: Final = 0xEB9F
_ELF: Final = b"\x7fELF"
_HEADER: Final = struct.Struct("<HBBIIIII")
_TYPE: Final = struct.Struct("<III")
_MEMBER: Final = struct.Struct("<III")
_PARAMETER: Final = struct.Struct("<II")

_POINTER, _STRUCT, _UNION, _TYPEDEF, _FUNCTION = 2, 4, 5, 8, 12
_RENAMED: Final = {_TYPEDEF, 9, 10, 11, 18}
"""typedef, volatile, const, restrict, type tag: another type under a further name."""
_TAIL: Final = {1: 4, 3: 12, 14: 4, 17: 4}
_ENTRY: Final = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}
"""Bytes after a type's head, and of each of its entries, by kind (include/uapi/linux/btf.h)."""


ARGUMENTS: Final = ("di", "si", "dx", "cx", "r8", "r9")
"""Registers of a function's integer parameters, in order (System V ABI, x86-64)."""

DAMAGED: Final = (
    "is no type information of a kernel",
    "name /sys/kernel/btf/vmlinux, or a copy of it",
)
"""Error of a damaged file, whose parts are decoded when they are needed, and its remedy."""


class Parameter(NamedTuple):
    """A parameter of a function: its name, and the structure that it points to, void, or ""."""

    name: str
    points_to: str


class _Type(NamedTuple):
    name: int
    kind: int
    bitfields: bool
    entries: int
    size_or_type: int
    tail: int


class Btf:
    """The types of one kernel, of damaged ones with errors that `read_btf` translates."""

    def __init__(self, data: bytes) -> None:
        _, _, _, header, types, types_size, strings, strings_size = _HEADER.unpack_from(data)
        self._types = data[header + types : header + types + types_size]
        self._strings = data[header + strings : header + strings + strings_size]
        self._all = [_Type(0, 0, False, 0, 0, 0), *self._walk()]
        self._named: dict[tuple[int, str], _Type] = {}
        for one in self._all[1:]:
            if one.name and one.kind in (_STRUCT, _UNION, _TYPEDEF, _FUNCTION):
                self._named.setdefault((one.kind, self._name(one.name)), one)

    def offset(self, path: str) -> int | None:
        """Return the offset of ``structure.member`` in bytes; None without such a member."""
        outer, *members = path.split(".")
        inside = self._named.get((_STRUCT, outer)) or self._named.get((_TYPEDEF, outer))
        bits = 0
        for member in members:
            found = inside and self._member(self._plain(inside), member)
            if not found:
                return None
            bits += found[0]
            inside = found[1]
        return None if bits % 8 else bits // 8

    def size(self, structure: str) -> int | None:
        """Return the size of a structure in bytes; None without such a structure."""
        found = self._named.get((_STRUCT, structure))
        return found.size_or_type if found else None

    def parameters(self, function: str) -> tuple[Parameter, ...] | None:
        """Return the parameters of a function in order; None without such a function."""
        found = self._named.get((_FUNCTION, function))
        if found is None:
            return None
        prototype = self._all[found.size_or_type]
        return tuple(
            Parameter(self._name(name), self._points_to(self._all[kind]))
            for name, kind in self._tail(_PARAMETER, prototype)
        )

    def has_event(self, event: str) -> bool:
        """Return whether the kernel has a tracepoint."""
        return (_TYPEDEF, f"btf_trace_{event}") in self._named

    def _walk(self) -> Iterator[_Type]:
        at = 0
        while at < len(self._types):
            name, info, size_or_type = _TYPE.unpack_from(self._types, at)
            kind, entries = info >> 24 & 31, info & 0xFFFF
            at += _TYPE.size
            yield _Type(name, kind, bool(info >> 31), entries, size_or_type, at)
            at += _TAIL.get(kind, 0) + entries * _ENTRY.get(kind, 0)

    def _name(self, at: int) -> str:
        return self._strings[at : self._strings.index(b"\0", at)].decode()

    def _tail(self, entry: struct.Struct, of: _Type) -> Iterator[tuple[int, ...]]:
        return (entry.unpack_from(self._types, of.tail + i * entry.size) for i in range(of.entries))

    def _plain(self, one: _Type) -> _Type:
        """Follow typedefs and qualifiers; in a damaged file they may form a cycle."""
        for _ in self._all:
            if one.kind not in _RENAMED:
                break
            one = self._all[one.size_or_type]
        return one

    def _points_to(self, one: _Type) -> str:
        pointer = self._plain(one)
        if pointer.kind != _POINTER:
            return ""
        if not pointer.size_or_type:
            return "void"
        target = self._plain(self._all[pointer.size_or_type])
        return self._name(target.name) if target.kind in (_STRUCT, _UNION) else ""

    def _member(self, outer: _Type, wanted: str) -> tuple[int, _Type] | None:
        """Find a member, also in unnamed structures.

        Each is searched once: in a damaged file it might contain itself.
        """
        waiting, seen = [(0, outer)], set[int]()
        while waiting:
            at, inside = waiting.pop()
            if inside.kind not in (_STRUCT, _UNION) or inside.tail in seen:
                continue
            seen.add(inside.tail)
            for name, kind, where in self._tail(_MEMBER, inside):
                bits = at + (where & 0xFFFFFF if inside.bitfields else where)
                if name and self._name(name) == wanted:
                    return bits, self._all[kind]
                if not name:
                    waiting.append((bits, self._plain(self._all[kind])))
        return None


def read_btf(path: Path) -> Btf:
    """Read a kernel's type information."""
    data = read_bytes(path)
    if data.startswith(_ELF):
        out = f"objcopy --dump-section .BTF=types.btf {path.name} /dev/null"
        raise InputError(f"is an ELF file: extract its types with '{out}'", path=path)
    if int.from_bytes(data[:2], "little") != _MAGIC:
        raise InputError(": ".join(DAMAGED), path=path)
    with translate_errors(path, *DAMAGED, quote=True):
        return Btf(data)
