# SPDX-License-Identifier: GPL-2.0-or-later
"""A table or a chart to the file that was asked for: by its suffix, whole or not at all."""

import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from swapsim.errors import InputError
from swapsim.io import atomic_file

if TYPE_CHECKING:  # altair takes a second to import, and most commands draw nothing
    import altair as alt


def _csv(frame: pl.DataFrame) -> bytes:
    lists = [name for name, dtype in frame.schema.items() if dtype == pl.List]
    joined = (pl.col(name).cast(pl.List(pl.String)).list.join(", ") for name in lists)
    return frame.with_columns(joined).write_csv().encode()


def _parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def _json(frame: pl.DataFrame) -> bytes:
    return f"{frame.write_json()}\n".encode()


TABLES: Final[Mapping[str, Callable[[pl.DataFrame], bytes]]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".json": _json,
}
"""A table by its file's suffix."""

CHARTS: Final = (".html", ".svg", ".png")
"""What a chart may be written as."""


def checked(path: Path, suffixes: Sequence[str]) -> Path:
    """Return a path that can be written to, before anything is computed for it."""
    if path.is_dir():
        raise InputError("is a folder: name a file", path=path)
    if path.exists() and not path.is_file():
        raise InputError("is no file: name one, or what is not there yet", path=path)
    if path.suffix not in suffixes:
        raise InputError(
            f"its name does not end in one of {', '.join(suffixes)}: choose one that does",
            path=path,
        )
    if not path.parent.is_dir():
        raise InputError("its folder does not exist: make it first", path=path)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError("its folder cannot be written to: choose another", path=path)
    return path


def refuse_own_input(output: Path, given: Iterable[object]) -> None:
    """Keep a command from writing over what it reads."""
    read = [each for each in given if isinstance(each, Path) and each.exists()]
    if output.exists() and any(
        each.samefile(output) or each.samefile(output.parent) for each in read
    ):
        raise InputError("is what the command reads: write to another file", path=output)


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a table as its file's suffix says; TABLES has those."""
    _write(TABLES[path.suffix](frame), path)


def write_chart(chart: "alt.TopLevelMixin", path: Path) -> None:
    """Write a chart as its file's suffix says; CHARTS has those."""
    from swapsim import charts

    _write(charts.rendered(chart, path.suffix), path)


def _write(data: bytes, path: Path) -> None:
    with atomic_file(path) as file:
        file.write(data)
