# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables: declared columns, the check of a frame, and files that must be such a table.

A package declares what crosses a border, each column once, with a meaning if its name lacks one::

    CALLS: Final = Table(
        "CALLS",
        "One row per call of the allocator.",
        columns.SEQ,
        Column("wait_ns", pl.UInt64, "time that the call waited for the lock"),
        {"policy": pl.String, "seed": pl.UInt64},
    )
"""

import csv
import io
import math
import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import chain, starmap
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec

import polars as pl

from swapsim.errors import InputError, errors_of, suggestion
from swapsim.io import decode, read_bytes, read_text, translate_errors

Given = ParamSpec("Given")

_QUOTED: Final = 80  # characters of a file's own words in a message


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, with its meaning in a few words if its name lacks one."""

    name: str
    dtype: pl.DataType | type[pl.DataType]
    meaning: str = ""


@dataclass(frozen=True)
class Vocabulary:
    """A closed set of words in their order, and what they stand for."""

    name: str
    meaning: str
    words: tuple[str, ...]

    @cached_property
    def dtype(self) -> pl.Enum:
        """Return the type of a column of these words."""
        return pl.Enum(self.words)


class Table:
    """The columns of a frame that crosses a border; where their names say all, by their types."""

    def __init__(self, name: str, row: str, *columns: Column | Mapping[str, Any]) -> None:
        parts = [
            (each,) if isinstance(each, Column) else starmap(Column, each.items())
            for each in columns
        ]
        self.name: Final = name
        self.row: Final = row
        self.columns: Final[tuple[Column, ...]] = tuple(chain(*parts))
        self.schema: Final = pl.Schema({each.name: each.dtype for each in self.columns})

    def __getitem__(self, name: str) -> Column:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)

    def names(self) -> list[str]:
        """Return the names of the columns in order."""
        return list(self.schema)

    def check(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the frame if it has exactly these columns; see `require`."""
        return require(frame, self.schema, self.name)


def require(frame: pl.DataFrame, schema: pl.Schema, name: str) -> pl.DataFrame:
    """Return the frame if it has exactly this schema. A cast is no check: it turns 1.5 into 1."""
    if not isinstance(frame, pl.DataFrame):
        raise InputError(f"table {name} is a {type(frame).__name__}: give a polars.DataFrame")
    if frame.schema == schema:
        return frame
    for column, dtype in schema.items():
        if column not in frame.columns:
            raise InputError(
                f"table {name} has no such column; it has: {', '.join(frame.columns)}", field=column
            )
        if frame.schema[column] != dtype:
            raise InputError(
                f"table {name} has {frame.schema[column]} where {dtype} is needed", field=column
            )
    extra = [column for column in frame.columns if column not in schema]
    if extra:
        raise InputError(f"table {name} has no column of this name: drop it", field=extra[0])
    raise InputError(f"table {name} has its columns out of order: {', '.join(schema)} is needed")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's unit, meaning and better direction: higher, lower or neither."""

    unit: str
    meaning: str
    better: str = "neither"


class Metrics(dict[str, Metric]):
    """The dictionary of a subject's metrics, and of families of them: ``NAME.*``."""

    def __init__(self, subject: str, metrics: Mapping[str, Metric]) -> None:
        super().__init__(metrics)
        self.subject = subject

    def __missing__(self, name: str) -> Metric:
        """Return the metric's family; an InputError names those that are known."""
        for family, metric in self.items():
            if family.endswith(".*") and name.startswith(family[:-1]):
                return metric
        raise InputError(
            f"{self.subject} has no {name!r}: {suggestion(name, self)}choose one of "
            f"{', '.join(self)}",
            field="metric",
        )


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


def read_table(path: Path, table: Table, *, may_be_null: Container[str] = ()) -> pl.DataFrame:
    """Read a Parquet file that must be exactly this table."""
    frame = decode(read_bytes(path), path)
    with errors_of(path):
        table.check(frame)
        require_values(frame, [name for name in table.names() if name not in may_be_null])
    return frame


def require_values(
    frame: pl.DataFrame, columns: list[str], remedy: str = "make the table again"
) -> None:
    """Require columns without nulls; {event} in a remedy is the row's, from 1."""
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
    if cell := _first(texts.select(values[name].is_null() & given[name] for name in names)):
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


def _first(wrong: pl.DataFrame) -> tuple[int, str] | None:
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


def cases(*cases: tuple[pl.Expr | str, str | pl.Expr]) -> pl.Expr:
    """Return the word of the first true condition; an expression stands for its value."""
    words = (
        pl.when(test).then(pl.lit(word) if isinstance(word, str) else word) for test, word in cases
    )
    return pl.coalesce(*words, pl.lit(None, pl.String))


# Columns that tables of several packages have, each with one meaning.
PATCH: Final = Column("patch", pl.String, "patch, by the name of its folder under patches/")
KERNEL: Final = Column("kernel", pl.String, "kernel: its label in the mail or lab, or its version")
TRACE: Final = Column("trace", pl.String, "trace, by the name of its folder under data/traces")
SEQ: Final = Column("seq", pl.UInt64, "position of the row in the complete trace")
CPU: Final = Column("cpu", pl.UInt16, "number of the CPU on which the row was written")
PID: Final = Column("pid", pl.Int32, "process ID of the task that the row is about")
PAGES: Final = Column("pages", pl.UInt32, "number of pages of 4 KiB")
