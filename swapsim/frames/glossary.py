# SPDX-License-Identifier: GPL-2.0-or-later
"""All tables and vocabularies that the packages declare in their modules ``tables``."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import get_annotations
from pathlib import Path
from types import ModuleType
from typing import Final

import polars as pl

from swapsim.frames.table import Column, Table, Vocabulary

_PACKAGE: Final = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Group:
    """The tables and vocabularies that one module declares."""

    name: str
    title: str
    tables: tuple[Table, ...]
    vocabularies: tuple[Vocabulary, ...]


@cache
def groups() -> tuple[Group, ...]:
    """Return what each module ``tables`` declares, by the name of the module."""
    paths = sorted(_PACKAGE.rglob("tables.py"))
    names = [".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts) for path in paths]
    found = (_group(import_module(name)) for name in names)
    return tuple(group for group in found if group.tables)


@cache
def columns() -> tuple[tuple[Column, ...], ...]:
    """Return the columns of each table."""
    return tuple(table.columns for group in groups() for table in group.tables)


def units(schema: pl.Schema) -> dict[str, str]:
    """Return the units of a frame's columns, as far as they are certain.

    Parameters
    ----------
    schema : polars.Schema
        A part of a table as a rule: then the tables that have all of its columns decide, else all
        that have the column. A column for which these tables declare several units has none.
    """
    asked = set(schema.items())
    complete = [
        table for table in columns() if asked <= {(each.name, each.dtype) for each in table}
    ]
    declared: dict[str, set[str]] = {}
    for table in complete or columns():
        for column in table:
            declared.setdefault(column.name, set()).add(column.head)
    certain = {name: found.pop() for name, found in declared.items() if len(found) == 1}
    return {name: certain[name] for name in schema if name in certain}


def _group(module: ModuleType) -> Group:
    """Return what a module declares; a name that it imports has no annotation in it."""
    declared = [getattr(module, name, None) for name in get_annotations(module)]
    return Group(
        name=module.__name__.removeprefix("swapsim."),
        title=(module.__doc__ or module.__name__).partition("\n")[0].rstrip("."),
        tables=tuple(each for each in declared if isinstance(each, Table)),
        vocabularies=tuple(each for each in declared if isinstance(each, Vocabulary)),
    )
