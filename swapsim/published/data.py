# SPDX-License-Identifier: GPL-2.0-or-later
"""What the mails print, a card for each patch, RESULTS, and the experiments of data/measured."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import io
from swapsim.errors import InputError
from swapsim.io import data_root, patches_root
from swapsim.published import tables
from swapsim.tables import Table, finite, read_csv, read_table

_PUBLISHED_MAY_LACK: Final = ("stddev_percent", "change_percent_printed", "change_percent")
_LINKS_MAY_LACK: Final = ("target", "author", "date", "merged")
_FENCE: Final = "+++\n"


def published_tables(root: Path | None = None) -> pl.DataFrame:
    """Read all printed cells of the mails (PUBLISHED), in the order of data/published.

    An InputError names file, line and field of the first cell that is no copy of the mail's, or is
    given twice.

    Examples
    --------
    >>> from swapsim.published import data
    >>> tables = data.published_tables()
    >>> tables.filter(metric="vmstat.swap.so", kernel="base").select("value", "unit").rows()
    [(1207402.0, 'KiB/s')]
    """
    folder = _folder(root)
    paths = sorted(folder.glob("[0-9][0-9]-*.csv"))
    if not paths:
        raise InputError("no table of a patch here: NN-slug.csv is needed", path=folder)
    return pl.concat([_read_cells(path) for path in paths])


def mails(root: Path | None = None) -> pl.DataFrame:
    """Read which mails the figures are from, and whether their texts were available (MAILS)."""
    return _read(root, "mails.csv", tables.MAILS, ["mail"])


def links(root: Path | None = None) -> pl.DataFrame:
    """Read the mails, commits and other sources that our texts cite (LINKS).

    Each mail of mails.csv has its row; one whose message ID is not known has no target.
    """
    frame = _read(root, "links.csv", tables.LINKS, ["name"], _LINKS_MAY_LACK)
    for line, row in enumerate(frame.iter_rows(named=True), start=2):
        forms = {"target": row["kind"], "date": "date", "merged": "commit"}
        for field, form in forms.items():
            wanted = None if row[field] is None else misfit(form, row[field])
            if wanted is not None:
                raise InputError(
                    f"{row[field]!r} is not {wanted}",
                    path=_folder(root) / "links.csv",
                    line=line,
                    field=field,
                )
    return frame


def reasons(root: Path | None = None) -> pl.DataFrame:
    """Read why rows of the mails' tables have no figure (REASONS): patterns, and words."""
    keys = ["mail", "table", "metric", "source"]
    frame = _read(root, "reasons.csv", tables.REASONS, keys)
    for line, row in enumerate(frame.select(keys).iter_rows(named=True), start=2):
        for field, pattern in row.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise InputError(
                    f"{pattern!r} is no pattern: {error}",
                    path=_folder(root) / "reasons.csv",
                    line=line,
                    field=field,
                ) from None
    return frame


def windows(root: Path | None = None) -> pl.DataFrame:
    """Read the part of a run that each metric describes; stored before the runs (WINDOWS)."""
    return _read(root, "windows.csv", tables.WINDOWS, ["metric"], ("fitted",))


def window_of(metric: str) -> str:
    """Return the WINDOW of a metric, by the row of WINDOWS whose name it has or begins with.

    A metric without a row is an InputError.
    """
    frame = windows()
    found = frame.filter(pl.lit(metric).str.starts_with(pl.col("metric")))
    if found.is_empty():
        names = ", ".join(frame["metric"])
        raise InputError(f"{metric!r} has no window: choose one of {names}", field="metric")
    return str(found["window"][0])


def patch_cards(root: Path | None = None) -> pl.DataFrame:
    """Read the card of each patch: TOML between lines of +++, then markdown (CARD).

    Examples
    --------
    >>> from swapsim.published import data
    >>> data.patch_cards().select("patch", "author", "date").row(1)
    ('02-batched-removal', 'Mel Gorman', '2016-09-09')
    """
    folder = patches_root() if root is None else root
    paths = sorted(folder.glob("[0-9][0-9]-*/card.md"))
    if not paths:
        raise InputError("no card here: NN-slug/card.md is needed", path=folder)
    return pl.DataFrame(
        [_read_card(path) for path in paths], schema=tables.CARD.schema, orient="row"
    )


@cache
def published_of(patch: str) -> tuple[pl.DataFrame, ...]:
    """Return the printed cells of one patch (PUBLISHED): what its studies read."""
    return (published_tables().filter(patch=patch),)


def _folder(root: Path | None) -> Path:
    return data_root() / "published" if root is None else root


def _read(
    root: Path | None,
    name: str,
    table: Table,
    key: Sequence[str],
    may_lack: Sequence[str] = (),
    *,
    not_below_zero: Sequence[str] = (),
) -> pl.DataFrame:
    """Read a file of data/published, whose rows have a unique key."""
    path = _folder(root) / name
    frame = read_csv(path, table, may_lack)
    require_unique(frame, key, path)
    for field in not_below_zero:
        below = (frame[field] < 0).arg_true()
        if len(below):
            raise InputError(
                f"{frame[field][below[0]]} is below zero: give a size",
                path=path,
                line=below[0] + 2,
                field=field,
            )
    return frame


def _read_cells(path: Path) -> pl.DataFrame:
    frame = read_csv(path, tables.PUBLISHED, _PUBLISHED_MAY_LACK)
    for line, row in enumerate(frame.iter_rows(named=True), start=2):
        field = _misfit(row, path.stem)
        if field is not None:
            raise InputError(
                f"{row[field]!r} does not fit the rest of its row: copy the cell as printed",
                path=path,
                line=line,
                field=field,
            )
    require_unique(frame, ["parameters", "locator"], path)
    return frame


