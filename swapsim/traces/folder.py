# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace folder: a table per event, and ``trace.toml`` with its provenance.

Its table ``[files]`` has the sha256 of each Parquet file, which is compared before a file is read.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import polars as pl
from polars.io.plugins import register_io_source

from swapsim import io
from swapsim import tables as columns
from swapsim.errors import InputError, errors_of
from swapsim.tables import Column, Table, require, require_values
from swapsim.traces.writer import toml_table

EVENT_HEAD: Final = Table(
    "EVENT_HEAD",
    "One row per event, in trace order: the first columns of each event's table, which the event's "
    "own fields follow.",
    columns.SEQ,
    Column("t_ns", pl.Int64, "time of the event; null under a clock that counts events"),
    columns.CPU,
    columns.PID,
    Column("comm", pl.String, "name of the task"),
)

TRACE_EVENTS: Final = Table(
    "TRACE_EVENTS",
    "One row per event of a trace, in order of name.",
    Column("event", pl.String, "event, by the name of its table"),
    Column("rows", pl.UInt64, "how often the event was recorded"),
)

_LIST_BORDERS: Final = ("mm_vmscan_lru_isolate", "mm_vmscan_lru_shrink_inactive")

REPLAYS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "mapping": (("swp_add", "swp_del", "wb_start", "wb_end"),),
    "removal": (
        ("removals",),
        ("swp_del", *_LIST_BORDERS),
        ("mm_filemap_delete_from_page_cache", *_LIST_BORDERS),
    ),
    "stall": (("reclaim_folios", "reclaim_lists", "reclaim_passes"),),
    "slots": (("slot_events",),),
    "clusters": (("cluster_events", "cluster_devices"),),
    "mglru": (("generation_choices", "generation_steps"),),
}
"""The events that a replay needs: one of these sets, the first that a trace has."""

PROVENANCE: Final = "trace.toml"
"""The file with the provenance of a trace, next to its tables."""

FILES: Final = "files"  # name of its table with the sha256 of each Parquet file
_KINDS: Final = (
    ("gaps_of_unknown_size", "losses of unknown size"),
    ("overwritten", "events overwritten before its begin"),
)
_TOML_TABLE: Final = re.compile(r"^(?=\[)", re.MULTILINE)  # the beginning of a table in trace.toml


@dataclass(frozen=True, slots=True)
class Trace:
    """A recording of a real kernel: a folder with a table for each of its events.

    Functions take it, or its name or folder, as ``trace``. `swapsim.open` makes it.
    """

    folder: Path

    def __fspath__(self) -> str:
        """Return the folder."""
        return str(self.folder)

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @property
    def kernel(self) -> str:
        """The release of the kernel that wrote it, or an empty text if that is not known."""
        return str(provenance(self.folder).get("kernel", {}).get("release", ""))

    @property
    def feeds(self) -> tuple[str, ...]:
        """The subjects that can replay it: mapping, removal, stall, slots, clusters, mglru."""
        return fed_by(event_names(self.folder))

    def events(self, name: str) -> pl.DataFrame:
        """Return the table of an event in trace order: seq, t_ns, cpu, pid, comm, its own fields.

        InputError: there is no such event (the message names those there are), or its table was
        changed or is damaged.

        Examples
        --------
        >>> import swapsim
        >>> swapsim.open("swap-w-seq").events("wb_end").height
        34021
        """
        return scan_event(self.folder, name).collect()

    def info(self) -> pl.DataFrame:
        """Return what is in it: a row per event, its name (``event``) and its ``rows``.

        Examples
        --------
        >>> import swapsim
        >>> swapsim.open("swap-w-seq").info().filter(event="wb_end").rows()
        [('wb_end', 34021)]
        """
        return events(self.folder)


def locate(trace: Trace | Path | str) -> Path:
    """Return the folder of a trace: the one that is named, or a shipped trace of this name."""
    path = Path(trace)
    if path.is_dir():
        return path
    if path.is_file():
        raise InputError("is a file: import it, and give the folder that this makes", path=path)
    known = io.shipped_traces()
    if str(trace) in known:
        return known[str(trace)]
    nearest = get_close_matches(str(trace), known, 1)
    hint = f"there is {nearest[0]}" if nearest else "'swapsim info' lists those"
    raise InputError(
        f"no such trace folder, and no shipped trace has this name ({hint}): "
        "'swapsim import TEXT -o DIR' makes one, also of 'sample'",
        path=path,
    )


