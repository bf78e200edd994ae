# SPDX-License-Identifier: GPL-2.0-or-later
"""Writing the tables of a trace folder: in bounded memory, the same bytes each time."""

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
"""Rows of a Parquet row group, whatever the batches were."""

ZSTD_LEVEL: Final = 1
"""Traces grow no smaller by a higher level, only slower to write."""

_MORSEL_ROWS: Final = 1 << 16
"""Rows handed to polars at a time: with many threads it holds many of them."""

_WRITERS: Final = 2
"""Tables written at a time, when all text is read."""

_HELD_BYTES: Final = 64 << 20
"""Rows kept in memory before they are laid down beside the tables."""


class TableWriter:
    """Gathers the rows of many events and writes one Parquet table for each.

    Rows stay in memory until they are many; then another thread lays them down in lightly packed
    parts inside the folder, until `finish` streams each event's parts into its table.

    Parameters
    ----------
    folder : Path
        Where the tables go: ``EVENT.parquet``, by the names of `kept_names`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts = folder / ".parts"
        self._held: dict[str, list[pl.DataFrame]] = {}
        self._held_bytes = 0
        self._laid: dict[str, list[Path]] = {}
        self._laying: Future[None] | None = None
        self._number: dict[str, int] = {}
        self._rows: dict[str, int] = {}
        self._columns: dict[str, dict[str, pl.DataType]] = {}
        self._pool = ThreadPoolExecutor(_WRITERS, thread_name_prefix="write")

    def __enter__(self) -> Self:
        """Return itself: leaving waits for its threads."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for what is being written; the folder's owner clears up."""
        self._pool.shutdown(cancel_futures=True)

    def take(self, event: str, rows: pl.DataFrame) -> None:
        """Add rows behind those that an event has."""
        self._held.setdefault(event, []).append(rows)
        self._number.setdefault(event, len(self._number))
        self._rows[event] = self._rows.get(event, 0) + rows.height
        columns = self._columns.setdefault(event, {})
        columns |= {name: kind for name, kind in rows.schema.items() if name not in columns}
        self._held_bytes += int(rows.estimated_size())
        if self._held_bytes >= _HELD_BYTES:
            self._wait()
            self._laying = self._pool.submit(self._lay_down, self._held)
            self._held, self._held_bytes = {}, 0

    def finish(self) -> dict[str, int]:
        """Write the tables; return the rows of each, in order of name."""
        self._wait()
        names = kept_names(self._rows)
        for written in [self._pool.submit(self._write, *name) for name in names.items()]:
            written.result()
        shutil.rmtree(self._parts, ignore_errors=True)
        return {names[event]: self._rows[event] for event in sorted(names, key=names.__getitem__)}

    @property
    def renamed(self) -> dict[str, str]:
        """The tables that have another name than their event: that, and the event's."""
        names = kept_names(self._rows)
        return {name: event for event, name in names.items() if name != event}

    def _wait(self) -> None:
        """Let one batch be laid down at a time: more would be more memory."""
        if self._laying is not None:
            self._laying.result()

    def _lay_down(self, held: dict[str, list[pl.DataFrame]]) -> None:
        self._parts.mkdir(exist_ok=True)
        with _polars_as_os_errors():
            for event, frames in held.items():
                laid = self._laid.setdefault(event, [])
                path = self._parts / f"{self._number[event]}.{len(laid)}.arrow"
                pl.concat(frames, how="diagonal").write_ipc(path, compression="lz4")
                laid.append(path)
                frames.clear()

    def _write(self, event: str, name: str) -> None:
        # A scan of the parts reads ahead by the number of threads; one piece after the other
        # keeps the memory in bounds on a machine with many.
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
        """Yield an event's rows in order; a column that a part lacks is null there."""
        for path in self._laid.get(event, []):
            yield from _fitted(pl.read_ipc(path), schema).iter_slices(_MORSEL_ROWS)
            path.unlink()
        for frame in self._held.pop(event, []):
            yield from _fitted(frame, schema).iter_slices(_MORSEL_ROWS)


def kept_names(events: Iterable[str]) -> dict[str, str]:
    """Return under which name each event's table is kept, in order of the events' names.

    It is the event's own, but where another comes before it that differs in case alone: there are
    file systems on which one of the two tables would be lost. Then a number is added, behind a sign
    that no event's name has: of CON, Con and con the latter two are kept as Con~2 and con~3.
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
    """Polars tells some failures of the disk by its own errors, or without their number."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if not number:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


def toml_table(title: str, table: Mapping[str, Any]) -> str:
    """Return a TOML table of strings, numbers, booleans, and lists and tables of such."""
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
    # JSON's strings, numbers and booleans are TOML's too, but for this one control byte.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
