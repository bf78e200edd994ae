# SPDX-License-Identifier: GPL-2.0-or-later
"""A table's schema, and the check that a frame has it.

A schema is compared with ``==`` on entry and exit. Casting is no check: it
would turn 1.5 into 1 without a word.
"""

from collections.abc import Mapping

import polars as pl

from swapsim.errors import InputError


def schema_of(columns: Mapping[str, pl.DataType | type[pl.DataType]]) -> pl.Schema:
    """Make a schema of types and of instances, which mypy would call objects."""
    return pl.Schema(columns)


def require(frame: pl.DataFrame, schema: pl.Schema, name: str) -> pl.DataFrame:
    """Return the frame if its schema is exactly the one asked for.

    Parameters
    ----------
    frame : polars.DataFrame
    schema : polars.Schema
    name : str
        The table's name, for the message.

    Raises
    ------
    InputError
        Naming the first column that is missing, unknown, misplaced or of another type; or it is no
        table at all.
    """
    if not isinstance(frame, pl.DataFrame):
        raise InputError(f"table {name} is a {type(frame).__name__}: give a polars.DataFrame")
    if frame.schema == schema:
        return frame
    for column, dtype in schema.items():
        if column not in frame.columns:
            raise InputError(
                f"table {name} has no such column; it has: {', '.join(frame.columns)}",
                field=column,
            )
        if frame.schema[column] != dtype:
            raise InputError(
                f"table {name} holds {frame.schema[column]} where {dtype} is needed", field=column
            )
    extra = [column for column in frame.columns if column not in schema]
    if extra:
        raise InputError(f"table {name} does not know this column: drop it", field=extra[0])
    raise InputError(f"table {name} has its columns out of order: {', '.join(schema)} is needed")
