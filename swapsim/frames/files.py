# SPDX-License-Identifier: GPL-2.0-or-later
"""CSV and Parquet files as declared tables; an error names file, row and field."""

import csv
import io
import math
from collections.abc import Container
from pathlib import Path

import polars as pl

from swapsim.errors import InputError
from swapsim.frames.table import Table
from swapsim.io import decode, read_bytes, read_text, translate_errors, validate


def finite(text: str) -> float | None:
    """Return the value of a text; None if it is not a finite number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_csv(path: Path, table: Table, may_be_empty: Container[str] = ()) -> pl.DataFrame:
    """Read a CSV file whose every field must fit; polars alone cannot name a bad line."""
    text = read_text(path)
    with translate_errors(path, "cannot be read as a table", "fix it", quote=True):
        return _frame(_rows(text, path), path, table, may_be_empty)


def read_table(
    path: Path, table: Table, *, sha256: str | None = None, may_be_null: Container[str] = ()
) -> pl.DataFrame:
    """Read a Parquet file that must be exactly this table."""
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
    """Require that these columns have no nulls."""
    for column in columns:
        if not frame[column].null_count():
            continue
        row = frame[column].is_null().arg_max() or 0
        seq = frame["seq"][row] if "seq" in frame.columns else None
        where = f"row {row}" if seq is None else f"row with seq {seq}"
        raise InputError(f"the {where} has no value: make the table again", field=column)


def _rows(text: str, path: Path) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise InputError(f"cannot be read as CSV ({error}): fix it", path=path) from None


def _frame(
    rows: list[list[str]], path: Path, table: Table, may_be_empty: Container[str]
) -> pl.DataFrame:
    if not rows or rows[0] != table.names():
        raise InputError(f"its columns must be: {', '.join(table.names())}", path=path, line=1)
    columns: dict[str, list[object]] = {column: [] for column in table.names()}
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(columns):
            raise InputError(
                f"{len(row)} fields where {len(columns)} are needed", path=path, line=line
            )
        if any("\n" in text for text in row):
            raise InputError("a row must stay on one line", path=path, line=line)
        for (column, dtype), text in zip(table.schema.items(), row, strict=True):
            value = _field(text, dtype)
            if value is None and (text or column not in may_be_empty):
                raise InputError(f"{text!r} is no {dtype}", path=path, line=line, field=column)
            columns[column].append(value)
    return pl.DataFrame(columns, schema=table.schema)


def _field(text: str, dtype: pl.DataType) -> object:
    """Return one field as a value of its column's type; None if it does not fit."""
    if dtype == pl.Float64:
        return finite(text)
    if dtype == pl.UInt8:
        number = _integer(text)
        return number if number is not None and 0 <= number < 256 else None
    if dtype == pl.Int64:
        return _integer(text)
    if isinstance(dtype, pl.Enum):
        return text if text in dtype.categories else None
    return text or None


def _integer(text: str) -> int | None:
    """Return the value of a text of digits; None for any other text."""
    try:
        return int(text) if text.removeprefix("-").isdigit() else None
    except ValueError:
        return None
