# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace folder: a table per event, ``trace.toml`` with its provenance, and what it can feed.

The table ``[files]`` of trace.toml has the sha256 of each Parquet file, which is compared before a
file is read.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from os import fspath
from pathlib import Path
from typing import Any, Final

import polars as pl
from polars.io.plugins import register_io_source

from swapsim import io
from swapsim import tables as columns
from swapsim.errors import InputError, errors_of, nearest, suggestion
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

SHIPPED_TRACES: Final = Table(
    "SHIPPED_TRACES",
    "One row per trace that comes with the laboratory, in order of name.",
    Column("trace", pl.String, "name of the trace, which stands for its folder"),
    Column("kernel", pl.String, "release of the kernel"),
    Column("cpus", pl.UInt32, "CPUs of its machine"),
    Column("rows", pl.UInt64, "events recorded"),
    Column("replays", pl.List(pl.String), "replays, or a verification, that it can feed"),
)

_DELETED: Final = "mm_filemap_delete_from_page_cache"

SUMS_TABLES: Final = ("stall_lists", "stall_passes")
"""What a trace of a stock 7.3's stalls has; it feeds no replay, but `swapsim verify stall`."""

_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "mapping": {
        "swp_add": "folio entry",
        "swp_del": "folio entry",
        "swp_free": "entry",
        "wb_start": "folio",
        "wb_end": "folio",
        "folio_move": "mapping new old",
        "mm_filemap_add_to_page_cache": "dev ino pfn ofs",
        _DELETED: "dev ino pfn ofs",
        "writeback_dirty_folio": "bdi ino index",
    },
    "removal": {
        "mm_vmscan_lru_isolate": "lru",
        "mm_vmscan_lru_shrink_inactive": "nr_reclaimed",
        "swp_del": "entry",
        _DELETED: "dev ino ofs",
    },
}
"""Replay -> event that it reads if the trace has it -> its fields. Tables that an import makes of
several events are complete."""

_OTHER_NAMES: Final = (
    {"mapping", "writeback-tags", "tags", "a"},
    {"removal", "batched-removal", "b"},
    {"stall", "stall-decisions", "stalls", "c"},
    {"slots", "cluster-next", "scan-base", "d"},
    {"clusters", "cluster"},
    {"mglru", "generations"},
)
_RECORDED: Final = ("mapping", "removal", "clusters", "mglru")
"""Replays that a script of `swapsim probes` feeds; others need patched 6.1."""

_NAMED: Final = 3  # traces that an error names
_LONGEST_LINE: Final = 100  # characters of a line of `info`; a longer one becomes one for each item

SWAP_TYPE_SHIFT: Final = 58
"""Lowest bit of a swap entry's type (include/linux/swapops.h, 5.7 to 6.1)."""

PAGE_BYTES: Final = 4096  # bytes of a page; ``ofs`` of a page cache event is in bytes
EMPTY_FIELD: Final = (
    "event {event} of the text lacks it, or has (fault): remove that line, and import it again"
)
"""What to do where an event has no value in a field."""

_HEAD: Final = ("seq", "pid")
_WORDS: Final = ("dev", "bdi", "lru")  # fields that are names; all others are integers


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


def open_trace(trace: Trace | Path | str, *, feeds: str | None = None) -> Trace:
    """Open a trace: a folder that `import_text` made, or a shipped one by its name.

    Parameters
    ----------
    trace : Trace, path or str
        A folder, or the name of a shipped trace.
    feeds : str, optional
        A subject that it must feed: mapping, removal, stall, slots, clusters, mglru.

    Raises
    ------
    InputError
        There is no such trace or subject, or the trace cannot feed it: the message says what it
        feeds, and which shipped ones feed the subject.

    Examples
    --------
    >>> import swapsim
    >>> swapsim.open("swap-w-seq").feeds
    ('mapping', 'removal')
    """
    folder = locate(trace)
    provenance(folder)
    if feeds is not None:
        if feeds not in REPLAYS:
            raise no_such_replay(feeds, REPLAYS)
        require_feeds(folder, feeds)
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
        _, heights[name], _ = io.decode_footer(_bytes(path, origin), path)
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

    return register_io_source(rows, schema=io.decode_footer(data, path)[0])


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


