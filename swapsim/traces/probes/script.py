# SPDX-License-Identifier: GPL-2.0-or-later
"""A shell script that records the events of replays, fitted to the types of a kernel."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from swapsim.errors import InputError
from swapsim.io import read_toml, translate_errors
from swapsim.io.paths import data_root
from swapsim.traces.probes.btf import DAMAGED, Btf, Parameter, read_btf
from swapsim.traces.replays import REPLAYS, missing_events

RUNNING_KERNEL: Final = Path("/sys/kernel/btf/vmlinux")

_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "writeback-tags": ("swap-pages", "writeback", "file-pages"),
    "batched-removal": ("swap-pages", "file-pages", "batches"),
}
"""Groups of events.toml for an unmodified kernel; other replays need the lab kernel."""

_ARGUMENTS: Final = ("di", "si", "dx", "cx", "r8", "r9")
"""Registers of a function's integer parameters, in order (System V ABI, x86-64)."""
_MEMBER: Final = re.compile(r"\{(?P<type>\w+)\.(?P<path>[\w.]+)\}")
_FIELD: Final = re.compile(r"(?P<name>\w+)=(?:\+\{(?P<type>\w+)\.[\w.]+\}\()?%(?P<register>\w+)")


def recording_script(kernel_btf: Path = RUNNING_KERNEL, replays: Sequence[str] = ()) -> str:
    """Return a shell script that sets probes, records a command's events and removes the probes.

    Parameters
    ----------
    kernel_btf : Path
        The types of the kernel to be recorded.
    replays : sequence of str
        Replays that the trace shall feed; default: each that this kernel can feed.

    Returns
    -------
    str
        For sh, on x86-64. Its comments describe its use, and what this kernel cannot record.

    Raises
    ------
    InputError
        The types cannot be read; there is no such replay; or the kernel lacks what one needs.
    """
    wanted = tuple(dict.fromkeys(replays)) or tuple(_GROUPS)
    plans = {replay: _plan(kernel_btf, _groups(replay)) for replay in wanted}
    unfed = {replay: plan for replay, plan in plans.items() if missing_events(replay, plan.events)}
    if unfed and (replays or len(unfed) == len(plans)):
        lacking = dict.fromkeys(what for plan in unfed.values() for what in plan.missing)
        raise InputError(
            f"this kernel cannot feed {' and '.join(unfed)}: it has {', '.join(lacking)}; "
            "record on one that can, as 6.1 to 6.12",
            path=kernel_btf,
        )
    fed = [replay for replay in wanted if replay not in unfed]
    return _filled(fed, _plan(kernel_btf, [group for replay in fed for group in _groups(replay)]))


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe as tracefs accepts it, with the kernel's own offsets."""

    name: str
    function: str
    fields: str
    missing: str
    """What the kernel lacks for it, or ""."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The probes and tracepoints of some groups that a kernel can have, and what it lacks."""

    probes: list[Probe]
    tracepoints: list[str]
    missing: list[str]

    @property
    def events(self) -> list[str]:
        names = [probe.name for probe in self.probes]
        return names + [event.partition(":")[2] for event in self.tracepoints]


def _plan(kernel_btf: Path, groups: Iterable[str]) -> _Plan:
    with translate_errors(kernel_btf, *DAMAGED):
        kernel = read_btf(kernel_btf)
        once = tuple(dict.fromkeys(groups))
        points, set_there = _tracepoints(once, kernel), _probes(once, kernel)
    missing = [probe.missing for probe in set_there] + list(points.values())
    return _Plan(
        [probe for probe in set_there if not probe.missing],
        [event for event, what in points.items() if not what],
        list(dict.fromkeys(filter(None, missing))),
    )


def _groups(replay: str) -> tuple[str, ...]:
    if replay not in REPLAYS:
        raise InputError(f"no such replay: {replay!r}; there are: {', '.join(REPLAYS)}")
    if replay not in _GROUPS:
        events = ", ".join(REPLAYS[replay][0])
        raise InputError(
            f"{replay} reads {events}, which only the lab kernel writes: "
            "data/capture/README.md describes how to build and boot it"
        )
    return _GROUPS[replay]


def _filled(fed: Sequence[str], plan: _Plan) -> str:
    lines = {
        "missing": [f"# Not recorded, for the kernel has {what}." for what in plan.missing],
        "probes": [f"\tprobe {one.name} {one.function} '{one.fields}'" for one in plan.probes],
    }
    text = (resources.files("swapsim.traces.probes") / "record.sh").read_text(encoding="utf-8")
    for name, block in lines.items():
        text = text.replace(f"@{name}@\n", "".join(f"{line}\n" for line in block))
    words = {"replays": ", ".join(fed), "events": " ".join(plan.tracepoints)}
    for name, word in words.items():
        text = text.replace(f"@{name}@", word)
    return text


def _probes(groups: tuple[str, ...], kernel: Btf) -> list[Probe]:
    """Return the probes of some groups of events.toml, with this kernel's offsets."""
    return [_fitted(line, kernel) for line in _lines(groups, "probes")]


def _tracepoints(groups: tuple[str, ...], kernel: Btf) -> dict[str, str]:
    """Return the tracepoints of some groups, ``system:event`` -> what this kernel lacks (or "")."""
    return {
        event: "" if kernel.has_event(event.partition(":")[2]) else f"no tracepoint {event}"
        for event in _lines(groups, "events")
    }


def _lines(groups: tuple[str, ...], kind: str) -> list[str]:
    """Return the lines of some groups, which the capture rig records, too."""
    table: dict[str, Any] = read_toml(data_root() / "capture" / "events.toml")
    return [line for group in groups for line in table[group].get(kind, ())]


def _fitted(line: str, kernel: Btf) -> Probe:
    head, place, fields = line.split(" ", 2)
    function = place.partition("+")[0]
    missing = "; ".join(_lacking(function, fields, kernel))
    fitted = _MEMBER.sub(lambda found: str(kernel.offset(found[0][1:-1])), fields)
    return Probe(head.removeprefix("p:"), function, fitted, missing)


def _lacking(function: str, fields: str, kernel: Btf) -> Iterator[str]:
    """Yield what this kernel lacks for a probe: its function, parameters, members."""
    parameters = kernel.parameters(function)
    if parameters is None:
        yield f"no function {function} (or the compiler has put it into its callers)"
        return
    for field in _FIELD.finditer(fields):
        if field["register"] in _ARGUMENTS:
            yield from _misplaced(function, field, parameters)
    for member in _MEMBER.finditer(fields):
        if kernel.offset(member[0][1:-1]) is None:
            yield f"no member {member['type']}.{member['path']}"


def _misplaced(
    function: str, field: re.Match[str], parameters: tuple[Parameter, ...]
) -> Iterator[str]:
    """Compare a field with the parameter of its name, and a member with its structure."""
    at = _ARGUMENTS.index(field["register"])
    if at >= len(parameters):
        yield f"{function} takes {len(parameters)} parameters, '{field['name']}' would be one more"
    elif field["type"] and parameters[at].points_to != field["type"]:
        yield f"parameter {at + 1} of {function} does not point to a {field['type']}"
    elif not field["type"] and field["name"] in {
        other.name for other in parameters if other is not parameters[at]
    }:
        yield f"{field['name']} is not parameter {at + 1} of {function}"
