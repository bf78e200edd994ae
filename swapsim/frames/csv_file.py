# SPDX-License-Identifier: GPL-2.0-or-later
"""A CSV file as a table of a schema: what does not fit is named by file, line and field."""

import csv
import io
import math
from collections.abc import Container
from pathlib import Path

import polars as pl

from swapsim.errors import InputError
from swapsim.frames.table import Table
from swapsim.io import careful, or_none, read_text


def finite(text: str) -> float | None:
    """Return the number that a text is, None if it is none or not finite."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@careful("cannot be read as a table", "mend it")
def read_csv(path: Path, table: Table, may_be_empty: Container[str] = ()) -> pl.DataFrame:
    """Read a CSV file whose every field must fit; polars alone cannot name a bad line.

    Parameters
    ----------
    path : Path
    table : Table
        Columns in the order of the file.
    may_be_empty : container of str
        Columns whose fields may be empty: null then.

    Returns
    -------
    polars.DataFrame
        One row per line, in the order of the file.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit.
    """
    schema = table.schema
    lines = io.StringIO(read_text(path), newline="")
    try:
        rows = list(csv.reader(lines, strict=True))
    except csv.Error as error:
        raise InputError(f"cannot be read as CSV ({error}): mend it", path=path) from None
    if not rows or rows[0] != list(schema):
        raise InputError(f"its columns must be: {', '.join(schema)}", path=path, line=1)
    columns: dict[str, list[object]] = {column: [] for column in schema}
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(schema):
            raise InputError(
                f"{len(row)} fields where {len(schema)} are needed", path=path, line=line
            )
        if any("\n" in text for text in row):
            raise InputError("a row must stay on one line", path=path, line=line)
        for (column, dtype), text in zip(schema.items(), row, strict=True):
            value = _field(text, dtype)
            if value is None and (text or column not in may_be_empty):
                raise InputError(f"{text!r} is no {dtype}", path=path, line=line, field=column)
            columns[column].append(value)
    return pl.DataFrame(columns, schema=schema)


@or_none(ValueError)
def _field(text: str, dtype: pl.DataType) -> object:
    """Return one field as its column's type, None if it does not fit."""
    if dtype == pl.Float64:
        return finite(text)
    if dtype == pl.UInt8:
        return int(text) if text.isdigit() and int(text) < 256 else None
    if dtype == pl.Int64:
        return int(text) if text.removeprefix("-").isdigit() else None
    if isinstance(dtype, pl.Enum):
        return text if text in dtype.categories else None
    return text or None