def require_events(trace: Trace | Path | str, replay: str) -> tuple[str, ...]:
    """Require the events that a replay needs; return all events of a trace."""
    provenance(trace)
    present = event_names(trace)
    missing = missing_events(replay, present)
    if missing:
        raise InputError(
            f"the replay {replay} needs the event{'s' * (len(missing) > 1)} "
            f"{', '.join(missing)}; the trace has: {', '.join(present) or 'none'}",
            path=trace,
        )
    return present


def shipped(subject: str | None = None) -> tuple[str, ...]:
    """Return the names of the traces that come with swapsim, in order of name.

    Parameters
    ----------
    subject : str, optional
        Only those that its ``replay`` can read: mapping, removal, stall, slots, clusters, mglru.

    Raises
    ------
    InputError
        There is no such subject.

    Examples
    --------
    >>> import swapsim
    >>> swapsim.shipped("mapping")
    ('random-80-20', 'slow-disk', 'swap-w-seq')
    """
    return tuple(shipped_folders(subject))


def shipped_folders(replay: str | None = None) -> dict[str, Path]:
    """Return the folders of shipped traces that can feed a replay, or of all, by name."""
    if replay is not None and replay not in REPLAYS:
        raise no_such_replay(replay, REPLAYS)
    return {
        name: folder
        for name, folder in io.shipped_traces().items()
        if replay is None or not missing_events(replay, event_names(folder))
    }


def shipped_traces() -> pl.DataFrame:
    """Return what the traces that come with the laboratory are (SHIPPED_TRACES)."""
    rows = []
    for name, folder in io.shipped_traces().items():
        origin = provenance(folder)
        can = [*fed_by(origin["events"])]
        can += ["verify stall"] if {*SUMS_TABLES} <= {*origin["events"]} else []
        counted = sum(origin["events"].values())
        rows.append((name, origin["kernel"]["release"], origin["guest"]["cpus"], counted, can))
    return pl.DataFrame(rows, schema=SHIPPED_TRACES.schema, orient="row")


def also_called(name: str) -> set[str]:
    """Return all names of the subject that has this one: of its patch, mechanism, old package."""
    word = name.lower().replace("_", "-")
    return next((names for names in _OTHER_NAMES if word in names), {word})


def no_such_replay(name: str, known: Iterable[str]) -> InputError:
    """Return the error for an unknown replay: the known name of its subject, or all names."""
    others = tuple(known)
    same = [each for each in others if each in also_called(name)]
    hint = (
        f"its name here is {same[0]}"
        if same
        else f"{suggestion(name, others)}there are: {', '.join(others)}"
    )
    return InputError(f"no such replay: {name!r}; {hint}")


def require_feeds(trace: Path, name: str, *, verifies: bool = False) -> None:
    """Require that a trace can feed a replay or verification; say how to get one that can.

    The error says how to record again, or instead of a shipped trace which others there are.
    A folder that is no trace is refused, too; other paths are left to the replay.
    """
    try:
        present = event_names(trace)
    except InputError:
        return
    if trace.is_dir():
        require_trace(trace)
    if present and (missing := _missing(name, present, verifies=verifies)):
        near = {each: nearest(each, present) for each in missing}
        named = ", ".join(
            each + (f" (the trace has {near[each][0]}: was it misspelt?)" if near[each] else "")
            for each in missing
        )
        raise InputError(
            f"{name} needs {named}, and this trace feeds "
            f"{', '.join(fed_by(present)) or 'no replay'}: "
            f"{_remedy(trace, name, verifies=verifies)}",
            path=trace,
        )


def _remedy(trace: Path, name: str, *, verifies: bool) -> str:
    """Return what to do about a trace that cannot feed a replay or verification."""
    shipped = io.shipped_traces()
    fit = [
        each
        for each, at in shipped.items()
        if not _missing(name, event_names(at), verifies=verifies)
    ]
    others = f"{', '.join(fit[:_NAMED])}; 'swapsim info' lists all"
    script = next((each for each in _RECORDED if each in also_called(name)), "")
    script = "stall" if verifies and name == "stall" else script
    if not script or locate(trace).resolve() in {each.resolve() for each in shipped.values()}:
        return f"take another, as {others}"
    return (
        f"record again with 'swapsim probes --for {script}', or rename a probe of your own "
        f"so and import again; shipped are {others}"
    )


