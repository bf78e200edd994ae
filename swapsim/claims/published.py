# SPDX-License-Identifier: GPL-2.0-or-later
"""What the mails print: their tables, their claims, and how far a result may lie from them."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.claims.tables import CLAIMS, MAILS, PUBLISHED, SIMULATION_TOLERANCES, TOLERANCES
from swapsim.errors import InputError
from swapsim.frames.files import finite, read_csv
from swapsim.io.paths import data_root

_PUBLISHED_MAY_LACK: Final = ("stddev_percent", "change_percent_printed", "change_percent")

_CLAIMS_MAY_LACK: Final = ("base", "value", "change", "error")

_WORLD_MAY_LACK: Final = ("nothing", "points", "collapse")


def published_tables(root: Path | None = None) -> pl.DataFrame:
    """Read every printed cell of the four patches' mails.

    Parameters
    ----------
    root : Path, optional
        The folder with one CSV file per patch, ``NN-slug.csv``; default: data/published.

    Returns
    -------
    polars.DataFrame
        Schema PUBLISHED, one row per cell, in the order of the files and of their lines.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit: an unknown column, a wrong
        type, an empty field that must not be, a locator that is not ``table | metric | kernel``,
        a value or a percentage that is not what was printed, or a cell given twice.
    """
    folder = _folder(root)
    paths = sorted(folder.glob("[0-9][0-9]-*.csv"))
    if not paths:
        raise InputError("no table of a patch here: NN-slug.csv is needed", path=folder)
    return pl.concat([_read_cells(path) for path in paths])


def published_claims(root: Path | None = None) -> pl.DataFrame:
    """Read every published claim, each against its own base.

    A claim of a table is one of its rows: the patched column against the column that the patch
    was applied to (for the stall decisions that is mmotm, not vanilla). A claim in prose keeps the
    base that its sentence compares with; without a figure its value and change are null and its
    metric says the direction after a colon (falls, rises, stays).

    Parameters
    ----------
    root : Path, optional
        The folder of claims.csv; default: data/published.

    Returns
    -------
    polars.DataFrame
        Schema CLAIMS, one row per claim, in the order of the file.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit.
    """
    path = _folder(root) / "claims.csv"
    frame = read_csv(path, CLAIMS, _CLAIMS_MAY_LACK)
    _refuse_twins(frame, ["claim"], path, "claim")
    return frame


def mails(root: Path | None = None) -> pl.DataFrame:
    """Read which mails the figures are from, and whether their texts were at hand.

    Parameters
    ----------
    root : Path, optional
        The folder of mails.csv; default: data/published.

    Returns
    -------
    polars.DataFrame
        Schema MAILS, one row per mail, in the order of the file.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit.
    """
    path = _folder(root) / "mails.csv"
    frame = read_csv(path, MAILS)
    _refuse_twins(frame, ["mail"], path, "mail")
    return frame


def tolerances(root: Path | None = None) -> pl.DataFrame:
    """Read how far a result may lie from each claim; stored before a result is judged.

    Parameters
    ----------
    root : Path, optional
        The folder of tolerances.csv; default: data/published.

    Returns
    -------
    polars.DataFrame
        Schema TOLERANCES, one row per claim that can be judged.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit.
    """
    path = _folder(root) / "tolerances.csv"
    frame = read_csv(path, TOLERANCES)
    _refuse_twins(frame, ["claim"], path, "claim")
    _refuse_below_zero(frame, ["tolerance"], path)
    return frame


def simulation_tolerances(root: Path | None = None) -> pl.DataFrame:
    """Read what judges each row of patch 03's tables in its world; stored before it is judged.

    Parameters
    ----------
    root : Path, optional
        The folder of simulation-tolerances.csv; default: data/published.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATION_TOLERANCES, one row per row of the tables, in their order, and one for the
        quotient of two rows, whose ``metric`` holds a colon.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit.
    """
    path = _folder(root) / "simulation-tolerances.csv"
    frame = read_csv(path, SIMULATION_TOLERANCES, _WORLD_MAY_LACK)
    _refuse_twins(frame, ["table", "metric"], path, "metric")
    _refuse_below_zero(frame, _WORLD_MAY_LACK, path)
    return frame


def _folder(root: Path | None) -> Path:
    return data_root() / "published" if root is None else root


def _read_cells(path: Path) -> pl.DataFrame:
    frame = read_csv(path, PUBLISHED, _PUBLISHED_MAY_LACK)
    for line, row in enumerate(frame.iter_rows(named=True), start=2):
        field = _misfit(row, path.stem)
        if field is not None:
            raise InputError(
                f"{row[field]!r} does not fit the rest of its row: copy the cell as printed",
                path=path,
                line=line,
                field=field,
            )
    _refuse_twins(frame, ["locator", "parameters"], path, "locator")
    return frame


def _misfit(row: Mapping[str, object], patch: str) -> str | None:
    """Return the first field of a cell that its own row contradicts."""
    printed = str(row["printed"]).removeprefix("~").removesuffix("%")
    whole, _, fraction = printed.partition(".")
    if row["patch"] != patch:
        return "patch"
    if row["locator"] != f"{row['table']} | {row['metric']} | {row['kernel']}":
        return "locator"
    if not whole.isdigit() or (fraction and not fraction.isdigit()):
        return "printed"
    if row["value"] != float(printed):
        return "value"
    if row["decimals"] != len(fraction):
        return "decimals"
    text = row["change_percent_printed"]
    if row["change_percent"] != (None if text is None else finite(str(text).removesuffix("%"))):
        return "change_percent"
    return None


def _refuse_twins(frame: pl.DataFrame, key: list[str], path: Path, field: str) -> None:
    twins = frame.select(pl.struct(key).is_first_distinct().not_()).to_series().arg_true()
    if len(twins):
        raise InputError(
            f"{frame[field][twins[0]]!r} is given twice: rows are added, each once",
            path=path,
            line=twins[0] + 2,
            field=field,
        )


def _refuse_below_zero(frame: pl.DataFrame, fields: Sequence[str], path: Path) -> None:
    for line, row in enumerate(frame.iter_rows(named=True), start=2):
        for field in fields:
            if row[field] is not None and row[field] < 0:
                raise InputError(
                    f"{row[field]} is below zero: give a size", path=path, line=line, field=field
                )


@cache
def published_of(patch: str) -> tuple[pl.DataFrame, ...]:
    """Return what data/published holds of one patch: PUBLISHED, CLAIMS and TOLERANCES."""
    own = published_claims().filter(patch=patch)
    allowed = tolerances().join(own, on="claim", how="semi", maintain_order="left")
    return published_tables().filter(patch=patch), own, allowed
