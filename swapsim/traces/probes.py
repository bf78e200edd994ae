# SPDX-License-Identifier: GPL-2.0-or-later
"""A shell script that records the events of replays, fitted to the types of a kernel (BTF)."""

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

from swapsim.errors import InputError
from swapsim.io import data_root, read_bytes, read_text, read_toml, translate_errors
from swapsim.traces.folder import REPLAYS, missing_events, no_such_replay

_MAGIC: Final = 0xEB9F
_ELF: Final = b"\x7fELF"
_HEADER: Final = struct.Struct("<HBBIIIII")
_TYPE: Final = struct.Struct("<III")
_OF_STRUCT: Final = struct.Struct("<III")
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
            for name, kind, where in self._tail(_OF_STRUCT, inside):
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


RUNNING_KERNEL: Final = Path("/sys/kernel/btf/vmlinux")

_GROUPS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "mapping": (("swap-pages", "writeback", "file-pages"),),
    "removal": (("swap-pages", "file-pages", "batches"),),
    "clusters": (("clusters-6_12",), ("clusters-7_3", "swap-devices-7_3")),
    "mglru": (("generations-6_12",), ("generations-7_3",)),
    "stall": (("throttles-7_3",),),
}
"""Groups of _FILES for an unmodified kernel, or several to choose from; other replays need the lab
kernel."""

_FILES: Final = tuple(
    f"capture/{name}events.toml"
    for name in ("", "clusters/", "clusters/device-", "generations/", "throttles/")
)

_SIZES: Final = {"cluster_bytes": "swap_cluster_info", "device_bytes": "swap_info_struct"}
"""Structures whose sizes the head of a text says, by their names there."""

_COUNTED: Final = "clusters"
"""The replay that needs the clock counter, and swapon within the recording."""

_TIMED: Final = ("mglru", "stall")
"""Replays that need a clock of times."""

_BY_NAME: Final = {
    **dict.fromkeys((_COUNTED, "mglru"), "6.12 or 7.3"),
    "stall": "7.3, or patched 6.1 of data/capture/README.md",
}
"""Replays that need all probes of their groups, and are chosen by their names only: the kernels
that have them."""

_OTHERS: Final = "6.1 to 6.12"  # kernels that can feed the other replays

_MEMBER: Final = re.compile(r"\{(?P<type>\w+)\.(?P<path>[\w.]+)\}")
_INSIDE: Final = re.compile(r"\+(after|before):")
"""A place inside a function."""

_FIELD: Final = re.compile(r"(?P<name>\w+)=(?:\+\{(?P<type>\w+)\.[\w.]+\}\()?%(?P<register>\w+)")


def recording_script(
    kernel_btf: Path = RUNNING_KERNEL, replays: Sequence[str] = ()
) -> tuple[str, list[str]]:
    """Return a script that sets probes, records a command's events and removes the probes.

    It is for x86-64, the kernel of these types and the replays that the trace shall feed, by
    default each that this kernel can feed. Its comments describe its use, and what this kernel
    cannot record. With it are lines for the replays that it does not feed, with what the kernel
    lacks. An InputError says that the types cannot be read, that there is no such replay, or that
    the kernel lacks what one needs.
    """
    wanted = tuple(dict.fromkeys(replays)) or tuple(
        name for name in _GROUPS if name not in _BY_NAME
    )
    timed = [name for name in wanted if name in _TIMED]
    if timed and _COUNTED in wanted:
        both = f"{_COUNTED} and {timed[0]}"
        raise InputError(f"{both} need different clocks: record them one by one")
    chosen = {replay: _groups(replay, kernel_btf) for replay in wanted}
    plans = {replay: _plan(kernel_btf, groups) for replay, groups in chosen.items()}
    unfed = {
        replay: plan
        for replay, plan in plans.items()
        if (plan.missing if replay in _BY_NAME else missing_events(replay, plan.events))
    }
    if unfed and (replays or len(unfed) == len(plans)):
        raise InputError(
            f"this kernel cannot feed {' and '.join(unfed)}: {_lacked(unfed.values())}; "
            f"record on one that can, as {_BY_NAME.get(next(iter(unfed)), _OTHERS)}",
            path=kernel_btf,
        )
    fed = [replay for replay in wanted if replay not in unfed]
    plan = _plan(kernel_btf, [group for replay in fed for group in chosen[replay]])
    notes = [
        f"the script does not feed {replay}: {_lacked([lacking])}; "
        f"record on one that can, as {_BY_NAME.get(replay, _OTHERS)}"
        for replay, lacking in unfed.items()
    ]
    return _filled(fed, plan), notes


class Probe(NamedTuple):
    """A probe with the kernel's own offsets."""

    name: str
    place: str
    """A function, for its return ``r:`` or ``rTASKS:`` before it; or a place in it, as
    ``+after:CALLEE:N``."""
    fields: str
    missing: tuple[str, ...]
    """What the kernel lacks for it."""


class _Plan(NamedTuple):
    """The probes and tracepoints of some groups that a kernel can have, and what it lacks."""

    probes: list[Probe]
    tracepoints: list[str]
    missing: list[str]
    sizes: Mapping[str, int | None]

    @property
    def events(self) -> list[str]:
        names = [probe.name for probe in self.probes]
        return names + [event.partition(":")[2] for event in self.tracepoints]


def _lacked(plans: Iterable[_Plan]) -> str:
    return ", ".join(dict.fromkeys(what for plan in plans for what in plan.missing))