def _missing(name: str, present: Iterable[str], *, verifies: bool) -> tuple[str, ...]:
    """Return the tables that are missing for a replay or verification."""
    (replay,) = also_called(name) & {*REPLAYS}
    if verifies and name == "stall" and {*SUMS_TABLES} <= {*present}:
        return ()
    return missing_events(replay, present)


def require_trace(trace: Trace | Path | str) -> None:
    """Refuse a folder that has neither tables nor provenance."""
    if not event_names(trace) and not (locate(trace) / PROVENANCE).exists():
        raise InputError(
            "no trace folder: it has neither tables nor trace.toml ('swapsim import TEXT -o DIR' "
            "makes one)",
            path=trace,
        )


def described(trace: Trace | Path | str) -> dict[str, Any]:
    """Return the contents of a trace folder as plain data, for a program.

    They are ``rows`` by event, ``provenance`` as in trace.toml, and ``replays``: the events, or
    else the fields, that each lacks, none if the trace can feed it.
    """
    require_trace(trace)
    counted = dict(events(trace).iter_rows())
    lacking = {
        replay: [*missing_events(replay, counted)] or _lacking_fields(trace, replay, {*counted})
        for replay in REPLAYS
    }
    return {"rows": counted, "provenance": provenance(trace), "replays": lacking}


def info(trace: Trace | Path | str) -> str:
    """Describe a trace folder in lines: its events, its provenance, the replays it can feed."""
    located, found = locate(trace), described(trace)
    rows, origin = found["rows"], found["provenance"]
    missing_files = [name for name in origin.get(FILES, ()) if not (located / name).exists()]
    checked = "as they were written" if FILES in origin else "without sha256 in trace.toml"
    checked = "not complete" if missing_files else checked
    width = max(map(len, rows), default=0)
    lines = [f"{fspath(trace)}: {sum(rows.values())} rows of {len(rows)} events, {checked}"]
    lines += [f"  {event:{width}} {count:>12}" for event, count in rows.items()]
    lines += [f"  {name} is missing, though trace.toml lists it" for name in missing_files]
    lines.append("provenance:")
    for title, table in origin.items():
        if title not in ("events", FILES):
            lines += _describe_table(title, table)
    lines.append("replays:")
    for replay, lacking in found["replays"].items():
        lines.append(f"  {replay}: " + (f"no, it lacks {', '.join(lacking)}" if lacking else "yes"))
        if replay == "mapping" and not lacking:
            lines[-1] = "; ".join([lines[-1], *not_counted(rows), *unpaired(located)])
    if {*SUMS_TABLES} <= {*rows}:
        lines.append(f"'swapsim verify stall {fspath(trace)}' compares it with the rules of 7.3")
    return "\n".join(lines)


def _describe_table(title: str, value: Any) -> list[str]:
    """Return the lines of a value of trace.toml."""
    if isinstance(value, dict):
        return [
            line for key, item in value.items() for line in _describe_table(f"{title}.{key}", item)
        ]
    items = value if isinstance(value, list) else [value]
    words = [" ".join(str(item).split()) for item in items]
    line = f"  {title}: {', '.join(words)}"
    if len(words) == 1 or len(line) <= _LONGEST_LINE:
        return [line]
    return [f"  {title}:", *(f"    {item}" for item in words)]


def _lacking_fields(trace: Trace | Path | str, replay: str, there: set[str]) -> list[str]:
    """Return the fields that a trace's events lack for a replay, or that are empty."""
    if replay == "removal" and "removals" in there:
        return []
    return [
        text
        for event, fields in _FIELDS.get(replay, {}).items()
        if event in there
        for text in _lacking(scan_event(trace, event), event, fields.split())
    ]


def _lacking(table: pl.LazyFrame, event: str, fields: list[str]) -> Iterator[str]:
    schema = table.collect_schema()
    yield from (f"{field} of {event}" for field in fields if field not in schema)
    present = [field for field in fields if field in schema]
    rows = table.select("seq", *present).collect()
    for field in present:
        if empty := rows[field].null_count():
            yield f"{field} of {event} in {empty} of {rows.height} rows"


