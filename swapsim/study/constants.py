# SPDX-License-Identifier: GPL-2.0-or-later
"""Read, check and change a model's constants, from a file of data/.

Each has a source, and lies in a range that the source leaves open. A cost turns work into time and
is at least 1 ns. Any other constant may be 0.
"""

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeGuard

import polars as pl

from swapsim.errors import InputError, suggestion
from swapsim.io import data_root
from swapsim.study.tables import CONSTANTS
from swapsim.tables import read_csv

_DEPTH: Final = 3  # frames from `change` to its caller: a function of the model, and `checked`

CHANGED: Final = "changed by the caller"

SOURCES: Final = ("microbenchmark", "rig", "published", "fit", "assumed", CHANGED)
"""First words of a source: measured, set or seen in our lab, read, fitted to a base column,
assumed, or changed by a caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantsFile:
    """The constants of a file in data/: costs from 1 ns on, others from 0 on in any unit."""

    name: str
    costs: tuple[str, ...]
    others: tuple[str, ...] = ()
    most: int

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, the costs first."""
        return (*self.costs, *self.others)

    def least(self, constant: str) -> int:
        """Return the lowest value that a constant may have."""
        return 1 if constant in self.costs else 0


class Moved(NamedTuple):
    """A point of a what-if: one constant at an end of its range, all others at their values."""

    constant: str
    end: str
    value: int

    @property
    def label(self) -> str:
        """The constant and the end."""
        return f"{self.constant}, {self.end}"


def ends(frame: pl.DataFrame, names: Sequence[str] | None = None) -> list[Moved]:
    """Return constants at the low and at the high end of their ranges, one at a time."""
    rows = {row["name"]: row for row in frame.iter_rows(named=True)}
    for name in names or ():
        if name not in rows:
            raise InputError(
                f"constant {name!r} is unknown: {suggestion(name, rows)}choose one of "
                f"{', '.join(rows)}",
                field="names",
            )
    return [
        Moved(name, end, rows[name][end])
        for name in (rows if names is None else names)
        for end in ("low", "high")
        if names is not None or rows[name][end] != rows[name]["value"]
    ]


def read(file: ConstantsFile, root: Path | None = None) -> pl.DataFrame:
    """Read a file of constants."""
    path = (data_root() if root is None else root) / file.name
    return check(file, read_csv(path, CONSTANTS), path)


def check(file: ConstantsFile, frame: pl.DataFrame, path: Path | None = None) -> pl.DataFrame:
    """Return the constants if each is there once and lies in its own range."""
    CONSTANTS.check(frame)
    seen: set[str] = set()
    for line, row in enumerate(frame.iter_rows(named=True), start=2):
        fault = _misfit(file, row, seen)
        if fault is not None:
            field, message = fault
            name = f"constant {row['name']!r}"
            raise InputError(
                f"{name}: {message}" if path else f"{name} in row {line - 1}: {message}",
                path=path,
                line=line if path else None,
                field=field,
            )
        seen.add(str(row["name"]))
    for name in file.names:
        if name not in seen:
            raise InputError(f"constant {name!r} is missing: add its row", path=path, field="name")
    order = pl.DataFrame({"name": file.names}, schema={"name": pl.String})
    return order.join(frame, on="name", maintain_order="left").select(CONSTANTS.names())


def change(file: ConstantsFile, frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the constants with some of them at another value, with the source CHANGED.

    A value outside of low to high extends that range. One warning names all such values, unless a
    module of swapsim, such as a fit, has chosen them.
    """
    for name, value in values.items():
        if name not in file.names:
            raise InputError(
                f"constant {name!r} is unknown: {suggestion(name, file.names)}choose one of "
                f"{', '.join(file.names)}",
                field="name",
            )
        if not _is_value(value, file, name):
            raise InputError(
                f"constant {name!r} of {value!r}: {_wanted(file, name)}", field="value"
            )
    CONSTANTS.check(frame)
    outside = [
        f"{row['name']}={values[row['name']]} is outside of {row['low']} to {row['high']}"
        for row in frame.filter(pl.col("name").is_in([*values])).iter_rows(named=True)
        if not row["low"] <= values[row["name"]] <= row["high"]
    ]
    caller = sys._getframe(_DEPTH).f_globals.get("__name__", "")
    if outside and not str(caller).startswith("swapsim."):
        warnings.warn(
            f"{', '.join(outside)}, what the source in data/{file.name} allows: "
            "the range now ends at your value",
            stacklevel=_DEPTH + 1,
        )
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


def values(file: ConstantsFile, frame: pl.DataFrame) -> dict[str, int]:
    """Return each constant's value."""
    return dict(check(file, frame).select("name", "value").iter_rows())


def _misfit(
    file: ConstantsFile, row: Mapping[str, object], seen: set[str]
) -> tuple[str, str] | None:
    """Return the field at fault and what to do; None if the row fits."""
    name, value, low, high = str(row["name"]), row["value"], row["low"], row["high"]
    least = file.least(name)
    if name not in file.names:
        return "name", f"it is unknown; choose one of {', '.join(file.names)}"
    if name in seen:
        return "name", "it is given twice: remove one row"
    if not _is_value(value, file, name):
        return "value", f"{value} is not in its range: {_wanted(file, name)}"
    if not isinstance(low, int) or not least <= low <= value:
        return "low", f"{low} must be at least {least} and at most the value {value}"
    if not isinstance(high, int) or not value <= high <= file.most:
        return "high", f"{high} must be at least the value {value} and at most {file.most}"
    if name in file.costs and row["unit"] != "ns":
        return "unit", f"{row['unit']!r} is not the unit of a cost: give ns"
    if not str(row["source"]).startswith(SOURCES):
        return "source", f"start it with one of {', '.join(SOURCES)}"
    return None


def _is_value(value: object, file: ConstantsFile, name: str) -> TypeGuard[int]:
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return file.least(name) <= value <= file.most


def _wanted(file: ConstantsFile, name: str) -> str:
    unit = " of ns" if name in file.costs else ""
    return f"give a whole number{unit} from {file.least(name)} to {file.most}"
