# SPDX-License-Identifier: GPL-2.0-or-later
"""A Parquet file as a declared table: what does not fit is named by file, row and field."""

from collections.abc import Container
from pathlib import Path

import polars as pl

from swapsim.errors import InputError
from swapsim.frames.table import Table
from swapsim.io import decode, read_bytes, validate


def read_table(
    path: Path, table: Table, *, sha256: str | None = None, may_be_null: Container[str] = ()
) -> pl.DataFrame:
    """Read a Parquet file that must be exactly this table.

    Parameters
    ----------
    path : Path
    table : Table
    sha256 : str, optional
        The expected digest of the file in hexadecimal.
    may_be_null : container of str
        Columns in which a value may be missing.

    Returns
    -------
    polars.DataFrame
        Rows in the order of the file.

    Raises
    ------
    InputError
        The file, and where there is one the row and field, that does not fit.
    """
    data = read_bytes(path, sha256)
    if sha256 is None:
        validate(data, path)
    frame = decode(data, path)
    try:
        table.check(frame)
        require_values(frame, [name for name in table.names() if name not in may_be_null])
    except InputError as error:
        raise error.of(path) from None
    return frame


def require_values(frame: pl.DataFrame, columns: list[str]) -> None:
    """Refuse a table in which a value of these columns is missing.

    Raises
    ------
    InputError
        The first row without a value, by its seq where it has one, and the field.
    """
    for column in columns:
        if not frame[column].null_count():
            continue
        row = frame[column].is_null().arg_max() or 0
        seq = frame["seq"][row] if "seq" in frame.columns else None
        where = f"row {row}" if seq is None else f"row with seq {seq}"
        raise InputError(f"the {where} has no value: make the table again", field=column)
