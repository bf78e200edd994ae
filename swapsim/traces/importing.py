# SPDX-License-Identifier: GPL-2.0-or-later
"""The import of a recording to a trace folder, which appears complete or not at all."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError, errors_of
from swapsim.io import new_folder
from swapsim.traces import text as trace_text
from swapsim.traces._native import NO_TRACE, PARSER_VERSION, Counts, read_ftrace
from swapsim.traces.folder import FILES, PROVENANCE, absent, digests, event_table
from swapsim.traces.formats import FTRACE_TEXT, recording_of
from swapsim.traces.writer import TableWriter, toml_table

_JOINING: Final = (
    "swapsim.clusters.joining",
    "swapsim.mglru.joining",
    "swapsim.stall.sums_joining",
)
"""Modules of subjects, which import this one: each has JOINED_EVENTS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedEvents:
    """Events of a text that make tables together, instead of a table for each.

    Attributes
    ----------
    events : frozenset of str
        Their names.
    join : callable
        Returns the tables by name, of one frame for each event that the text has: the column
        ``(clock)`` (UInt64; null under a clock of seconds), EVENT_HEAD, the event's fields; and of
        what the text's head says, such as its ``clock``.
    """

    events: frozenset[str]
    join: Callable[[Mapping[str, pl.DataFrame], Mapping[str, Any]], Mapping[str, pl.DataFrame]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSummary:
    """The result of an import.

    Attributes
    ----------
    folder : Path
        The new trace folder.
    events : polars.DataFrame
        Schema TRACE_EVENTS.
    lost : polars.DataFrame
        ``cpu UInt16, events UInt64``, one row per CPU that lost events.
    counts : Counts
        Lines, losses and skipped lines.
    renamed : mapping of str to str
        Name of a table -> its event, where they differ.
    """

    folder: Path
    events: pl.DataFrame
    lost: pl.DataFrame
    counts: Counts
    renamed: Mapping[str, str]

    def describe(self) -> list[str]:
        """Return lines for the terminal: losses, order, what is absent, renamed, skipped."""
        renamed = [
            f"event {event} is stored as {name}: a file system that folds case would lose it"
            for name, event in self.renamed.items()
        ]
        skipped = [
            f"skipped {kind.lines} of kind '{kind.kind}', first line {kind.line}"
            + (f", field '{kind.field}'" if kind.field else "")
            + f": {kind.problem}"
            for kind in self.counts.skipped
        ]
        notes = [self.counts.describe_lost(), *self.counts.describe_order()]
        notes += absent(self.folder, self.events["event"])
        return [*notes, *renamed, *skipped]


def import_text(
    text: Path | str,
    folder: Path | str,
    *,
    keep_going: bool = False,
    progress: bool = False,
    provenance: Mapping[str, Mapping[str, Any]] | None = None,
    joined: Sequence[JoinedEvents] | None = None,
) -> ImportSummary:
    """Turn a recording into a trace folder: ftrace text, or a trace.dat.

    A trace has a table for each event, but the probes of clusters, mglru and stall make tables of
    several events, which those subjects read.

    In a column of pointers 16 digits are those of %p, which are hexadecimal: a probe whose numbers
    may be so long has to print them with :x64.

    Parameters
    ----------
    text : Path or str
        The text of tracefs or of ``trace-cmd report``, or a trace.dat, which trace-cmd reads;
        plain or compressed with gzip, xz or zstd (all found by content), "-" for standard input,
        or "sample" for a short text of the laboratory.
    folder : Path or str
        The new folder; it must not exist.
    keep_going : bool
        Skip and count lines that cannot be read, and accept lost events, which a text may have.
    progress : bool
        Show a progress bar on stderr.
    provenance : mapping of str to mapping, optional
        Further tables for trace.toml; ``head`` adds to what the text's head says.
    joined : sequence of JoinedEvents, optional
        Events that make tables together, if not those of the subjects.

    Returns
    -------
    ImportSummary
        ``.folder``, the rows of each event (``.events``) and the lost events by CPU (``.lost``).

    Raises
    ------
    InputError
        Naming file, line and field of what cannot be read, or the folder that cannot be written.

    Examples
    --------
    >>> import swapsim
    >>> summary = swapsim.import_text("sample", "mytrace")
    >>> summary.events["rows"].sum(), summary.lost.height
    (1200, 0)
    """
    digest = hashlib.sha256()
    source, output = trace_text.located(text), Path(folder)
    if joined is None:
        joined = [import_module(name).JOINED_EVENTS for name in _JOINING]
    name = trace_text.name_of(source)
    for path in (name, folder):
        _require_text(path)
    events = frozenset[str]().union(*(some.events for some in joined))
    held: dict[str, list[pl.DataFrame]] = {}
    with new_folder(output) as made, TableWriter(made) as writer:

        def take(event: str, rows: pl.DataFrame) -> None:
            if event in events:
                held.setdefault(event, []).append(rows)
            else:
                writer.take(event, rows)

        with trace_text.chunks(source, digest.update, progress=progress) as pieces:
            recording = recording_of(pieces, name)
            with closing(recording.text) as plain:
                counts = read_ftrace(
                    plain, take, path=name, keep_going=keep_going, with_clock=events.__contains__
                )
        if recording.format != FTRACE_TEXT and counts.has_losses and not keep_going:
            raise InputError(
                f"has {counts.describe_lost()}: record with larger buffers, or accept this with "
                "keep_going=True",
                path=name,
            )
        head = {**recording.head, **(provenance or {}).get("head", {})}
        for some in joined:
            found = {
                event: pl.concat(rows, how="diagonal")
                for event, rows in held.items()
                if event in some.events
            }
            with errors_of(name):
                for table, frame in some.join(found, head).items() if found else ():
                    writer.take(table, frame)
        rows = writer.finish()
        renamed = writer.renamed
        if not rows:
            raise InputError(_nothing_read(counts), path=name)
        tables: dict[str, Mapping[str, Any]] = {
            "text": {
                "name": Path(name).name,
                "sha256": digest.hexdigest(),
                "lines": counts.lines,
                "clock": counts.clock,
                "format": recording.format,
                **({"earlier_events": counts.earlier} if counts.earlier else {}),
            },
            "head": head,
            "import": {
                "swapsim": version("swapsim"),
                "parser": PARSER_VERSION,
                "keep_going": keep_going,
            },
            "lost": {
                "overwritten": counts.overwritten,
                "gaps_of_unknown_size": counts.gaps,
                "events_by_cpu": {str(cpu): lost for cpu, lost in counts.lost.items()},
            },
            "skipped": {kind.kind: kind.lines for kind in counts.skipped},
            "events": rows,
            "renamed": renamed,
            FILES: digests(made),
            **(provenance or {}),
        }
        lines = ["# Where this trace comes from; written by swapsim import."]
        lines += [toml_table(title, table) for title, table in tables.items() if table]
        (made / PROVENANCE).write_text("\n".join(lines), encoding="utf-8")
    return ImportSummary(
        folder=output,
        events=event_table(rows),
        lost=pl.DataFrame(
            {"cpu": list(counts.lost), "events": list(counts.lost.values())},
            schema={"cpu": pl.UInt16, "events": pl.UInt64},
        ),
        counts=counts,
        renamed=renamed,
    )


def _nothing_read(counts: Counts) -> str:
    if counts.skipped:
        first = counts.skipped[0]
        return f"no line of it can be read; line {first.line}: {first.problem}"
    if not counts.lines:
        return f"the text is empty: {NO_TRACE}"
    return f"no event line in it: {NO_TRACE}"


def _require_text(path: Path | str) -> None:
    """Refuse a name that is no UTF-8, which neither trace.toml nor polars can store."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise InputError("its name is not UTF-8: give it another", path=path) from None
