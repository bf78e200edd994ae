# SPDX-License-Identifier: GPL-2.0-or-later
"""What each column of each table means, read from where the schemas are written.

A table's own docstring says what a row is. What a column means stands once, in its module's
docstring or, if several modules have it, in that of `swapsim.schemas`::

    Columns
    -------
    low, high : one text for several columns,
        that may go on below.
    TABLE.low : what it means in this table, where that is something else
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Final

import polars as pl

_PACKAGE: Final = __name__.rpartition(".")[0]
_SECTION: Final = re.compile(r"^Columns\n-------\n(.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY: Final = re.compile(r"^([\w., ]+?) : (.*(?:\n {4}.*)*)", re.MULTILINE)


@dataclass(frozen=True)
class Column:
    """A column: its name, its type and what it means (empty if nobody says)."""

    name: str
    type: str
    says: str


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
    package = import_module(_PACKAGE)
    shared = explained_by(package)
    modules = [import_module(f"{_PACKAGE}.{each.name}") for each in iter_modules(package.__path__)]
    found = (_group(module, shared) for module in modules)
    return tuple(group for group in found if group.tables)


def explained(table: str) -> dict[str, str]:
    """Return what each column of a table means.

    Parameters
    ----------
    table : str
        The schema's name, such as RESULTS; no columns if there is none of that name.
    """
    known = {each.name: each for group in groups() for each in group.tables}
    return {column.name: column.says for column in known[table].columns} if table in known else {}


def _group(module: ModuleType, shared: dict[str, str]) -> Group:
    own = shared | explained_by(module)
    title, _, _ = (module.__doc__ or "").partition("\n")
    tables = tuple(
        _table(name, says, getattr(module, name), own) for name, says in _documented(module)
    )
    return Group(module.__name__.rpartition(".")[2], title.rstrip("."), tables)


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


def _table(name: str, says: str, found: pl.Schema | pl.Enum, columns: dict[str, str]) -> Table:
    if isinstance(found, pl.Enum):
        return Table(name, says, (), tuple(found.categories))
    told = (
        Column(column, _type(dtype), columns.get(f"{name}.{column}", columns.get(column, "")))
        for column, dtype in found.items()
    )
    return Table(name, says, tuple(told), ())


def _type(dtype: pl.DataType) -> str:
    return f"one of {', '.join(dtype.categories)}" if isinstance(dtype, pl.Enum) else str(dtype)


def explained_by(module: ModuleType) -> dict[str, str]:
    """Return what a module's docstring says of columns, by ``column`` or ``TABLE.column``."""
    section = _SECTION.search(module.__doc__ or "")
    return {
        name: " ".join(says.split())
        for names, says in (_ENTRY.findall(section[1]) if section else ())
        for name in names.split(", ")
    }
