# SPDX-License-Identifier: GPL-2.0-or-later
"""A file of trace events in Trace Event Format (JSON), written as they come, and their tracks.

Source: "Trace Event Format" of Chromium's trace viewer, JSON object form: one list of events, each
with a phase ``ph``, a time ``ts`` in microseconds, and a track ``pid, tid``. Events may be in any
order of time, except that of two of a task at the same time the longer comes first.
"""

import gzip
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import IO, Final

from swapsim.errors import InputError
from swapsim.io import atomic_file

SUFFIXES: Final = (".json", ".json.gz")
Args = Mapping[str, object]  # the fields that a viewer shows of an event, in addition to its name

Track = tuple[int, int]
"""Process and thread: the viewers' names for a group of tracks and one of them."""

TASKS, SWAP_CACHE, WRITEBACK, SLOTS, MACHINE, GENERATIONS = 1, 2, 3, 4, 5, 6
"""Processes, in the order in which they are shown."""

NAMES: Final = ("", "tasks", "swap cache", "writeback", "swap slots", "machine", "generations")

_IDLE: Final = 1 << 22
"""Thread of idle CPUs and their interrupts. No pid is as large, and thread 0 would be taken for the
first one of its process."""

_FIRST_CPU: Final = 1000

_EXACT: Final = 1 << 53
"""Larger numbers are written in hexadecimal, because JavaScript would round them."""


def task_track(pid: int) -> Track:
    """Return the track of a kernel's task."""
    return TASKS, pid or _IDLE


def cpu_track(number: int) -> Track:
    """Return the track of a machine's CPU."""
    return TASKS, _FIRST_CPU + number


class EventFile:
    """Writes events, one per line, to a file with some metadata."""

    def __init__(self, file: IO[str], about: Args) -> None:
        self._file = file
        self._pairs = 0
        self.count = 0
        metadata = json.dumps(dict(about), sort_keys=True)
        self._file.write(f'{{"displayTimeUnit":"ns","otherData":{metadata},"traceEvents":[')

    def slice(self, track: Track, name: str, begin: int, end: int, args: Args) -> None:
        """Write an activity of a task, from one ns to another; slices of a task nest."""
        self._write("X", track, name, begin, f',"dur":{_us(end - begin)}{_args(args)}')

    def stay(self, track: Track, kind: str, name: str, begin: int, end: int, args: Args) -> None:
        """Write a state from one ns to another; those of a kind may overlap."""
        self._pairs += 1
        pair = f',"cat":{quoted(kind)},"id2":{{"local":"0x{self._pairs:x}"}}'
        self._write("b", track, name, begin, f"{pair}{_args(args)}")
        self._write("e", track, name, end, pair)

    def arrow(self, name: str, begin: Track, end: Track, leaves: int, arrives: int) -> None:
        """Write an arrow from a slice of one track to a slice of another."""
        self._pairs += 1
        pair = f',"cat":{quoted(name)},"id":"0x{self._pairs:x}"'
        self._write("s", begin, name, leaves, pair)
        self._write("f", end, name, arrives, f'{pair},"bp":"e"')

    def instant(self, track: Track, name: str, at: int, args: Args) -> None:
        """Write an event of a task at one ns."""
        self._write("i", track, name, at, f',"s":"t"{_args(args)}')

    def counter(self, process: int, name: str, at: int, values: Args) -> None:
        """Write a counter's values from one ns on, until it is written again."""
        self._write("C", (process, 0), name, at, _args(values))

    def name_process(self, process: int, name: str) -> None:
        """Name a group of tracks; groups are shown in the order of their numbers."""
        self._write("M", (process, 0), "process_name", 0, _args({"name": name}))
        self._write("M", (process, 0), "process_sort_index", 0, _args({"sort_index": process}))

    def name_thread(self, track: Track, name: str) -> None:
        """Name a task's track."""
        self._write("M", track, "thread_name", 0, _args({"name": name}))

    def finish(self) -> None:
        """Close the list."""
        self._file.write("\n]}\n")

    def _write(self, phase: str, track: Track, name: str, at: int, rest: str) -> None:
        comma = "," if self.count else ""
        self.count += 1
        self._file.write(
            f'{comma}\n{{"ph":"{phase}","pid":{track[0]},"tid":{track[1]},"ts":{_us(at)},'
            f'"name":{quoted(name)}{rest}}}'
        )


class Nest:
    """Slices of one track, buffered until no other can enclose them: the longer comes first."""

    def __init__(self, file: EventFile, track: Track) -> None:
        self._file = file
        self._track = track
        self._slices: list[tuple[int, int, str, Args]] = []

    def add(self, name: str, begin: int, end: int, args: Args) -> None:
        """Buffer a slice."""
        self._slices.append((begin, end, name, args))

    def write(self) -> None:
        """Write the buffered slices."""
        for begin, end, name, args in sorted(self._slices, key=lambda one: (one[0], -one[1])):
            self._file.slice(self._track, name, begin, end, args)
        self._slices = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A written file."""

    path: Path
    events: int
    """Slices, instants, counters and names."""
    clock: str
    """Meaning of a microsecond in the viewer."""
    left_out: tuple[str, ...] = ()
    """Tables that cannot be shown."""

    def describe(self) -> list[str]:
        """Return lines that describe the file and how to open it."""
        lines = [f"{self.path}: {self.events} events; {self.clock}"]
        if self.left_out:
            lines.append(f"not shown, because their rows name no task: {', '.join(self.left_out)}")
        lines.append(
            "open it: ui.perfetto.dev, 'Open trace file' (it stays in your browser), or "
            "chrome://tracing, 'Load'"
        )
        return lines


def require_suffix(output: Path) -> None:
    """Require a file name with one of SUFFIXES."""
    if not output.name.endswith(SUFFIXES):
        raise InputError(
            "has another suffix: name it .json, or .json.gz to compress it", path=output
        )


@contextmanager
def event_file(output: Path, about: Args) -> Iterator[EventFile]:
    """Yield a file of events, which appears at the end, complete or not at all."""
    require_suffix(output)
    with atomic_file(output) as raw, ExitStack() as stack:
        file: IO[bytes] | gzip.GzipFile = raw
        if output.suffix == ".gz":  # without a name and a time of day
            packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6)
            file = stack.enter_context(packed)
        text = io.TextIOWrapper(file, encoding="ascii", newline="\n")
        try:
            events = EventFile(text, about)
            yield events
            events.finish()
        finally:
            text.detach()  # flushes, and leaves the file open for its owner


def _us(ns: int) -> str:
    """Return ns as microseconds: 1500 is 1.5.

    perfetto reads a double, multiplies it by 1000 and truncates. Where the result is less than the
    ns, so that adjacent slices would overlap, a fifth of a ns is added.
    """
    us, rest = divmod(ns, 1000)
    text = f"{us}.{rest:03d}" if rest else str(us)
    return text if int(float(text) * 1000) == ns else f"{text}2"


def _args(args: Args) -> str:
    present = {name: _exact(value) for name, value in args.items() if value is not None}
    return f',"args":{json.dumps(present, separators=(",", ":"))}' if present else ""


def _exact(value: object) -> object:
    return hex(value) if isinstance(value, int) and value >= _EXACT else value
