# SPDX-License-Identifier: GPL-2.0-or-later
"""All tables, metrics and vocabularies that the packages declare in modules of ``_MODULES``."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import get_annotations
from pathlib import Path
from types import ModuleType
from typing import Final

import polars as pl

from swapsim.frames.metrics import Metrics
from swapsim.frames.table import Table, Vocabulary

_PACKAGE: Final = Path(__file__).parents[1]
_MODULES: Final = ("tables", "metrics")


@dataclass(frozen=True, slots=True)
class Group:
    """The tables and vocabularies that one module declares."""

    name: str
    title: str
    tables: tuple[Table, ...]
    vocabularies: tuple[Vocabulary, ...]


@cache
def groups() -> tuple[Group, ...]:
    """Return the declarations of each module, in order of name."""
    paths = sorted(path for name in _MODULES for path in _PACKAGE.rglob(f"{name}.py"))
    names = [".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts) for path in paths]
    found = (_group(import_module(name)) for name in names)
    return tuple(group for group in found if group.tables)


@cache
def tables() -> tuple[Table, ...]:
    """Return all tables."""
    return tuple(table for group in groups() for table in group.tables)


def units(schema: pl.Schema) -> dict[str, str]:
    """Return the units of a frame's columns, as far as all tables with a column agree."""
    complete = [table for table in tables() if schema.items() <= table.schema.items()]
    declared: dict[tuple[str, pl.DataType], set[str]] = {}
    for table in complete or tables():
        for key, column in zip(table.schema.items(), table.columns, strict=True):
            declared.setdefault(key, set()).add(column.unit)
    certain = {key: found.pop() for key, found in declared.items() if len(found) == 1}
    return {key[0]: certain[key] for key in schema.items() if key in certain}


def _group(module: ModuleType) -> Group:
    """Return the declarations of a module; an imported name has no annotation in it."""
    declared = [getattr(module, name, None) for name in get_annotations(module)]
    name = module.__name__.removeprefix("swapsim.")
    metrics = f"{name.partition('.')[0]}.METRICS"
    declared = [each.table(metrics) if isinstance(each, Metrics) else each for each in declared]
    return Group(
        name=name,
        title=(module.__doc__ or module.__name__).partition("\n")[0].rstrip("."),
        tables=tuple(each for each in declared if isinstance(each, Table)),
        vocabularies=tuple(each for each in declared if isinstance(each, Vocabulary)),
    )
