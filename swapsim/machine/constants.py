# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants of a model from a file of data/: the machine's costs, and those of other models.

Each has a source, and lies in a range that the source leaves open. A cost turns work into time and
is at least 1 ns. Any other constant may be 0.
"""

import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim.errors import InputError, errors_of, suggestion
from swapsim.ffi import COST_MAX, COST_NAMES
from swapsim.io import data_root
from swapsim.tables import Table, read_csv

CONSTANTS: Final = Table(
    "CONSTANTS",
    "One row per constant of a model: what it uses, what its source allows, and the source.",
    {"name": pl.String, "value": pl.Int64, "low": pl.Int64, "high": pl.Int64},
    {"unit": pl.String, "source": pl.String},
)

CHANGED: Final = "changed by the caller"

LONGEST_TAGS_NS: Final = 264
"""The longest plausible ``tag_ns``: two tag operations of 132 ns with cold caches (`bench`)."""


class File(NamedTuple):
    """The constants of a file in data/: costs from 1 ns on, others from 0 on in any unit."""

    name: str
    costs: tuple[str, ...]
    most: int
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, the costs first."""
        return (*self.costs, *self.others)

    def least(self, constant: str) -> int:
        """Return the lowest value that a constant may have."""
        return 1 if constant in self.costs else 0


COSTS: Final = File("costs.csv", COST_NAMES, COST_MAX)


def read(file: File, root: Path | None = None) -> pl.DataFrame:
    """Read a file of constants."""
    path = (data_root() if root is None else root) / file.name
    with errors_of(path):
        return check(file, read_csv(path, CONSTANTS))


def check(file: File, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the constants, in the file's order, if each is there once and in its own range."""
    given = CONSTANTS.check(frame)["name"].to_list()
    for name, value, low, high in frame.select("name", "value", "low", "high").iter_rows():
        if name not in file.names or given.count(name) > 1:
            why = "is given twice" if name in file.names else "is unknown"
            known = ", ".join(file.names)
            raise InputError(f"constant {name!r} {why}: give each of {known} once", field="name")
        if not file.least(name) <= low <= value <= high <= file.most:
            why = f"{value} is not in its range, {low} to {high}: {_wanted(file, name)}"
            raise InputError(f"constant {name!r}: {why}", field="value")
    if missing := [name for name in file.names if name not in given]:
        raise InputError(f"constant {missing[0]!r} is missing: add its row", field="name")
    order = pl.DataFrame({"name": file.names}, schema={"name": pl.String})
    return order.join(frame, on="name", maintain_order="left").select(CONSTANTS.names())


def change(file: File, frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the constants with some at another value, which its range then has, source CHANGED."""
    for name, value in values.items():
        if name not in file.names:
            raise InputError(
                f"constant {name!r} is unknown: {suggestion(name, file.names)}choose one of "
                f"{', '.join(file.names)}"
            )
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not file.least(name) <= value <= file.most:
            raise InputError(f"constant {name!r} of {value!r}: {_wanted(file, name)}")
    new = pl.col("name").replace_strict(values, default=None, return_dtype=pl.Int64)
    return check(
        file,
        frame.with_columns(
            value=pl.coalesce(new, "value"),
            low=pl.min_horizontal("low", pl.coalesce(new, "low")),
            high=pl.max_horizontal("high", pl.coalesce(new, "high")),
            source=pl.when(new != pl.col("value")).then(pl.lit(CHANGED)).otherwise("source"),
        ),
    )


def _wanted(file: File, name: str) -> str:
    unit = " of ns" if name in file.costs else ""
    return f"give a whole number{unit} from {file.least(name)} to {file.most}"


def values(file: File, frame: pl.DataFrame) -> dict[str, int]:
    """Return each constant's value."""
    return dict(check(file, frame).select("name", "value").iter_rows())


@cache
def _usual(root: Path) -> pl.DataFrame:
    return read(COSTS, root)


def costs_of(root: Path | None = None) -> pl.DataFrame:
    """Read data/costs.csv, or that of another folder (CONSTANTS)."""
    return _usual(data_root()) if root is None else read(COSTS, root)


def costs_by_name(frame: pl.DataFrame | None = None) -> dict[str, int]:
    """Check constants (default: data/costs.csv); return each value in ns, ordered by COST_NAMES."""
    return values(COSTS, costs_of() if frame is None else frame)


def change_costs(frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return costs (CONSTANTS) with some of them changed."""
    return change(COSTS, frame, values)


def costs(machine: Any = None, /, **changes: int) -> pl.DataFrame:
    """Return how long each step of a machine's work takes, and the source of each figure.

    Parameters
    ----------
    machine : Machine, optional
        Whose costs; default: those of data/costs.csv.
    **changes : int
        Costs in ns in place of its own, such as ``copy_ns=400``.

    Returns
    -------
    polars.DataFrame
        ``name, value, low, high, unit, source``: a row for each cost, most in ns. The source of
        one that was changed or fitted is "changed by the caller".

    Raises
    ------
    InputError
        A name is unknown, or a value no whole number of ns from 1 on.

    Warns
    -----
    UserWarning
        A value lies outside of what the source in data/costs.csv allows.

    Examples
    --------
    >>> from swapsim import machine
    >>> table = machine.costs(copy_ns=400)
    >>> table.filter(name="copy_ns").select("value", "low", "high", "source").row(0)
    (400, 300, 1000, 'changed by the caller')
    """
    own = costs_of() if machine is None else change_costs(costs_of(), machine.costs)
    warn_outside(changes, 3)
    return change_costs(own, changes)


def warn_outside(changes: Mapping[str, int], level: int) -> None:
    """Warn of costs outside of the ranges of data/costs.csv."""
    outside = [
        f"{row['name']}={changes[row['name']]} is outside of {row['low']} to {row['high']}"
        for row in costs_of().filter(pl.col("name").is_in([*changes])).iter_rows(named=True)
        if isinstance(changes[row["name"]], int)
        and not row["low"] <= changes[row["name"]] <= row["high"]
    ]
    if outside:
        text = f"{', '.join(outside)}, what the source in data/costs.csv allows"
        warnings.warn(text, stacklevel=level)
