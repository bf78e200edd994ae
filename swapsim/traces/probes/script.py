# SPDX-License-Identifier: GPL-2.0-or-later
"""A shell script that records the events of replays, fitted to the types of a kernel."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

from swapsim.errors import InputError
from swapsim.io import data_root, read_text, read_toml, translate_errors
from swapsim.traces.probes.btf import ARGUMENTS, DAMAGED, Btf, Parameter, read_btf
from swapsim.traces.replays import ALL_REPLAYS, REPLAYS, missing_events
from swapsim.traces.subjects import no_such_replay

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
    for name in ("", "clusters/", "clusters/device-", "mglru/", "throttles/")
)

_SIZES: Final = {"cluster_bytes": "swap_cluster_info", "device_bytes": "swap_info_struct"}
"""Structures whose sizes the head of a text says, by their names there."""

_COUNTED: Final = "clusters"
"""The replay that needs the clock counter, and swapon within the recording."""

_TIMED: Final = ("mglru", "stall")
"""Replays that need a clock of times."""

_BY_NAME: Final = {
    **dict.fromkeys((_COUNTED, "mglru"), "6.12 or 7.3"),
    "stall": "7.3, or the lab kernel of data/capture/README.md",
}
"""Replays that need all probes of their groups, and are chosen by their names only: the kernels
that have them."""

_MEMBER: Final = re.compile(r"\{(?P<type>\w+)\.(?P<path>[\w.]+)\}")
_INSIDE: Final = re.compile(r"\+(after|before):")
"""A place inside a function."""

_FIELD: Final = re.compile(r"(?P<name>\w+)=(?:\+\{(?P<type>\w+)\.[\w.]+\}\()?%(?P<register>\w+)")


def recording_script(kernel_btf: Path = RUNNING_KERNEL, replays: Sequence[str] = ()) -> str:
    """Return a script that sets probes, records a command's events and removes the probes.

    It is for x86-64, the kernel of these types and the replays that the trace shall feed, by
    default each that this kernel can feed. Its comments describe its use, and what this kernel
    cannot record. An InputError says that the types cannot be read, that there is no such replay,
    or that the kernel lacks what one needs.
    """
    return fitted_script(kernel_btf, replays).text


def _kernels(replay: str) -> str:
    """Return which kernels can feed a replay."""
    return _BY_NAME.get(replay, "6.1 to 6.12")


class FittedScript(NamedTuple):
    """A script, and what the caller has to know of it."""

    text: str
    notes: tuple[str, ...]
    """A line for each replay that it does not feed, with what the kernel lacks."""


def fitted_script(kernel_btf: Path, replays: Sequence[str]) -> FittedScript:
    """Return the script of `recording_script`."""
    wanted = tuple(dict.fromkeys(replays)) or tuple(
        name for name in _GROUPS if name not in _BY_NAME
    )
    timed = [name for name in wanted if name in _TIMED]
    if timed and _COUNTED in wanted:
        both = f"{_COUNTED} and {timed[0]}"
        raise InputError(f"{both} need different clocks: record them one by one")
    chosen = {replay: _groups(replay, kernel_btf) for replay in wanted}
    plans = {replay: _plan(kernel_btf, groups) for replay, groups in chosen.items()}
    unfed = {replay: plan for replay, plan in plans.items() if _lacks(replay, plan)}
    if unfed and (replays or len(unfed) == len(plans)):
        raise InputError(
            f"this kernel cannot feed {' and '.join(unfed)}: {_lacked(unfed.values())}; "
            f"record on one that can, as {_kernels(next(iter(unfed)))}",
            path=kernel_btf,
        )
    fed = [replay for replay in wanted if replay not in unfed]
    plan = _plan(kernel_btf, [group for replay in fed for group in chosen[replay]])
    notes = tuple(
        f"the script does not feed {replay}: {_lacked([lacking])}; "
        f"record on one that can, as {_kernels(replay)}"
        for replay, lacking in unfed.items()
    )
    return FittedScript(_filled(fed, plan), notes)


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe with the kernel's own offsets."""

    name: str
    place: str
    """A function, for its return ``r:`` or ``rTASKS:`` before it; or a place in it, as
    ``+after:CALLEE:N``."""
    fields: str
    missing: tuple[str, ...]
    """What the kernel lacks for it."""


@dataclass(frozen=True, slots=True)
class _Plan:
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


def _lacks(replay: str, plan: _Plan) -> bool:
    return bool(plan.missing if replay in _BY_NAME else missing_events(replay, plan.events))


def _groups(replay: str, kernel_btf: Path) -> tuple[str, ...]:
    """Return the groups for a replay of which the kernel lacks least."""
    if replay not in ALL_REPLAYS:
        raise no_such_replay(replay, ALL_REPLAYS)
    if replay not in _GROUPS:
        events = ", ".join(REPLAYS[replay][0])
        raise InputError(
            f"{replay} reads {events}, which only the lab kernel writes: "
            "data/capture/README.md describes how to build and boot it"
        )
    return min(_GROUPS[replay], key=lambda groups: len(_plan(kernel_btf, groups).missing))


def _filled(fed: Sequence[str], plan: _Plan) -> str:
    lines = {
        "missing": [f"# Not recorded by this kernel: {what}." for what in plan.missing],
        "probes": [f"\tprobe {one.name} {one.place} '{one.fields}'" for one in plan.probes],
        "fit": _fit_probes(plan.probes),
    }
    text = (resources.files("swapsim.traces.probes") / "record.sh").read_text(encoding="utf-8")
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
