# SPDX-License-Identifier: GPL-2.0-or-later
"""What the mails print: their tables, their claims, and the card of each patch."""

import csv
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.paths import data_root, patches_root
from swapsim.schemas import CARDS, CLAIMS, PUBLISHED, TOLERANCES, require

_MAY_BE_EMPTY: Final = {
    "PUBLISHED": {"stddev_percent", "change_percent_printed", "change_percent"},
    "CLAIMS": {"base", "value", "change", "error"},
    "TOLERANCES": set[str](),
    "COSTS": set[str](),
}
_FENCE: Final = "+++\n"


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
    folder = data_root() / "published" if root is None else root
    paths = sorted(folder.glob("[0-9][0-9]-*.csv"))
    if not paths:
        raise InputError("no table of a patch here: NN-slug.csv is needed", path=folder)
    return pl.concat([_read_cells(path) for path in paths])


def claims(root: Path | None = None) -> pl.DataFrame:
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
    path = (data_root() / "published" if root is None else root) / "claims.csv"
    frame = read_csv(path, CLAIMS, "CLAIMS")
    _refuse_twins(frame, ["claim"], path, "claim")
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
    path = (data_root() / "published" if root is None else root) / "tolerances.csv"
    frame = read_csv(path, TOLERANCES, "TOLERANCES")
    _refuse_twins(frame, ["claim"], path, "claim")
    for line, tolerance in enumerate(frame["tolerance"], start=2):
        if tolerance < 0:
            raise InputError(
                f"{tolerance} is below zero: give a distance",
                path=path,
                line=line,
                field="tolerance",
            )
    return frame


def patch_cards(root: Path | None = None) -> pl.DataFrame:
    """Read the card of each patch: TOML between lines of +++, then markdown.

    Parameters
    ----------
    root : Path, optional
        The folder of the NN-slug folders; default: patches.

    Returns
    -------
    polars.DataFrame
        Schema CARDS, one row per card, by number.

    Raises
    ------
    InputError
        Naming the card and the field that is missing, unknown or of another type.
    """
    folder = patches_root() if root is None else root
    paths = sorted(folder.glob("[0-9][0-9]-*/card.md"))
    if not paths:
        raise InputError("no card here: NN-slug/card.md is needed", path=folder)
    cards = pl.DataFrame([_read_card(path) for path in paths], schema=CARDS, orient="row")
    return require(cards, CARDS, "CARDS")


def _read_cells(path: Path) -> pl.DataFrame:
    frame = read_csv(path, PUBLISHED, "PUBLISHED")
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
    if row["change_percent"] != (None if text is None else _number(str(text).removesuffix("%"))):
        return "change_percent"
    return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_csv(path: Path, schema: pl.Schema, name: str) -> pl.DataFrame:
    """Read a CSV file whose every field must fit; polars alone cannot name a bad line.

    Parameters
    ----------
    path : Path
    schema : polars.Schema
        Columns in the order of the file.
    name : str
        The table's name; it says which fields may be empty.

    Returns
    -------
    polars.DataFrame
        One row per line, in the order of the file.

    Raises
    ------
    InputError
        Naming file, line and field of the first row that does not fit.
    """
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines, strict=True))
    except FileNotFoundError:
        raise InputError(
            "no such file; README.md of data/published describes it", path=path
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read as CSV in UTF-8 ({error})", path=path) from None
    if not rows or rows[0] != list(schema):
        raise InputError(f"its columns must be: {', '.join(schema)}", path=path, line=1)
    columns: dict[str, list[object]] = {column: [] for column in schema}
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(schema):
            raise InputError(
                f"{len(row)} fields where {len(schema)} are needed", path=path, line=line
            )
        if any("\n" in text for text in row):
            raise InputError("a row must stay on one line", path=path, line=line)
        for (column, dtype), text in zip(schema.items(), row, strict=True):
            value = _field(text, dtype)
            if value is None and (text or column not in _MAY_BE_EMPTY[name]):
                raise InputError(f"{text!r} is no {dtype}", path=path, line=line, field=column)
            columns[column].append(value)
    return require(pl.DataFrame(columns, schema=schema), schema, name)


def _field(text: str, dtype: pl.DataType) -> object:
    """Return one field as its column's type, None if it does not fit."""
    if dtype == pl.Float64:
        return _number(text)
    if dtype == pl.UInt8:
        return int(text) if text.isdigit() and int(text) < 256 else None
    if dtype == pl.Int64:
        return int(text) if text.removeprefix("-").isdigit() else None
    if isinstance(dtype, pl.Enum):
        return text if text in dtype.categories else None
    return text or None


def _refuse_twins(frame: pl.DataFrame, key: list[str], path: Path, field: str) -> None:
    twins = frame.select(pl.struct(key).is_first_distinct().not_()).to_series().arg_true()
    if len(twins):
        raise InputError(
            f"{frame[field][twins[0]]!r} is given twice: rows are added, each once",
            path=path,
            line=twins[0] + 2,
            field=field,
        )


def _read_card(path: Path) -> list[object]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as UTF-8 ({error})", path=path) from None
    before, fence, rest = text.partition(_FENCE)
    front, closing, body = rest.partition("\n" + _FENCE)
    if before or not fence or not closing:
        raise InputError("a card starts with TOML between two lines of +++", path=path, line=1)
    try:
        fields = tomllib.loads(front)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"its front matter is no TOML ({error})", path=path) from None
    fields |= {"patch": path.parent.name, "body": body.strip()}
    for column, dtype in CARDS.items():
        value = fields.get(column)
        fits = (
            isinstance(value, list) and all(isinstance(item, str) for item in value)
            if isinstance(dtype, pl.List)
            else isinstance(value, str) and value != ""
        )
        if not fits:
            raise InputError(f"{value!r} is no {dtype}", path=path, field=column)
    extra = sorted(fields.keys() - CARDS.keys())
    if extra:
        raise InputError("no such field in a card: drop it", path=path, field=extra[0])
    return [fields[column] for column in CARDS]
