# SPDX-License-Identifier: GPL-2.0-or-later
"""The Parquet file of one table, written from pieces: the same bytes for any size of the pieces."""

import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Full, Queue
from typing import Final, NamedTuple

import polars as pl
from polars.io.plugins import register_io_source

ROW_GROUP: Final = 1 << 18  # rows of a Parquet row group, for all sizes of pieces
ZSTD_LEVEL: Final = 1  # a higher level makes traces slower to write, but no smaller

_MORSEL_ROWS: Final = 1 << 16
"""Rows passed to polars at a time; it buffers as many pieces as it has threads."""

_WAITING: Final = 2  # pieces that wait for the thread of a stream

_PATIENCE_S: Final = 0.2
"""Time until a caller whose piece is not taken looks whether the thread has failed."""


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
