# SPDX-License-Identifier: GPL-2.0-or-later
"""What a recording asks of a kernel: events.toml, made to fit the kernel's own types."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from swapsim.io import read_toml
from swapsim.io.paths import data_root
from swapsim.traces.probes.btf import Btf, Parameter

_ARGUMENTS: Final = ("di", "si", "dx", "cx", "r8", "r9")
"""Registers of a function's whole-number parameters, in order (System V ABI, x86-64)."""
_MEMBER: Final = re.compile(r"\{(?P<type>\w+)\.(?P<path>[\w.]+)\}")
_FIELD: Final = re.compile(r"(?P<name>\w+)=(?:\+\{(?P<type>\w+)\.[\w.]+\}\()?%(?P<register>\w+)")


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe as tracefs takes it, and why this kernel cannot have it (or "").

    Attributes
    ----------
    name, function, fields : str
        Its event; where it is set; what it reads, with the kernel's own offsets.
    missing : str
        What the kernel lacks.
    """

    name: str
    function: str
    fields: str
    missing: str


def probes(groups: tuple[str, ...], kernel: Btf) -> list[Probe]:
    """Return the probes of some groups of events.toml, with offsets of this kernel."""
    return [_fitted(line, kernel) for line in _lines(groups, "probes")]


def tracepoints(groups: tuple[str, ...], kernel: Btf) -> dict[str, str]:
    """Return the tracepoints of some groups, ``system:event`` -> what the kernel lacks (or "")."""
    return {
        event: "" if kernel.has_event(event.partition(":")[2]) else f"no tracepoint {event}"
        for event in _lines(groups, "events")
    }


def _lines(groups: tuple[str, ...], kind: str) -> list[str]:
    """Return what the rig records by the same groups."""
    table: dict[str, Any] = read_toml(data_root() / "capture" / "events.toml")
    return [line for group in groups for line in table[group].get(kind, ())]


def _fitted(line: str, kernel: Btf) -> Probe:
    head, place, fields = line.split(" ", 2)
    function = place.partition("+")[0]
    missing = "; ".join(_lacking(function, fields, kernel))
    fitted = _MEMBER.sub(lambda found: str(kernel.offset(found[0][1:-1])), fields)
    return Probe(head.removeprefix("p:"), function, fitted, missing)


def _lacking(function: str, fields: str, kernel: Btf) -> Iterator[str]:
    """Say what of a probe does not fit the kernel: its function, parameters, members."""
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
    """Hold a field to the parameter of its name, and a member to a pointer to its structure."""
    at = _ARGUMENTS.index(field["register"])
    if at >= len(parameters):
        yield f"{function} takes {len(parameters)} parameters, '{field['name']}' would be one more"
    elif field["type"] and parameters[at].points_to != field["type"]:
        yield f"parameter {at + 1} of {function} does not point to a {field['type']}"
    elif not field["type"] and field["name"] in {
        other.name for other in parameters if other is not parameters[at]
    }:
        yield f"{field['name']} is not parameter {at + 1} of {function}"
