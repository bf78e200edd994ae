# SPDX-License-Identifier: GPL-2.0-or-later
"""A table as data: its columns with their types, units and meanings, and the check of a frame.

A package declares its tables in its module ``tables``, each column once::

    SEQ = Column("seq", pl.UInt64, "position of the row in the complete trace")

    CALLS: Final = Table(
        "CALLS",
        "One row per call of the allocator.",
        SEQ,
        Column("wait_ns", pl.UInt64, "time that the call waited for the lock"),
        Column("rate", pl.Float64, "pages that were handed out", "pages/s"),
    )

Each column has a meaning. Each column of decimal numbers has a unit: ``unit``, or the end of the
column's name, such as ``_ns`` or ``_a_page``. ``RATIO`` says that the number has no dimension,
``COUNT`` that it counts something, ``BY_ROW`` that another column of the row decides its unit. A
column of integers without a unit is a count of what its meaning names, or a number that identifies
something. A column without one of these is an error at import.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from swapsim.errors import InputError

_Type = pl.DataType | type[pl.DataType]

RATIO: Final = "1"
"""The unit of a quotient of two equal units."""

BY_ROW: Final = "of its row"
"""The unit of a figure whose row names its quantity in another column."""

COUNT: Final = "count"
"""The unit of a number of things that is not an integer, such as a sum of estimates."""

HEADS: Final = {RATIO: "", BY_ROW: "", COUNT: ""}
"""What is printed above a column in place of a unit that is no unit."""

_UNITS_IN_NAMES: Final = {
    "percent": "%",
    "share": RATIO,
    "ns": "ns",
    "us": "us",
    "ms": "ms",
    "s": "s",
    "mb": "MB",
    "gb": "GB",
}
_LAST_WORD: Final = re.compile(r"_([a-z]+)$")
_PER: Final = re.compile(r"_(?:a|per)_([a-z]+)$")


def unit_in_name(name: str) -> str:
    """Return the unit at the end of a column's name, such as ns, or an empty text."""
    if per := _PER.search(name):
        return f"per {per[1]}"
    last = _LAST_WORD.search(name)
    return _UNITS_IN_NAMES.get(last[1], "") if last else ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its meaning in a few words, and its unit if the name lacks it."""

    name: str
    dtype: _Type
    meaning: str
    unit: str = ""

    def __post_init__(self) -> None:
        """Require a meaning and a unit."""
        if not self.meaning:
            raise ValueError(f"column {self.name}: its meaning is empty: describe a value")
        if self.dtype.is_float() and not (self.unit or unit_in_name(self.name)):
            raise ValueError(f"column {self.name}: has no unit: give one, RATIO, COUNT or BY_ROW")

    @property
    def type(self) -> str:
        """Return the type in words; that of a closed vocabulary has its words."""
        if isinstance(self.dtype, pl.Enum):
            return f"one of {', '.join(self.dtype.categories)}"
        return str(self.dtype)

    @property
    def head(self) -> str:
        """Return the unit that is printed above the column, or an empty text."""
        return HEADS.get(self.unit, self.unit)


@dataclass(frozen=True)
class Vocabulary:
    """A closed set of words in their order, and what they stand for."""

    name: str
    meaning: str
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        """Require a meaning."""
        if not self.meaning:
            raise ValueError(f"vocabulary {self.name}: its meaning is empty: describe the words")

    @cached_property
    def dtype(self) -> pl.Enum:
        """Return the type of a column of these words."""
        return pl.Enum(self.words)


class Table:
    """The columns of a frame that one package passes to another, and the meaning of a row.

    `name` is that of its constant, for messages. `row` says what one row is, and how rows are
    ordered. `columns` are in the order of the frame; `schema` has their names and types.
    """

    def __init__(self, name: str, row: str, *columns: Column) -> None:
        self.name: Final = name
        self.row: Final = row
        self.columns: Final = columns
        self.schema: Final = pl.Schema({column.name: column.dtype for column in columns})
        if not row:
            raise ValueError(f"table {name}: the meaning of a row is empty: describe one")
        if len(self.schema) != len(columns):
            raise ValueError(f"table {name}: has a column twice: name each once")
        words = any(dtype in (pl.String, pl.Enum) for dtype in self.schema.values())
        if not words and any(column.unit == BY_ROW for column in columns):
            raise ValueError(f"table {name}: no column of words says the unit of its rows")

    def __getitem__(self, name: str) -> Column:
        """Return a column by its name; raise KeyError without such a column."""
        return self.by_name[name]

    @cached_property
    def by_name(self) -> dict[str, Column]:
        """Return the columns by their names."""
        return {column.name: column for column in self.columns}

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
