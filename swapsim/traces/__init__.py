# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace folders: import a text, scan an event, say what is there.

A trace folder holds ``EVENT.parquet`` per event, and ``trace.toml``: where it
comes from. It appears whole or not at all.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import __version__, paths
from swapsim.errors import InputError
from swapsim.native.ftrace import PARSER_VERSION, Counts, Skipped, read_ftrace
from swapsim.traces import text as trace_text
from swapsim.traces.writer import TableWriter, new_folder, toml_table

PROVENANCE: Final = "trace.toml"
"""The file beside the tables that says where a trace comes from."""

REPLAYS: Final[Mapping[str, tuple[str, ...]]] = {
    "writeback-tags": ("swp_add", "swp_del", "wb_start", "wb_end"),
    "batched-removal": ("swp_del", "mm_vmscan_lru_shrink_inactive"),
    "stall-decisions": ("shrink_stat", "mm_vmscan_lru_isolate", "mm_vmscan_lru_shrink_inactive"),
    "cluster-next": ("slot_events",),
}
"""The events without which a replay cannot run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSummary:
    """What an import found.

    Attributes
    ----------
    folder : Path
        The new trace folder.
    events : polars.DataFrame
        ``event String, rows UInt64``, one row per event in order of name.
    lost : polars.DataFrame
        ``cpu UInt16, events UInt64``, one row per CPU that lost events.
    counts : Counts
        What else the reader counted.
    """

    folder: Path
    events: pl.DataFrame
    lost: pl.DataFrame
    counts: Counts

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The lines that could not be read, by kind."""
        return self.counts.skipped

    def describe_lost(self) -> str:
        """Say in one line which events the trace lacks."""
        return _describe_lost(self.counts)

    def describe_skipped(self) -> list[str]:
        """Say in a line per kind what was skipped, and the first line of it."""
        return [
            f"skipped {kind.lines} of kind '{kind.kind}', first line {kind.line}"
            + (f", field '{kind.field}'" if kind.field else "")
            + f": {kind.problem}"
            for kind in self.skipped
        ]


def import_text(
    source: Path | str,
    output: Path | str,
    *,
    keep_going: bool = False,
    progress: bool = False,
    provenance: Mapping[str, Mapping[str, Any]] | None = None,
) -> ImportSummary:
    """Turn ftrace text into a trace folder.

    Parameters
    ----------
    source : Path or str
        The text of tracefs or of ``trace-cmd report``, plain or packed with gzip, xz or zstd
        (found by content), or "-" for standard input.
    output : Path or str
        The folder to make; it must not exist.
    keep_going : bool
        Skip and count lines that cannot be read.
    progress : bool
        Show a progress bar on stderr.
    provenance : mapping of str to mapping, optional
        Further tables for trace.toml: what the caller knows of the trace.

    Returns
    -------
    ImportSummary

    Raises
    ------
    InputError
        Naming file, line and field of what cannot be read, or the folder that cannot be written.
    """
    digest = hashlib.sha256()
    name = trace_text.name_of(source)
    with new_folder(Path(output)) as folder, TableWriter(folder) as writer:
        with trace_text.chunks(source, digest.update, progress=progress) as text:
            counts = read_ftrace(text, writer.take, path=name, keep_going=keep_going)
        rows = writer.finish()
        if not rows:
            raise InputError(_nothing_read(counts), path=name)
        tables: dict[str, Mapping[str, Any]] = {
            "text": {
                "name": Path(name).name,
                "sha256": digest.hexdigest(),
                "lines": counts.lines,
                "clock": counts.clock,
            },
            "import": {"swapsim": __version__, "parser": PARSER_VERSION, "keep_going": keep_going},
            "lost": {
                "overwritten": counts.overwritten,
                "gaps_of_unknown_size": counts.gaps,
                "events_by_cpu": {str(cpu): lost for cpu, lost in counts.lost.items()},
            },
            "skipped": {kind.kind: kind.lines for kind in counts.skipped},
            "events": rows,
            **(provenance or {}),
        }
        lines = ["# Where this trace comes from; written by swapsim import."]
        lines += [toml_table(title, table) for title, table in tables.items() if table]
        (folder / PROVENANCE).write_text("\n".join(lines), encoding="utf-8")
    return ImportSummary(
        folder=Path(output),
        events=_event_rows(rows),
        lost=pl.DataFrame(
            {"cpu": list(counts.lost), "events": list(counts.lost.values())},
            schema={"cpu": pl.UInt16, "events": pl.UInt64},
        ),
        counts=counts,
    )


def provenance(folder: Path | str) -> dict[str, Any]:
    """Return what trace.toml says.

    Raises
    ------
    InputError
        There is no such folder, no trace.toml in it, or no TOML in that.
    """
    path = _folder(folder) / PROVENANCE
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            "a trace folder without provenance: import its text again, or write down "
            "where it comes from in trace.toml",
            path=path,
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is no TOML ({error}): mend it", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None


def events(folder: Path | str) -> pl.DataFrame:
    """Count the rows of each event.

    Returns
    -------
    polars.DataFrame
        ``event String, rows UInt64``, in order of name.

    Raises
    ------
    InputError
        The folder is none, or a table is not whole.
    """
    names = _event_names(_folder(folder))
    return _event_rows({name: _height(Path(folder) / f"{name}.parquet") for name in names})


