# SPDX-License-Identifier: GPL-2.0-or-later
"""A run of the contention machine, of a config or a TOML file, as tracks for perfetto."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import interrupt, io
from swapsim import progress as bars
from swapsim.checks import checked, suggestion
from swapsim.errors import ConfigError, InputError
from swapsim.export.event_file import (
    MACHINE,
    NAMES,
    TASKS,
    EventFile,
    Exported,
    Nest,
    cpu_track,
    event_file,
)
from swapsim.machine._native import MachineLog, Sample
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs, costs_by_name

SAMPLES: Final = 500  # intervals of a run: its counters are written at the end of each
_COSTS: Final = "costs"
_NO_TEXT: Final = ("streams",)  # fields that a TOML file cannot contain


@checked
@interrupt.recording()
def machine(
    config: MachineConfig,
    output: Path | str,
    constants: pl.DataFrame | None = None,
    *,
    progress: bool = False,
) -> Exported:
    """Run a machine and write which CPU waits for which lock, and which CPU holds it.

    Each CPU is a track: its waits for locks, its holds and its sleeps are slices, and an arrow
    leads to a wait from the CPU that had the lock. Counters are slots in use, pages in the swap
    cache, and by class of lock how many CPUs wait for one.

    The log covers ``duration_ns`` after the warm-up; a ms of 8 busy CPUs is about 2 MB. ``output``
    is NAME.json or NAME.json.gz, and is replaced atomically. ``constants`` are CONSTANTS, by
    default data/costs.csv.
    """
    output = Path(output)
    about = {"made by": "swapsim export", "machine": repr(config)}
    with event_file(output, about) as file:
        log = MachineLog(config, costs_by_name(constants))
        step = max(config.duration_ns // SAMPLES, 1)
        with bars.bar(SAMPLES, "export a machine", "samples", shown=progress) as bar:
            _show(log, step, file, bar)
        _name_tracks(log, file)
        count = file.count
    return Exported(path=output, events=count, clock="time is the machine's, its warm-up included")


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFile:
    """A machine, and its costs (schema CONSTANTS)."""

    config: MachineConfig
    costs: pl.DataFrame


@checked
def machine_config(path: Path | str) -> MachineFile:
    """Read a machine from a TOML file.

    Its keys are fields of `config.MachineConfig`; those of its table ``[costs]`` are names of
    data/costs.csv, in ns. InputError: the file cannot be read, or a field is unknown or does not
    fit.
    """
    path = Path(path)
    settings = io.read_toml(path)
    changes = settings.pop(_COSTS, {})
    known = [field.name for field in fields(MachineConfig) if field.name not in _NO_TEXT]
    for name in settings:
        if name not in known:
            raise InputError(
                f"no such field of a machine: {suggestion(name, [*known, _COSTS])}choose of "
                f"{', '.join(known)} and [{_COSTS}]",
                path=path,
                field=name,
            )
    if not isinstance(changes, dict):
        raise InputError("must be a table: [costs], and a line NAME = NS for each", path=path)
    for name, value in changes.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(
                f"{value!r} is no whole number of ns: write one",
                path=path,
                field=f"{_COSTS}.{name}",
            )
    try:
        return MachineFile(config=MachineConfig(**settings), costs=change_costs(costs(), changes))
    except (ConfigError, TypeError) as error:
        raise InputError(" ".join(str(error).split()), path=path) from None
    except InputError as error:
        raise error.of(path) from None


def _show(log: MachineLog, step: int, file: EventFile, bar: bars.Bar) -> None:
    tracks = _Tracks([task.cpu for task in log.tasks()], file, log.begin_ns)
    waits: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    written = 0
    for sample in log.samples(step):
        for row in sample.spans.iter_rows():
            tracks.take(row)
            _count_wait(row, waits, log.begin_ns, step)
        done = (sample.now_ns - log.begin_ns) // step
        if done > written:
            _count_pages(sample, file)
            bar.update(min(done, SAMPLES) - written)
            written = done
    tracks.finish()
    for kind in sorted(waits):
        for place in range(written + 1):
            cpus = {"CPUs": round(waits[kind].get(place, 0) / step, 3)}
            file.counter(MACHINE, f"wait for {kind}", log.begin_ns + place * step, cpus)


class _Tracks:
    """The CPUs' spans; those of a CPU are buffered until it holds no lock."""

    def __init__(self, cpus: Iterable[int], file: EventFile, begin_ns: int) -> None:
        self._file = file
        self._begin_ns = begin_ns
        self._nests = {cpu: Nest(file, cpu_track(cpu)) for cpu in cpus}
        self._held = dict.fromkeys(self._nests, 0)
        self._last_hold: dict[tuple[int, str], tuple[int, int]] = {}

    def take(self, row: tuple[Any, ...]) -> None:
        """Buffer a span, and write all spans of its CPU if it holds no lock."""
        begin, end, kind, cpu, site, lock, behind = row
        if kind == "wait" and lock is not None:
            self._held[cpu] += 1
        if kind == "hold":
            self._held[cpu] = max(self._held[cpu] - 1, 0)
            self._last_hold[cpu, lock] = (begin, end)
        if end > begin:
            other = None if behind is None else f"CPU {behind}"
            name = kind if lock is None else f"{kind}: {lock}"
            args = {"where": site, "lock": lock, "behind": other}
            self._nests[cpu].add(name, begin, end, args)
            # For a wait that began before the log, the holder is that of the log's beginning.
            if behind is not None and lock is not None and begin >= self._begin_ns:
                self._point(behind, cpu, lock, begin)
        if not self._held[cpu]:
            self._nests[cpu].write()

    def finish(self) -> None:
        """Write the buffered spans."""
        for nest in self._nests.values():
            nest.write()

    def _point(self, holder: int, waiter: int, lock: str, at: int) -> None:
        """Write an arrow from a hold, which the log has before the waits for its end.

        A request in the same ns as the end came before it, so the arrow leaves a ns earlier. A
        hold that begins later was being handed over, or is a later one of an unfair lock.
        """
        begin, end = self._last_hold[holder, lock]
        if begin < end and begin <= at <= end:
            self._file.arrow(
                "has the lock", cpu_track(holder), cpu_track(waiter), min(at, end - 1), at
            )


def _count_wait(
    row: tuple[Any, ...], waits: dict[str, dict[int, int]], first: int, step: int
) -> None:
    """Add the part of a wait in each interval of time."""
    begin, end, kind, _, _, lock, _ = row
    if kind != "wait" or lock is None:
        return
    begin = max(begin, first)
    while begin < end:
        place = (begin - first) // step
        until = min(end, first + (place + 1) * step)
        waits[lock.split()[0]][place] += until - begin
        begin = until


def _count_pages(sample: Sample, file: EventFile) -> None:
    file.counter(MACHINE, "slots in use", sample.now_ns, {"slots": sample.slots_in_use})
    file.counter(MACHINE, "pages in the swap cache", sample.now_ns, {"pages": sample.cached})


def _name_tracks(log: MachineLog, file: EventFile) -> None:
    file.name_process(TASKS, "CPUs")
    file.name_process(MACHINE, NAMES[MACHINE])
    for task in log.tasks():
        file.name_thread(cpu_track(task.cpu), f"{task.actor}, CPU {task.cpu}, node {task.node}")
