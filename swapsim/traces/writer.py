# SPDX-License-Identifier: GPL-2.0-or-later
"""The writer of a trace folder's tables: in bounded memory, the same bytes each time."""

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from queue import Full, Queue
from typing import Any, Final, NamedTuple, Self

import polars as pl
from polars.io.plugins import register_io_source

ROW_GROUP: Final = 1 << 18  # rows of a Parquet row group, for all sizes of pieces
ZSTD_LEVEL: Final = 1  # a higher level makes traces slower to write, but no smaller

_MORSEL_ROWS: Final = 1 << 16
"""Rows passed to polars at a time; it buffers as many pieces as it has threads."""

_WAITING: Final = 2  # pieces that wait for the thread of a stream

_PATIENCE_S: Final = 0.2
"""Time until a caller whose piece is not taken looks whether the thread has failed."""

_STREAMED_ROWS: Final = 1 << 16
"""Rows of an event after which its table is written while further rows arrive."""

_STREAMS: Final = 16  # tables that are written so; each needs the memory of a row group

_HELD_BYTES: Final = 64 << 20
"""Size of the other events' rows in memory before they go to temporary files."""


class TableFile(NamedTuple):
    """A file, its columns, and pieces with some of them; the others are null in their rows."""

    path: Path
    schema: pl.Schema
    pieces: Iterable[pl.DataFrame]


def write_tables(files: Iterable[TableFile]) -> None:
    """Write tables together, so that polars divides all of their columns among its threads."""
    with _polars_as_os_errors():
        pl.collect_all([_sink(file) for file in files])


def _sink(file: TableFile) -> pl.LazyFrame:
    def rows(*_: object) -> Iterator[pl.DataFrame]:
        for piece in file.pieces:
            yield from _fitted(piece, file.schema).iter_slices(_MORSEL_ROWS)

    return register_io_source(rows, schema=file.schema).sink_parquet(
        file.path,
        compression="zstd",
        compression_level=ZSTD_LEVEL,
        row_group_size=ROW_GROUP,
        lazy=True,
    )


def read_table(path: Path) -> Iterator[pl.DataFrame]:
    """Yield the pieces of a written file, each of them in memory alone."""
    table = pl.scan_parquet(path)
    with _polars_as_os_errors():
        for start in range(0, table.select(pl.len()).collect().item(), ROW_GROUP):
            yield table.slice(start, ROW_GROUP).collect()


class TableStream:
    """A file that a thread writes while its rows arrive, in the memory of a row group."""

    def __init__(self, path: Path, schema: pl.Schema) -> None:
        self.path = path
        self.schema = schema
        self._waiting: Queue[pl.DataFrame | None] = Queue(_WAITING)
        self._ends = False
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="write")
        self._writing = self._pool.submit(write_tables, [TableFile(path, schema, self._pieces())])

    def put(self, rows: pl.DataFrame | None) -> None:
        """Append rows, or None for their end; raise what made the thread fail."""
        while not self._writing.done():
            with suppress(Full):
                self._waiting.put(rows, timeout=_PATIENCE_S)
                return
        self._writing.result()

    def close(self) -> None:
        """Wait for the end of the file, after the end of its rows was put."""
        self._writing.result()
        self._pool.shutdown()

    def stop(self) -> None:
        """End the thread, whatever it has written: the file is not used."""
        self._ends = True
        with suppress(Full):
            self._waiting.put_nowait(None)
        self._pool.shutdown()

    def _pieces(self) -> Iterator[pl.DataFrame]:
        while (rows := self._waiting.get()) is not None and not self._ends:
            yield rows


