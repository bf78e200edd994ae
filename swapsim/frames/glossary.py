# SPDX-License-Identifier: GPL-2.0-or-later
"""What each column of each table means, read from where the schemas are written.

A table's own docstring says what a row is. What a column means stands once, in its module's
docstring or, if several modules have it, in that of `swapsim.schemas`::

    Columns
    -------
    low, high : one text for several columns,
        that may go on below.
    change [%] : with the unit, where neither its name tells it nor a column beside it
    TABLE.low : what it means in this table, where that is something else
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Final, NamedTuple

import polars as pl

import swapsim

_SECTION: Final = re.compile(r"^Columns\n-------\n(.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY: Final = re.compile(r"^([\w., ]+?)(?: \[(.+?)\])? : (.*(?:\n {4}.*)*)", re.MULTILINE)


class _Entry(NamedTuple):
    """What a docstring says of a column."""

    says: str
    unit: str


_UNSAID: Final = _Entry("", "")


@dataclass(frozen=True)
class Column:
    """A column: its name, its type, what it means and its unit (both empty if nobody says)."""

    name: str
    type: str
    says: str
    unit: str


@dataclass(frozen=True)
class Table:
    """A schema with what a row is, or a vocabulary with its words, ``values``."""

    name: str
    says: str
    columns: tuple[Column, ...]
    values: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """The tables of a module, which are about one subject."""

    name: str
    title: str
    tables: tuple[Table, ...]


@cache
def groups() -> tuple[Group, ...]:
    """Return all tables of `swapsim.schemas`, by module."""
    shared = _entries(import_module("swapsim.frames.shared"))
    modules = [
        import_module(each.name)
        for each in walk_packages(swapsim.__path__, "swapsim.")
        if each.name.rpartition(".")[2].startswith("tables")
        and not each.name.startswith("swapsim.cli")
    ]
    found = (_group(module, shared) for module in modules)
    return tuple(group for group in found if group.tables)


def explained(table: str) -> dict[str, Column]:
    """Return the columns of a table by their names.

    Parameters
    ----------
    table : str
        The schema's name, such as RESULTS; no columns if there is none of that name.
    """
    known = {each.name: each for group in groups() for each in group.tables}
    return {column.name: column for column in known[table].columns} if table in known else {}


def units(columns: pl.Schema) -> dict[str, str]:
    """Return the units of a frame's columns, where they are told.

    Parameters
    ----------
    columns : polars.Schema
        A part of a table as a rule: then the tables that have all of them say what they mean, else
        any that has the column. Where they are not of one mind nobody says anything.
    """
    asked = {(name, _type(dtype)) for name, dtype in columns.items()}
    tables = [table.columns for group in groups() for table in group.tables]
    whole = [table for table in tables if asked <= {(each.name, each.type) for each in table}]
    told: dict[str, set[str]] = {}
    for table in whole or tables:
        for column in table:
            told.setdefault(column.name, set()).add(column.unit)
    return {name: unit for name in columns for unit in told.get(name, ()) if len(told[name]) == 1}


def _group(module: ModuleType, shared: dict[str, _Entry]) -> Group:
    own = shared | _entries(module)
    title, _, _ = (module.__doc__ or "").partition("\n")
    tables = tuple(
        _table(name, says, getattr(module, name), own) for name, says in _documented(module)
    )
    return Group(module.__name__.removeprefix("swapsim."), title.rstrip("."), tables)


def _documented(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield each schema and vocabulary of a module with the docstring that follows it."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    statements = ast.parse(source).body
    for bound, after in zip(statements, [*statements[1:], None], strict=True):
        if not (isinstance(bound, ast.AnnAssign) and isinstance(bound.target, ast.Name)):
            continue
        name = bound.target.id
        if name.isupper() and isinstance(getattr(module, name, None), pl.Schema | pl.Enum):
            docstring = after.value if isinstance(after, ast.Expr) else None
            says = docstring.value if isinstance(docstring, ast.Constant) else ""
            yield name, str(says)


def _table(name: str, says: str, found: pl.Schema | pl.Enum, columns: dict[str, _Entry]) -> Table:
    if isinstance(found, pl.Enum):
        return Table(name, says, (), tuple(found.categories))
    told = (
        Column(column, _type(dtype), *columns.get(f"{name}.{column}", columns.get(column, _UNSAID)))
        for column, dtype in found.items()
    )
    return Table(name, says, tuple(told), ())


def _type(dtype: pl.DataType) -> str:
    return f"one of {', '.join(dtype.categories)}" if isinstance(dtype, pl.Enum) else str(dtype)


def explained_by(module: ModuleType) -> dict[str, str]:
    """Return what a module's docstring says of columns, by ``column`` or ``TABLE.column``."""
    return {name: entry.says for name, entry in _entries(module).items()}


def _entries(module: ModuleType) -> dict[str, _Entry]:
    section = _SECTION.search(module.__doc__ or "")
    return {
        name: _Entry(" ".join(says.split()), unit)
        for names, unit, says in (_ENTRY.findall(section[1]) if section else ())
        for name in names.split(", ")
    }
