# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace folder: a table per event, and ``trace.toml`` with its provenance.

Its table ``[files]`` has the sha256 of each Parquet file, which is compared before a file is read.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import polars as pl
from polars.io.plugins import register_io_source

from swapsim import io
from swapsim.errors import InputError, errors_of
from swapsim.tables import require, require_values
from swapsim.traces.tables import TRACE_EVENTS
from swapsim.traces.writer import toml_table

PROVENANCE: Final = "trace.toml"
"""The file with the provenance of a trace, next to its tables."""

FILES: Final = "files"  # name of its table with the sha256 of each Parquet file
_TOML_TABLE: Final = re.compile(r"^(?=\[)", re.MULTILINE)  # the beginning of a table in trace.toml


def locate(trace: Path | str) -> Path:
    """Return the folder of a trace: the one that is named, or a shipped trace of this name.

    Examples
    --------
    >>> from swapsim import traces
    >>> traces.locate("swap-w-seq").name
    'swap-w-seq'
    """
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
        from swapsim.traces.replays import replays_of

        return tuple(replays_of(event_names(self.folder)).filter("can")["replay"])

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
        """Return the events and how many rows each has (TRACE_EVENTS)."""
        return events(self.folder)


def open_trace(trace: Path | str) -> Trace:
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


def provenance(folder: Path | str) -> dict[str, Any]:
    """Return the contents of trace.toml; an InputError if it is missing or no TOML."""
    path = locate(folder) / PROVENANCE
    if not path.exists():
        raise InputError(
            "a trace folder without provenance: import its text again, or write its origin "
            "to trace.toml",
            path=path,
        )
    return io.read_toml(path)


def events(folder: Path | str) -> pl.DataFrame:
    """Count the rows of each event of a trace folder or name (TRACE_EVENTS).

    Examples
    --------
    >>> from swapsim import frames, traces
    >>> frames.show(traces.events("swap-w-seq").filter(event="wb_end"))
    event     rows
    wb_end  34,021
    """
    origin = provenance(folder)
    heights = {}
    for name in event_names(folder):
        path = locate(folder) / f"{name}.parquet"
        heights[name] = io.decode_height(_bytes(path, origin), path)
    return event_table(heights)


def scan_event(folder: Path | str, event: str) -> pl.LazyFrame:
    """Scan the table of an event: EVENT_HEAD and its own fields, a row per event in trace order.

    InputError: the trace lacks the event (the message names those that it has), its table is
    damaged or was changed, or the folder has no trace.toml. An error in the rows is raised by
    ``collect``.

    Examples
    --------
    >>> from swapsim import traces
    >>> added = traces.scan_event("swap-w-seq", "swp_add")
    >>> added.select("pid").unique().collect().height
    8
    """
    path, data = _table(folder, event)

    def rows(
        columns: list[str] | None, where: pl.Expr | None, most: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        frame = io.decode(data, path, columns)
        frame = frame if most is None else frame.head(most)
        yield frame if where is None else frame.filter(where)

    return register_io_source(rows, schema=io.decode_schema(data, path))


def read_event(
    folder: Path | str, event: str, schema: pl.Schema, may_be_null: Collection[str] = ()
) -> pl.DataFrame:
    """Read the table of an event in trace order; it must have exactly this schema.

    Only the columns of `may_be_null` may have nulls, and seq increases from each row to the next;
    an InputError names file, row and field.
    """
    path, data = _table(folder, event)
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


def sign(folder: Path | str) -> None:
    """Write the sha256 of each table to trace.toml, after a table was changed on purpose."""
    provenance(folder)
    path = locate(folder) / PROVENANCE
    tables = [
        table
        for table in _TOML_TABLE.split(io.read_text(path))
        if not table.startswith(f"[{FILES}]")
    ]
    after = [n for n, table in enumerate(tables, 1) if table.startswith("[events]")]
    at = after[0] if after else len(tables)
    before, behind = "".join(tables[:at]).rstrip("\n"), "".join(tables[at:])
    parts = [f"{before}\n" if before else "", toml_table(FILES, digests(folder)), behind]
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def digests(folder: Path | str) -> dict[str, str]:
    """Return the sha256 of each table of a trace folder by the name of its file."""
    paths = [locate(folder) / f"{event}.parquet" for event in event_names(folder)]
    with ThreadPoolExecutor() as pool:
        return {
            path.name: digest
            for path, digest in zip(paths, pool.map(io.sha256_of, paths), strict=True)
        }


def event_table(rows: Mapping[str, int]) -> pl.DataFrame:
    """Return a table with schema TRACE_EVENTS."""
    return pl.DataFrame(sorted(rows.items()), schema=TRACE_EVENTS.schema, orient="row")


def event_names(folder: Path | str) -> tuple[str, ...]:
    """Return the events of a trace folder, in order of name."""
    try:
        return tuple(sorted(path.stem for path in locate(folder).glob("*.parquet")))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}): check its rights", path=folder
        ) from None


def _table(folder: Path | str, event: str) -> tuple[Path, bytes]:
    """Return an event's file and its bytes, compared with their sha256."""
    origin = provenance(folder)
    present = event_names(folder)
    if event not in present:
        raise InputError(
            f"the trace has no event {event}; it has: {', '.join(present) or 'none'}", path=folder
        )
    path = locate(folder) / f"{event}.parquet"
    return path, _bytes(path, origin)


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