def _misfit(row: Mapping[str, object], patch: str) -> str | None:
    """Return the first field of a cell that contradicts the rest of its row."""
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


def require_unique(
    frame: pl.DataFrame, key: Sequence[str], path: Path, todo: str = "give each row once"
) -> None:
    """Refuse two rows with the same key, by its last column."""
    twins = frame.select(pl.struct(key).is_first_distinct().not_()).to_series().arg_true()
    if len(twins):
        row, field = twins[0], key[-1]
        raise InputError(
            f"{frame[field][row]!r} is given twice: {todo}", path=path, line=row + 2, field=field
        )


def _read_card(path: Path) -> list[object]:
    text = io.read_text(path)
    before, fence, rest = text.partition(_FENCE)
    front, closing, body = rest.partition("\n" + _FENCE)
    if before or not fence or not closing:
        raise InputError("a card starts with TOML between two lines of +++", path=path, line=1)
    fields = io.parse_toml(front, path, "its front matter is no TOML")
    fields |= {"patch": path.parent.name, "body": body.strip()}
    for column, dtype in tables.CARD.schema.items():
        empty = "[]" if isinstance(dtype, pl.List) else '"..."'
        if column not in fields:
            raise InputError(f"is missing: write {column} = {empty}", path=path, field=column)
        value = fields[column]
        fits = (
            isinstance(value, list) and all(isinstance(item, str) for item in value)
            if isinstance(dtype, pl.List)
            else isinstance(value, str) and value != ""
        )
        if not fits:
            raise InputError(f"{value!r} is no {dtype}", path=path, field=column)
    extra = sorted(fields.keys() - tables.CARD.schema.keys())
    if extra:
        raise InputError("no such field in a card: drop it", path=path, field=extra[0])
    return [fields[column] for column in tables.CARD.schema]


Row = tuple[str, float, str]
"""A metric, its value and its unit."""


def results(rows: pl.DataFrame | Sequence[Row], labels: Mapping[str, str | int]) -> pl.DataFrame:
    """Return rows as RESULTS, with the values of ``labels`` in the columns that they lack.

    Rows are a frame, which may have further columns of RESULTS, or of metric, value and unit. The
    source is "simulated" unless it is given.
    """
    if not isinstance(rows, pl.DataFrame):
        columns = {name: tables.RESULTS.schema[name] for name in ("metric", "value", "unit")}
        rows = pl.DataFrame(rows, schema=columns, orient="row")
    labelled = {"source": "simulated", **labels}
    frame = rows.with_columns(
        pl.lit(label).alias(name) for name, label in labelled.items() if name not in rows.columns
    )
    typed = [
        pl.col(name).cast(tables.RESULTS.schema[name])
        for name in tables.RESULTS.schema
        if name in frame.columns
    ]
    return tables.RESULTS.check(frame.select(typed))


def measured_results(experiment: str) -> pl.DataFrame:
    """Read the RESULTS of an experiment of data/measured; seed is the number of the round."""
    return read_table(_experiment(experiment) / "results.parquet", tables.RESULTS)


_FURTHER: Final = {"slots_in_use": tables.SLOTS_IN_USE, "lists": tables.REMOVED_LISTS}
"""Tables of some experiments, by the names of their files."""


def measured_table(experiment: str, name: str) -> pl.DataFrame:
    """Read a further table of an experiment, by its name in _FURTHER; not all have each."""
    path = _experiment(experiment) / f"{name}.parquet"
    if name not in _FURTHER or not path.exists():
        known = [each for each in _FURTHER if path.with_name(f"{each}.parquet").exists()]
        raise InputError(
            f"{experiment} has no table {name!r}; it has: {', '.join(known) or 'none'}",
            field="name",
        )
    return read_table(path, _FURTHER[name])


def measured_provenance(experiment: str) -> dict[str, Any]:
    """Return the provenance of an experiment: kernel, switches, config, command, date."""
    return io.read_toml(_experiment(experiment) / "measured.toml")


def _experiment(experiment: str) -> Path:
    known = io.shipped_measurements()
    if experiment not in known:
        raise InputError(
            f"no such experiment; there are: {', '.join(known) or 'none yet'}", field=experiment
        )
    return known[experiment]


ARCHIVE: Final = "https://lore.kernel.org/all/"
COMMITS: Final = "https://git.kernel.org/linus/"
ARTICLES: Final = "https://lwn.net/Articles/"
SHORT: Final = 12  # digits of a commit in our texts and in its address

_FORMS: Final = {
    "mail": (
        re.compile(r"[A-Za-z0-9.+=_-]+@[A-Za-z0-9.-]+"),
        "a message id: name@host without angle brackets",
    ),
    "commit": (
        re.compile(rf"[0-9a-f]{{{SHORT}}}([0-9a-f]{{28}})?"),
        "a commit: 12 or 40 hexadecimal digits",
    ),
    "article": (re.compile(r"[1-9][0-9]*"), "the number of an article"),
    "source": (re.compile(r"https://[^\s()<>\"|]+"), "an address that begins with https://"),
    "date": (re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"), "a day, as 2016-08-30"),
}
"""What the target of each kind, and the day of a mail, looks like: a pattern, and words."""


def misfit(kind: str, target: str) -> str | None:
    """Return what the target of a kind, or a date, has to be; None if it is that."""
    pattern, words = _FORMS[kind]
    return None if pattern.fullmatch(target) else words


def address(kind: str, target: str) -> str:
    """Return the address of a mail, commit, article or other source (LINK_KIND)."""
    if kind == "mail":
        return f"{ARCHIVE}{target}/"
    if kind == "commit":
        return f"{COMMITS}{target[:SHORT]}"
    return f"{ARTICLES}{target}/" if kind == "article" else target
