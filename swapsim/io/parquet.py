# SPDX-License-Identifier: GPL-2.0-or-later
"""Parquet, decoded from memory.

Polars checks little of a damaged file before it decodes. It may panic, in a thread of its own: the
panic comes to us as an error that is no Exception, and writes its own lines to stderr besides. It
may also end the process. So bytes that nothing vouches for go to `taste` first.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.io.door import door

_WRONG: Final = "is not a whole Parquet table"
_ADVICE: Final = "fetch it or make it again"


def decode(data: bytes, path: Path | str, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the table that a Parquet file's bytes hold.

    Parameters
    ----------
    data : bytes
    path : Path or str
        The file that they come from.
    columns : sequence of str, optional
        Those that are wanted, all of which it has; default: all.

    Raises
    ------
    InputError
        They are no whole table.
    """
    with _parquet(path):
        return pl.read_parquet(io.BytesIO(data), columns=None if columns is None else [*columns])


def decode_schema(data: bytes, path: Path | str) -> pl.Schema:
    """Return the columns of a table.

    Raises
    ------
    InputError
        As for `decode`.
    """
    with _parquet(path):
        return pl.Schema(pl.read_parquet_schema(io.BytesIO(data)))


def decode_height(data: bytes, path: Path | str) -> int:
    """Return the rows of a table, as its footer says.

    Raises
    ------
    InputError
        As for `decode`.
    """
    with _parquet(path):
        return int(pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item())


def decode_metadata(data: bytes, path: Path | str) -> dict[str, str]:
    """Return what a table's writer noted in it.

    Raises
    ------
    InputError
        As for `decode`.
    """
    with _parquet(path):
        return pl.read_parquet_metadata(io.BytesIO(data))


def damaged(path: Path | str) -> InputError:
    """Return what is wrong with a file that is no whole table."""
    return InputError(f"{_WRONG}: {_ADVICE}", path=path)


@contextmanager
def _parquet(path: Path | str) -> Iterator[None]:
    with door(path, _WRONG, _ADVICE):
        yield
