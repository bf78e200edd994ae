# SPDX-License-Identifier: GPL-2.0-or-later
"""CSV and Parquet files as declared tables; an error names file, row and field."""

import csv
import io
import math
import re
from collections.abc import Callable, Container, Iterable
from functools import wraps
from pathlib import Path
from typing import Concatenate, Final, ParamSpec

import polars as pl

from swapsim.checks import suggestion
from swapsim.errors import InputError, errors_of
from swapsim.frames.table import Table
from swapsim.io import decode, read_bytes, read_text, translate_errors, validate

Given = ParamSpec("Given")

_QUOTED: Final = 80  # characters of a file's own words in a message


def finite(text: str) -> float | None:
    """Return the value of a text; None if it is not a finite number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def once(
    read: Callable[Concatenate[Path, Given], pl.DataFrame],
) -> Callable[Concatenate[Path, Given], pl.DataFrame]:
    """Read a file again only after its time or its size has changed; arguments can be hashed."""
    known: dict[tuple[object, ...], tuple[tuple[int, int], pl.DataFrame]] = {}

    @wraps(read)
    def call(path: Path, /, *args: Given.args, **kwargs: Given.kwargs) -> pl.DataFrame:
        try:
            about = path.stat()
        except OSError:
            return read(path, *args, **kwargs)
        key = (path.absolute(), *args, *kwargs.items())
        state = about.st_mtime_ns, about.st_size
        if key not in known or known[key][0] != state:
            known[key] = state, read(path, *args, **kwargs)
        return known[key][1].clone()

    return call


def read_csv(path: Path, table: Table, may_be_empty: Iterable[str] = ()) -> pl.DataFrame:
    """Read a CSV file whose every field must fit; an error names the first one that does not."""
    return _csv(path, table, frozenset(may_be_empty))


@once
def _csv(path: Path, table: Table, may_be_empty: frozenset[str]) -> pl.DataFrame:
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
    with errors_of(path):
        table.check(frame)
        require_values(frame, [name for name in table.names() if name not in may_be_null])
    return frame


def require_values(
    frame: pl.DataFrame, columns: list[str], remedy: str = "make the table again"
) -> None:
    """Require that these columns have no nulls; {event} in a remedy is the row's, from 1."""
    for column in columns:
        if not frame[column].null_count():
            continue
        row = frame[column].is_null().arg_max() or 0
        seq = frame["seq"][row] if "seq" in frame.columns else None
        where = f"row {row}" if seq is None else f"row with seq {seq}"
        raise InputError(
            f"the {where} has no value: {remedy.format(event=(row if seq is None else seq) + 1)}",
            field=column,
        )


def _rows(text: str, path: Path) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise InputError(f"cannot be read as CSV ({error}): fix it", path=path) from None


def _frame(
    rows: list[list[str]], path: Path, table: Table, may_be_empty: Container[str]
) -> pl.DataFrame:
    names = table.names()
    if not rows or rows[0] != names:
        raise InputError(
            other_columns(rows[0] if rows and rows[0] else [""], names), path=path, line=1
        )
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise InputError(
                f"{len(row)} fields where {len(names)} are needed: one for each of "
                f"{', '.join(names)}; put a field with a comma in quotes",
                path=path,
                line=line,
            )
        if "\n" in "".join(row):
            raise InputError(
                "a row must stay on one line: remove the line break", path=path, line=line
            )
    texts = pl.DataFrame(rows[1:], schema=dict.fromkeys(names, pl.String), orient="row")
    values = {name: _values(name, dtype) for name, dtype in table.schema.items()}
    given = {name: (pl.col(name) != "") | (name not in may_be_empty) for name in names}
    if cell := first(texts.select(values[name].is_null() & given[name] for name in names)):
        at, field = cell
        raise InputError(
            _misfit(texts[field][at], table.schema[field]), path=path, line=at + 2, field=field
        )
    return texts.select(values.values())


def other_columns(found: list[str], names: list[str]) -> str:
    """Return what is wrong with the first line of a file that has other columns."""
    must = f"its columns must be: {', '.join(names)}"
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if separator in found[0]:
            return f"{must}; they are separated by {word} here: write commas"
    lacks = ", ".join(name for name in names if name not in found)
    more = [repr(name) for name in found if name not in names]
    if len(more) == len(found) and len(", ".join(more)) > _QUOTED:
        return f"{must}; its first line names none of them"
    advice = (f"add {lacks}" * bool(lacks), f"remove {', '.join(more)}" * bool(more))
    return f"{must}; {' and '.join(filter(None, advice)) or 'write each once, in this order'}"


def _misfit(text: str, dtype: pl.DataType) -> str:
    """Return why a text is no value of a column, and what to write."""
    if isinstance(dtype, pl.Enum):
        known = dtype.categories.to_list()
        return f"{text[:_QUOTED]!r}: {suggestion(text, known)}choose one of {', '.join(known)}"
    if not dtype.is_numeric():
        return f"{text[:_QUOTED]!r} is no {dtype}"
    if re.fullmatch(r"\s*[+-]?\d+(\.\d*)?(e[+-]?\d+)?\s*", text, re.I) and dtype.is_float():
        return f"{text[:_QUOTED]!r} is too large: write a number below 1.8e308"
    plain = re.sub(r"[\s,_']", "", text)
    fits = plain != text and re.fullmatch(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", plain, re.I)
    kind = "whole number" if dtype.is_integer() else "number"
    return f"{text[:_QUOTED]!r} is no {kind}: " + (f"write {plain}" if fits else "write one")


def first(wrong: pl.DataFrame) -> tuple[int, str] | None:
    """Return row and column of the first true value, row by row; None if all are false."""
    rows = wrong.select(pl.any_horizontal(pl.all())).to_series().arg_true()
    if rows.is_empty():
        return None
    return rows[0], wrong.columns[wrong.row(rows[0]).index(True)]


def _values(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return the fields of a column as values of its type; null where one does not fit."""
    text = pl.col(name)
    if dtype == pl.Float64:
        number = text.str.strip_chars().cast(dtype, strict=False)
        return pl.when(number.is_finite()).then(number).alias(name)
    return pl.when(text != "").then(text).cast(dtype, strict=False).alias(name)
