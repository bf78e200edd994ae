# SPDX-License-Identifier: GPL-2.0-or-later
"""The writer of a trace folder's tables: in bounded memory, the same bytes each time."""

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

import polars as pl
from polars.io.plugins import register_io_source

ROW_GROUP: Final = 1 << 18
"""Rows of a Parquet row group, for all sizes of batches."""

ZSTD_LEVEL: Final = 1
"""A higher level makes traces slower to write, but no smaller."""

_MORSEL_ROWS: Final = 1 << 16
"""Rows passed to polars at a time; it buffers as many pieces as it has threads."""

_WRITERS: Final = 2
"""Tables written at a time, after all text is read."""

_HELD_BYTES: Final = 64 << 20
"""Size of the rows in memory before they go to temporary files."""


class TableWriter:
    """Collects the rows of many events and writes a Parquet table for each to a folder.

    Rows stay in memory up to a limit; then another thread writes them to compressed temporary files
    in the folder, until `finish` streams each event's files to its table, named by `table_names`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts = folder / ".parts"
        self._held: dict[str, list[pl.DataFrame]] = {}
        self._held_bytes = 0
        self._written: dict[str, list[Path]] = {}
        self._writing: Future[None] | None = None
        self._number: dict[str, int] = {}
        self._rows: dict[str, int] = {}
        self._columns: dict[str, dict[str, pl.DataType]] = {}
        self._pool = ThreadPoolExecutor(_WRITERS, thread_name_prefix="write")

    def __enter__(self) -> Self:
        """Return itself: leaving waits for its threads."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the threads; the folder's owner removes what is left."""
        self._pool.shutdown(cancel_futures=True)

    def take(self, event: str, rows: pl.DataFrame) -> None:
        """Append rows to those of an event."""
        self._held.setdefault(event, []).append(rows)
        self._number.setdefault(event, len(self._number))
        self._rows[event] = self._rows.get(event, 0) + rows.height
        columns = self._columns.setdefault(event, {})
        columns |= {name: kind for name, kind in rows.schema.items() if name not in columns}
        self._held_bytes += int(rows.estimated_size())
        if self._held_bytes >= _HELD_BYTES:
            self._wait()
            self._writing = self._pool.submit(self._write_part, self._held)
            self._held, self._held_bytes = {}, 0

    def finish(self) -> dict[str, int]:
        """Write the tables; return the number of rows of each, in order of name."""
        self._wait()
        names = table_names(self._rows)
        for table in [self._pool.submit(self._write, *name) for name in names.items()]:
            table.result()
        shutil.rmtree(self._parts, ignore_errors=True)
        return {names[event]: self._rows[event] for event in sorted(names, key=names.__getitem__)}

    @property
    def renamed(self) -> dict[str, str]:
        """Table -> event, for those whose names differ."""
        names = table_names(self._rows)
        return {name: event for event, name in names.items() if name != event}

    def _wait(self) -> None:
        """Wait for the temporary file that is being written, which bounds the memory."""
        if self._writing is not None:
            self._writing.result()

    def _write_part(self, held: dict[str, list[pl.DataFrame]]) -> None:
        self._parts.mkdir(exist_ok=True)
        with _polars_as_os_errors():
            for event, frames in held.items():
                written = self._written.setdefault(event, [])
                path = self._parts / f"{self._number[event]}.{len(written)}.arrow"
                pl.concat(frames, how="diagonal").write_ipc(path, compression="lz4")
                written.append(path)
                frames.clear()

    def _write(self, event: str, name: str) -> None:
        # A scan of the files would read ahead by the number of threads; one piece after the other
        # bounds the memory on a machine with many.
        columns = sorted(self._columns[event].items(), key=lambda column: column[0] == "text")
        schema = pl.Schema(columns)
        with _polars_as_os_errors():
            register_io_source(lambda *_: self._pieces(event, schema), schema=schema).sink_parquet(
                self._folder / f"{name}.parquet",
                compression="zstd",
                compression_level=ZSTD_LEVEL,
                row_group_size=ROW_GROUP,
            )

    def _pieces(self, event: str, schema: pl.Schema) -> Iterator[pl.DataFrame]:
        """Yield an event's rows in order; a column that a file lacks is null there."""
        for path in self._written.get(event, []):
            yield from _fitted(pl.read_ipc(path), schema).iter_slices(_MORSEL_ROWS)
            path.unlink()
        for frame in self._held.pop(event, []):
            yield from _fitted(frame, schema).iter_slices(_MORSEL_ROWS)


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


def _fitted(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
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
