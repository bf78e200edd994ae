# SPDX-License-Identifier: GPL-2.0-or-later
"""A shell script that records what replays need, on the kernel whose types are given."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from swapsim.errors import InputError
from swapsim.io import translate_errors
from swapsim.traces.probes.btf import DAMAGED, read_btf
from swapsim.traces.probes.groups import Probe, probes, tracepoints
from swapsim.traces.replays import REPLAYS, missing_events

RUNNING_KERNEL: Final = Path("/sys/kernel/btf/vmlinux")

_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "writeback-tags": ("swap-pages", "writeback", "file-pages"),
    "batched-removal": ("swap-pages", "file-pages", "batches"),
}
"""What a kernel as it is can be asked; the other replays read events of the lab kernel."""


def recording_script(kernel_btf: Path = RUNNING_KERNEL, replays: Sequence[str] = ()) -> str:
    """Return a shell script that sets probes, records a command's events and takes them off again.

    Parameters
    ----------
    kernel_btf : Path
        The types of the kernel that is to be recorded.
    replays : sequence of str
        What the trace shall feed, of traces.replays.REPLAYS; none: each that this kernel can feed.

    Returns
    -------
    str
        For sh, on x86-64. It says itself how it is used, and what this kernel cannot record.

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
class _Plan:
    """What of some groups a kernel can have, and what it lacks."""

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
        points, set_there = tracepoints(once, kernel), probes(once, kernel)
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
            f"{replay} reads {events}, which the lab kernel alone writes: "
            "data/capture/README.md tells how to build and boot it"
        )
    return _GROUPS[replay]


def _filled(fed: Sequence[str], plan: _Plan) -> str:
    lines = {
        "missing": [f"# Not recorded, for the kernel has {what}." for what in plan.missing],
        "probes": [f"\tprobe {one.name} {one.function} '{one.fields}'" for one in plan.probes],
    }
    text = (resources.files("swapsim.traces.probes") / "record.sh").read_text(encoding="utf-8")
    for name, told in lines.items():
        text = text.replace(f"@{name}@\n", "".join(f"{line}\n" for line in told))
    words = {"replays": ", ".join(fed), "events": " ".join(plan.tracepoints)}
    for name, word in words.items():
        text = text.replace(f"@{name}@", word)
    return text