def require_events(folder: Path | str, needed: Sequence[str], replay: str) -> tuple[str, ...]:
    """Return the events of a trace that has all those that a replay needs.

    Raises
    ------
    InputError
        Naming the events that are missing and those that are there, or the missing trace.toml.
    """
    provenance(folder)
    present = _event_names(Path(folder))
    missing = [event for event in needed if event not in present]
    if missing:
        raise InputError(
            f"the replay {replay} needs the event{'s' * (len(missing) > 1)} "
            f"{', '.join(missing)}; the trace has: {', '.join(present) or 'none'}",
            path=folder,
        )
    return present


def scan_event(folder: Path | str, event: str) -> pl.LazyFrame:
    """Scan one event's table.

    Returns
    -------
    polars.LazyFrame
        EVENT_HEAD, then the event's own fields; one row per event, in trace order.

    Raises
    ------
    InputError
        The trace lacks the event (the message names those it has), its table is not whole, or the
        folder has no trace.toml.
    """
    provenance(folder)
    present = _event_names(Path(folder))
    if event not in present:
        raise InputError(
            f"the trace has no event {event}; it has: {', '.join(present) or 'none'}", path=folder
        )
    path = Path(folder) / f"{event}.parquet"
    _height(path)
    return pl.scan_parquet(path, glob=False)


def replays_of(present: Iterable[str]) -> pl.DataFrame:
    """Say which replays a set of events can feed.

    Returns
    -------
    polars.DataFrame
        ``replay String, can Boolean, missing String``, one row per replay.
    """
    there = set(present)
    missing = {
        replay: [event for event in needed if event not in there]
        for replay, needed in REPLAYS.items()
    }
    return pl.DataFrame(
        {
            "replay": list(missing),
            "can": [not lacking for lacking in missing.values()],
            "missing": [", ".join(lacking) for lacking in missing.values()],
        },
        schema={"replay": pl.String, "can": pl.Boolean, "missing": pl.String},
    )


def shipped(replay: str) -> dict[str, Path]:
    """Return the laboratory's own traces that can feed a replay, by name, in order of name.

    Raises
    ------
    InputError
        There is no such replay.
    """
    if replay not in REPLAYS:
        raise InputError(f"no such replay: {replay!r}; there are: {', '.join(REPLAYS)}")
    return {
        name: folder
        for name, folder in paths.shipped_traces().items()
        if all((folder / f"{event}.parquet").is_file() for event in REPLAYS[replay])
    }


def describe(folder: Path | str) -> str:
    """Say in some lines what a trace folder holds, whence it is, and which replays it can feed.

    Raises
    ------
    InputError
        As for `provenance` and `events`.
    """
    told = provenance(folder)
    counted = events(folder)
    width = max((len(event) for event in counted["event"]), default=0)
    lines = [f"{folder}: {counted['rows'].sum()} rows of {counted.height} events"]
    lines += [f"  {event:{width}} {rows:>12}" for event, rows in counted.iter_rows()]
    lines.append("provenance:")
    for title, table in told.items():
        if title != "events":
            lines += _describe_table(title, table)
    lines.append("replays:")
    for replay, can, missing in replays_of(counted["event"]).iter_rows():
        lines.append(f"  {replay}: {'yes' if can else f'no, it lacks {missing}'}")
    return "\n".join(lines)


def _describe_table(title: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return [
            line for key, item in value.items() for line in _describe_table(f"{title}.{key}", item)
        ]
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return [f"  {title}: {' '.join(str(value).split())}"]


def _describe_lost(counts: Counts) -> str:
    parts = [f"CPU {cpu}: {lost}" for cpu, lost in counts.lost.items()]
    if counts.gaps:
        parts.append(f"losses of unknown size: {counts.gaps}")
    if counts.overwritten:
        parts.append(f"overwritten before the first line: {counts.overwritten}")
    return f"lost events: {', '.join(parts) or 'none'}"


def _nothing_read(counts: Counts) -> str:
    if not counts.lines:
        return "the text is empty: name a text of tracefs or of trace-cmd report"
    if counts.skipped:
        first = counts.skipped[0]
        return f"no line of it can be read; line {first.line}: {first.problem}"
    return "no event line in it: name a text of tracefs or of trace-cmd report"


def _event_rows(rows: Mapping[str, int]) -> pl.DataFrame:
    return pl.DataFrame(
        {"event": sorted(rows), "rows": [rows[event] for event in sorted(rows)]},
        schema={"event": pl.String, "rows": pl.UInt64},
    )


def _folder(folder: Path | str) -> Path:
    path = Path(folder)
    if not path.is_dir():
        raise InputError("no such trace folder: make one with 'swapsim import'", path=path)
    return path


def _event_names(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(sorted(path.stem for path in folder.glob("*.parquet")))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=folder) from None


def _height(path: Path) -> int:
    """Return a table's rows, as its footer says."""
    try:
        return int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError):
        raise InputError(
            "is not a whole Parquet table: import the trace again", path=path
        ) from None