def _fitted(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    if frame.schema == schema:
        return frame
    return frame.select(
        pl.col(name) if name in frame.columns else pl.lit(None, dtype=kind).alias(name)
        for name, kind in schema.items()
    )


@contextmanager
def _polars_as_os_errors() -> Iterator[None]:
    """Translate errors of polars: it reports some failures of the disk without their number."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if not number:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


class TableWriter:
    """Collects the rows of many events and writes a Parquet table for each to a folder.

    The frequent events' tables are written while their rows arrive. The rows of all others stay in
    memory up to a limit; then another thread writes them to temporary files. An event has several
    files, too, if a column of it appears late. `finish` makes one table of each event's files,
    named by `table_names`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts = folder / ".parts"
        self._held: dict[str, list[pl.DataFrame]] = {}
        self._held_bytes = 0
        self._streams: dict[str, TableStream] = {}
        self._written: dict[str, list[Path]] = {}
        self._writing: Future[None] | None = None
        self._rows: dict[str, int] = {}
        self._columns: dict[str, dict[str, pl.DataType]] = {}
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="write")

    def __enter__(self) -> Self:
        """Return itself: leaving waits for its threads."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the threads; the folder's owner removes what is left."""
        for stream in self._streams.values():
            stream.stop()
        self._pool.shutdown(cancel_futures=True)

    def take(self, event: str, rows: pl.DataFrame) -> None:
        """Append rows to those of an event."""
        self._rows[event] = self._rows.get(event, 0) + rows.height
        columns = self._columns.setdefault(event, {})
        new = {name: kind for name, kind in rows.schema.items() if name not in columns}
        columns |= new
        if new and event in self._streams:
            stream = self._streams.pop(event)
            stream.put(None)
            stream.close()
        if event in self._streams:
            self._streams[event].put(rows)
        else:
            self._hold(event, rows)

    def finish(self) -> dict[str, int]:
        """Write the tables; return the number of rows of each, in order of name."""
        for stream in self._streams.values():
            stream.put(None)
        self._wait()
        names = table_names(self._rows)
        files = {event: self._file(event, name) for event, name in names.items()}
        self._write(files[event] for event in self._held if event not in self._written)
        for event in self._written:
            self._unite(event, files[event])
        shutil.rmtree(self._parts, ignore_errors=True)
        return {names[event]: self._rows[event] for event in sorted(names, key=names.__getitem__)}

    @property
    def renamed(self) -> dict[str, str]:
        """Table -> event, for those whose names differ."""
        names = table_names(self._rows)
        return {name: event for event, name in names.items() if name != event}

    def _hold(self, event: str, rows: pl.DataFrame) -> None:
        held = self._held.setdefault(event, [])
        held.append(rows)
        self._held_bytes += int(rows.estimated_size())
        if len(self._streams) < _STREAMS and sum(map(len, held)) >= _STREAMED_ROWS:
            del self._held[event]
            self._held_bytes -= sum(int(frame.estimated_size()) for frame in held)
            stream = TableStream(self._part(event), self._schema(event))
            self._streams[event] = stream
            for frame in held:
                stream.put(frame)
        elif self._held_bytes >= _HELD_BYTES:
            self._wait()
            parts = [
                TableFile(self._part(event), self._schema(event), held)
                for event, held in self._held.items()
            ]
            self._writing = self._pool.submit(write_tables, parts)
            self._held, self._held_bytes = {}, 0

    def _wait(self) -> None:
        """Wait for the temporary files that are being written, which bounds the memory."""
        if self._writing is not None:
            self._writing.result()

    def _write(self, files: Iterable[TableFile]) -> None:
        """Write tables in the thread, so that an interrupt is noticed."""
        self._pool.submit(write_tables, files).result()

    def _part(self, event: str) -> Path:
        """Return the path of an event's next temporary file."""
        self._parts.mkdir(exist_ok=True)
        written = self._written.setdefault(event, [])
        number = list(self._rows).index(event)
        written.append(self._parts / f"{number}.{len(written)}.parquet")
        return written[-1]

    def _schema(self, event: str) -> pl.Schema:
        columns = sorted(self._columns[event].items(), key=lambda column: column[0] == "text")
        return pl.Schema(columns)

    def _file(self, event: str, name: str) -> TableFile:
        """Return the table of an event's parts and of its rows in memory."""
        parts = map(read_table, self._written.get(event, ()))
        held = self._held.get(event, ())
        path = self._folder / f"{name}.parquet"
        return TableFile(path, self._schema(event), chain(chain.from_iterable(parts), held))

    def _unite(self, event: str, file: TableFile) -> None:
        """Write a table that has parts; rename a part that is all of it."""
        if event in self._streams:
            self._streams[event].close()
        first, *more = self._written[event]
        if more or event in self._held:
            self._write([file])
        else:
            first.rename(file.path)


def table_names(events: Iterable[str]) -> dict[str, str]:
    """Return the name of each event's table, in order of the events' names.

    It is the event's name, except after another one that differs in case only, because a file
    system that folds case would lose one of the two tables. Then a number is added after a
    character that no event's name has: CON, Con and con become CON, Con~2 and con~3.
    """
    alike: Counter[str] = Counter()
    names = {}
    for event in sorted(events):
        alike[event.lower()] += 1
        again = alike[event.lower()]
        names[event] = event if again == 1 else f"{event}~{again}"
    return names


def toml_table(title: str, table: Mapping[str, Any]) -> str:
    """Return a TOML table of strings, numbers and booleans, and of lists and tables of these."""
    lines = [f"[{title}]"]
    for key, value in table.items():
        lines.append(f"{_toml_key(key)} = {_toml_value(value)}")
    return "\n".join(lines) + "\n"


def _toml_key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        items = (f"{_toml_key(str(key))} = {_toml_value(item)}" for key, item in value.items())
        return f"{{ {', '.join(items)} }}" if value else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    # Strings, numbers and booleans are written as in JSON, except for this control byte.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
