# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace folder: a table per event, and ``trace.toml``, which says where it comes from."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError

PROVENANCE: Final = "trace.toml"
"""The file beside the tables that says where a trace comes from."""


def provenance(folder: Path | str) -> dict[str, Any]:
    """Return what trace.toml says.

    Raises
    ------
    InputError
        There is no such folder, no trace.toml in it, or no TOML in that.
    """
    path = _folder(folder) / PROVENANCE
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            "a trace folder without provenance: import its text again, or write down "
            "where it comes from in trace.toml",
            path=path,
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is no TOML ({error}): mend it", path=path) from None
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}): check its rights", path=path
        ) from None


def events(folder: Path | str) -> pl.DataFrame:
    """Count the rows of each event.

    Returns
    -------
    polars.DataFrame
        ``event String, rows UInt64``, in order of name.

    Raises
    ------
    InputError
        The folder is none, or a table is not whole.
    """
    names = event_names(_folder(folder))
    return event_table({name: _height(Path(folder) / f"{name}.parquet") for name in names})


def scan_event(folder: Path | str, event: str) -> pl.LazyFrame:
    """Scan one event's table.

    Returns
    -------
    polars.LazyFrame
        EVENT_HEAD, then the event's own fields; one row per event, in trace order.

    Raises
    ------
    InputError
        The trace lacks the event (the message names those it has), its table is not whole, or the
        folder has no trace.toml.
    """
    provenance(folder)
    present = event_names(Path(folder))
    if event not in present:
        raise InputError(
            f"the trace has no event {event}; it has: {', '.join(present) or 'none'}", path=folder
        )
    path = Path(folder) / f"{event}.parquet"
    _height(path)
    return pl.scan_parquet(path, glob=False)


def event_table(rows: Mapping[str, int]) -> pl.DataFrame:
    """Return ``event String, rows UInt64``, in order of name."""
    return pl.DataFrame(
        {"event": sorted(rows), "rows": [rows[event] for event in sorted(rows)]},
        schema={"event": pl.String, "rows": pl.UInt64},
    )


def event_names(folder: Path) -> tuple[str, ...]:
    """Return the events of a trace folder, in order of name."""
    try:
        return tuple(sorted(path.stem for path in folder.glob("*.parquet")))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}): check its rights", path=folder
        ) from None


def _folder(folder: Path | str) -> Path:
    path = Path(folder)
    if not path.is_dir():
        raise InputError("no such trace folder: make one with 'swapsim import'", path=path)
    return path


def _height(path: Path) -> int:
    """Return a table's rows, as its footer says."""
    try:
        return int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError):
        raise InputError(
            "is not a whole Parquet table: import the trace again", path=path
        ) from None