def _plan(kernel_btf: Path, groups: Iterable[str]) -> _Plan:
    with translate_errors(kernel_btf, *DAMAGED):
        kernel = read_btf(kernel_btf)
        once = tuple(dict.fromkeys(groups))
        probes = [_fitted(line, kernel) for line in _lines(once, "probes")]
        events = _lines(once, "events")
        lacking = [event for event in events if not kernel.has_event(event.partition(":")[2])]
        moved = [line for line in _lines(once, "apart") if not _apart(kernel, *line.split())]
    missing = [cause for probe in probes for cause in probe.missing]
    missing += [f"no tracepoint {event}" for event in lacking]
    missing += ["other sizes from {} to {} than {} bytes".format(*line.split()) for line in moved]
    return _Plan(
        [probe for probe in probes if not probe.missing],
        [event for event in dict.fromkeys(events) if event not in lacking],
        list(dict.fromkeys(missing)),
        sizes_of(kernel),
    )


def sizes_of(kernel: Btf) -> dict[str, int | None]:
    """Return the sizes that the head of a text says; None for a structure that a kernel lacks."""
    return {name: kernel.size(of) for name, of in _SIZES.items()}


def _apart(kernel: Btf, first: str, second: str, size: str) -> bool:
    """Return whether two members are so many bytes apart."""
    at, end = kernel.offset(first), kernel.offset(second)
    return at is not None and end is not None and end - at == int(size)


def _groups(replay: str, kernel_btf: Path) -> tuple[str, ...]:
    """Return the groups for a replay of which the kernel lacks least."""
    if replay not in REPLAYS:
        raise no_such_replay(replay, REPLAYS)
    if replay not in _GROUPS:
        events = ", ".join(REPLAYS[replay][0])
        raise InputError(
            f"{replay} reads {events}, which only patched 6.1 writes: "
            "data/capture/README.md describes how to build and boot it"
        )
    return min(_GROUPS[replay], key=lambda groups: len(_plan(kernel_btf, groups).missing))


def _filled(fed: Sequence[str], plan: _Plan) -> str:
    lines = {
        "missing": [f"# Not recorded by this kernel: {what}." for what in plan.missing],
        "probes": [f"\tprobe {one.name} {one.place} '{one.fields}'" for one in plan.probes],
        "fit": _fit_probes(plan.probes),
    }
    text = (resources.files("swapsim.traces") / "record.sh").read_text(encoding="utf-8")
    for name, block in lines.items():
        text = text.replace(f"@{name}@\n", "".join(f"{line}\n" for line in block))
    words = {
        "replays": ", ".join(fed),
        "events": " ".join(plan.tracepoints),
        "clock": "counter" if _COUNTED in fed else "mono",
        "head": " ".join(f"{name}={size}" for name, size in plan.sizes.items() if size),
        "names": "|".join(probe.name for probe in plan.probes),
    }
    for name, word in words.items():
        text = text.replace(f"@{name}@", word)
    return text


def _fit_probes(probes: Iterable[Probe]) -> list[str]:
    """Return the program that finds places inside functions, if a probe needs it."""
    if not any(_INSIDE.search(probe.place) for probe in probes):
        return []
    return read_text(data_root() / "capture" / "clusters" / "fit_probes.c").splitlines()


def _lines(groups: tuple[str, ...], kind: str) -> list[str]:
    """Return the lines of some groups, which the capture rig records, too."""
    table: dict[str, Any] = {}
    for name in _FILES:
        table |= read_toml(data_root() / name)
    return [line for group in groups for line in table[group].get(kind, ())]


def _fitted(line: str, kernel: Btf) -> Probe:
    head, place, *words = line.split(" ", 2)
    fields = "".join(words)
    function, inside = place.partition("+")[0], _INSIDE.search(place)
    returns, _, name = head.partition(":")
    at_begin = not inside and returns == "p"
    missing = tuple(_lacking(function, fields, kernel, arguments=at_begin))
    fitted = _MEMBER.sub(lambda found: str(kernel.offset(found[0][1:-1])), fields)
    where = place if inside else function if at_begin else f"{returns}:{function}"
    return Probe(name, where, fitted, missing)


def _lacking(function: str, fields: str, kernel: Btf, *, arguments: bool) -> Iterator[str]:
    """Yield what this kernel lacks for a probe: its function, parameters, members."""
    parameters = kernel.parameters(function)
    if parameters is None:
        yield f"no function {function} (or the compiler has put it into its callers)"
        return
    for field in _FIELD.finditer(fields) if arguments else ():
        if field["register"] in ARGUMENTS:
            yield from _misplaced(function, field, parameters)
    for member in _MEMBER.finditer(fields):
        if kernel.offset(member[0][1:-1]) is None:
            yield f"no member {member['type']}.{member['path']}"


def _misplaced(
    function: str, field: re.Match[str], parameters: tuple[Parameter, ...]
) -> Iterator[str]:
    """Compare a field with the parameter of its name, and a member with its structure."""
    at = ARGUMENTS.index(field["register"])
    if at >= len(parameters):
        yield f"{function} takes {len(parameters)} parameters, '{field['name']}' would be one more"
    elif field["type"] and parameters[at].points_to not in (field["type"], "void"):
        yield f"parameter {at + 1} of {function} does not point to a {field['type']}"
    elif not field["type"] and field["name"] in {
        other.name for other in parameters if other is not parameters[at]
    }:
        yield f"{field['name']} is not parameter {at + 1} of {function}"