def absent(trace: Trace | Path | str, events: Iterable[str]) -> list[str]:
    """Return a line for each event of a trace of which no row has a field that is needed."""
    lines = []
    for event in events:
        needed = {field for of in _FIELDS.values() for field in of.get(event, "").split()}
        schema = scan_event(trace, event).collect_schema() if needed else {}
        if lacks := sorted(needed - {*schema}):
            lines.append(
                f"no row of {event} has {', '.join(lacks)}: was the text cut short? import the "
                "complete one"
            )
    return lines


def not_counted(present: Iterable[str]) -> list[str]:
    """Return a line if a trace lacks an event without which `mapping.replay` counts less."""
    if "swp_free" in present:
        return []
    return ["no swp_free in this trace: frees, one more acquisition a page by 6.1, are not counted"]


def unpaired(trace: Trace | Path | str) -> list[str]:
    """Return a line each if pages end writeback that did not start it, or start it twice.

    Writeback that still goes on at the end of a trace is no fault of it.
    """
    steps = {"wb_start": 1, "wb_end": -1}
    rows = pl.concat(
        scan_event(trace, event).select("seq", "folio", step=pl.lit(step))
        for event, step in steps.items()
    )
    before = pl.col("step").shift(1).over("folio")
    found = rows.sort("seq").select(
        starts=(pl.col("step") == 1).sum(),
        ends=(pl.col("step") == -1).sum(),
        ended=((pl.col("step") == -1) & before.ne_missing(1)).sum(),
        started=((pl.col("step") == 1) & before.eq_missing(1)).sum(),
    )
    starts, ends, ended, started = found.collect().row(0)
    faults = {
        f"{ended:,} of {ends:,} ends of writeback have no recorded start": ended,
        f"{started:,} of {starts:,} starts of writeback have no recorded end before the next": (
            started
        ),
    }
    return [f"{line}, so these figures are off" for line, number in faults.items() if number]


def read_fields(
    trace: Trace | Path | str, event: str, fields: Sequence[str], optional: Sequence[str] = ()
) -> pl.DataFrame:
    """Read seq, pid and the fields of one event; integers become UInt64."""
    table = scan_event(trace, event)
    schema = table.collect_schema()
    taken = [*fields, *(field for field in optional if field in schema)]
    with errors_of(Path(trace) / f"{event}.parquet"):
        _check_kinds(schema, (*_HEAD, *taken))
        rows = table.select(*_HEAD, *taken).collect()
        require_values(rows, rows.columns, EMPTY_FIELD)
        require_order(rows)
    # A kprobe may print an address as a negative number: its bits count.
    numbers = [field for field in taken if field not in _WORDS]
    return rows.with_columns(pl.col(numbers).cast(pl.UInt64, wrap_numerical=True))


def _check_kinds(schema: pl.Schema, columns: Sequence[str]) -> None:
    for column in columns:
        if column not in schema:
            raise InputError(
                f"the event has no such field; it has: {', '.join(schema)}; its lines were cut, or "
                "its probe has other names: import the complete text, with the probes of "
                "'swapsim probes'",
                field=column,
            )
        kind, needed = schema[column], EVENT_HEAD.schema.get(column, pl.String())
        if column in _HEAD or column in _WORDS:
            fits, wanted = kind == needed, f"{needed}"
        else:
            fits, wanted = kind.is_integer(), "an integer"
        if not fits:
            raise InputError(
                f"has {kind} where {wanted} is needed: import the trace again", field=column
            )


def swap_offset(field: str) -> pl.Expr:
    """Return the slot of a swap entry."""
    return pl.col(field) & ((1 << SWAP_TYPE_SHIFT) - 1)


def one_device(frame: pl.DataFrame, trace: Trace | Path | str, event: str) -> pl.DataFrame:
    """Return the rows of a trace's event, which must have the swap entries of one device."""
    devices = frame.select((pl.col("entry") // (1 << SWAP_TYPE_SHIFT)).unique())
    if devices.height > 1:
        raise InputError(
            f"has swap entries of {devices.height} devices: a replay accepts one; filter the trace "
            "to one device",
            path=Path(trace) / f"{event}.parquet",
            field="entry",
        )
    return frame