def missing_events(replay: str, present: Iterable[str]) -> tuple[str, ...]:
    """Return the events that are missing for a replay, of its set that is nearest to complete."""
    there = set(present)

    def lacking(needed: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(event for event in needed if event not in there)

    # A set of one event is what the kernel of the laboratory alone can record.
    share = {needed: len(lacking(needed)) / len(needed) for needed in REPLAYS[replay]}
    return lacking(min(share, key=lambda needed: (share[needed], len(needed) == 1)))


def fed_by(present: Iterable[str]) -> tuple[str, ...]:
    """Return the replays that these events can feed."""
    there = set(present)
    return tuple(replay for replay in REPLAYS if not missing_events(replay, there))


def open_trace(trace: Trace | Path | str) -> Trace:
    """Open a trace: a folder that `import_text` made, or a shipped one by its name.

    Examples
    --------
    >>> import swapsim
    >>> swapsim.open("swap-w-seq").feeds
    ('mapping', 'removal')
    """
    folder = locate(trace)
    provenance(folder)
    return Trace(folder)


def provenance(trace: Trace | Path | str) -> dict[str, Any]:
    """Return the contents of trace.toml; an InputError if it is missing or no TOML."""
    path = locate(trace) / PROVENANCE
    if not path.exists():
        raise InputError(
            "a trace folder without provenance: import its text again, or write its origin "
            "to trace.toml",
            path=path,
        )
    return io.read_toml(path)


def events(trace: Trace | Path | str) -> pl.DataFrame:
    """Count the rows of each event of a trace (TRACE_EVENTS)."""
    origin = provenance(trace)
    heights = {}
    for name in event_names(trace):
        path = locate(trace) / f"{name}.parquet"
        heights[name] = io.decode_height(_bytes(path, origin), path)
    return event_table(heights)


def scan_event(trace: Trace | Path | str, event: str) -> pl.LazyFrame:
    """Scan the table of an event: EVENT_HEAD and its own fields, a row per event in trace order.

    An error in the rows is raised by ``collect``.
    """
    path, data = _table(trace, event)

    def rows(
        columns: list[str] | None, where: pl.Expr | None, most: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        frame = io.decode(data, path, columns)
        frame = frame if most is None else frame.head(most)
        yield frame if where is None else frame.filter(where)

    return register_io_source(rows, schema=io.decode_schema(data, path))


def read_event(
    trace: Trace | Path | str, event: str, schema: pl.Schema, may_be_null: Collection[str] = ()
) -> pl.DataFrame:
    """Read the table of an event in trace order; it must have exactly this schema.

    Only the columns of `may_be_null` may have nulls, and seq increases from each row to the next;
    an InputError names file, row and field.
    """
    path, data = _table(trace, event)
    frame = io.decode(data, path)
    with errors_of(path):
        require(frame, schema, event)
        require_values(frame, [column for column in schema if column not in may_be_null])
        require_order(frame)
    return frame


def require_order(frame: pl.DataFrame) -> None:
    """Require rows whose seq, which has no nulls, increases from each to the next."""
    seq = frame["seq"]
    back = seq.slice(1) <= seq.head(max(seq.len() - 1, 0))
    if back.any():
        after = seq[(back.arg_max() or 0) + 1]
        raise InputError(
            f"the row with seq {after} is out of order: write the table again", field="seq"
        )


def table_bytes(path: Path) -> bytes:
    """Read the file of a table; compare it with the trace.toml next to it, if there is one."""
    in_a_trace = (path.parent / PROVENANCE).exists()
    return _bytes(path, provenance(path.parent) if in_a_trace else {})


def sign(trace: Trace | Path | str) -> None:
    """Write the sha256 of each table to trace.toml, after a table was changed on purpose."""
    provenance(trace)
    path = locate(trace) / PROVENANCE
    tables = [
        table
        for table in _TOML_TABLE.split(io.read_text(path))
        if not table.startswith(f"[{FILES}]")
    ]
    after = [n for n, table in enumerate(tables, 1) if table.startswith("[events]")]
    at = after[0] if after else len(tables)
    before, behind = "".join(tables[:at]).rstrip("\n"), "".join(tables[at:])
    parts = [f"{before}\n" if before else "", toml_table(FILES, digests(trace)), behind]
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def digests(trace: Trace | Path | str) -> dict[str, str]:
    """Return the sha256 of each table of a trace folder by the name of its file."""
    paths = [locate(trace) / f"{event}.parquet" for event in event_names(trace)]
    with ThreadPoolExecutor() as pool:
        return {
            path.name: digest
            for path, digest in zip(paths, pool.map(io.sha256_of, paths), strict=True)
        }


def event_table(rows: Mapping[str, int]) -> pl.DataFrame:
    """Return a table with schema TRACE_EVENTS."""
    return pl.DataFrame(sorted(rows.items()), schema=TRACE_EVENTS.schema, orient="row")


def event_names(trace: Trace | Path | str) -> tuple[str, ...]:
    """Return the events of a trace trace, in order of name."""
    try:
        return tuple(sorted(path.stem for path in locate(trace).glob("*.parquet")))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}): check its rights", path=trace
        ) from None


def _table(trace: Trace | Path | str, event: str) -> tuple[Path, bytes]:
    """Return an event's file and its bytes, compared with their sha256."""
    origin = provenance(trace)
    present = event_names(trace)
    if event not in present:
        raise InputError(
            f"the trace has no event {event}; it has: {', '.join(present) or 'none'}", path=trace
        )
    path = locate(trace) / f"{event}.parquet"
    return path, _bytes(path, origin)


def losses(trace: Trace | Path | str) -> list[str]:
    """Return in words what a trace folder lacks: events, lines, order, tables; else nothing."""
    origin, located = provenance(trace), locate(trace)
    lost, skipped = origin.get("lost", {}), sum(origin.get("skipped", {}).values())
    earlier = origin.get("text", {}).get("earlier_events", 0)
    return [
        *(f"{n:,} events lost on CPU {cpu}" for cpu, n in lost.get("events_by_cpu", {}).items()),
        *(f"{lost[kind]:,} {words}" for kind, words in _KINDS if lost.get(kind)),
        *([f"{skipped:,} line{'s' * (skipped > 1)} skipped by its import"] if skipped else []),
        *(
            [f"{earlier:,} event{'s' * (earlier > 1)} earlier than the one before"]
            if earlier
            else []
        ),
        *(f"{name} missing" for name in origin.get(FILES, ()) if not (located / name).exists()),
    ]


def _bytes(path: Path, origin: Mapping[str, Any]) -> bytes:
    """Read a table's file; without a sha256 in trace.toml it is validated in another process."""
    known = origin.get(FILES)
    if known is None:
        data = io.read_bytes(path)
        io.validate(data, path)
        return data
    if not isinstance(known, Mapping) or not isinstance(known.get(path.name), str):
        raise InputError(
            f"lacks the sha256 of {path.name}: import the trace again, or drop the file",
            path=path.with_name(PROVENANCE),
            field=FILES,
        )
    return io.read_bytes(path, known[path.name])
