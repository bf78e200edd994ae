# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies: results that take long, stored in data/simulated together with what decides them.

::

    data/simulated/NAME.parquet    the rows, and in the file's metadata
        code     digest of the settings and of all code that they reach, in Python and in C
        data     digest of the data that it reads
        rows     digest of the rows: a file with a flipped bit is damaged

A caller of a study gets the stored rows if code and data are still the same; otherwise they are
computed. `make test` proves each study once: a sample is computed again, which has to be the same,
bit for bit.
"""

import hashlib
import io
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import polars as pl

from swapsim import io as swapsim_io
from swapsim.checks import checked
from swapsim.errors import ConfigError, InputError, SwapsimError
from swapsim.io.paths import data_root
from swapsim.study.code import code_digest
from swapsim.study.processes import SerialExecutor
from swapsim.study.sweep import table
from swapsim.version import __version__

FOLDER: Final = "simulated"

_READ: Final[dict[str, int]] = {}
"""Numbers of rows by the names of the studies whose stored rows were used since the last recap."""

Reduce = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Recap:
    """A line on the studies that a notebook read."""

    text: str

    def __repr__(self) -> str:
        """Return the line for a terminal."""
        return self.text

    def _repr_html_(self) -> str:
        return f'<p class="stored"><small>{escape(self.text, quote=False)}</small></p>'


def recap() -> Recap:
    """Return a line on the studies whose stored rows were used since the last recap."""
    names = ", ".join(f"{name} ({rows:,} rows)" for name, rows in _READ.items())
    _READ.clear()
    if not names:
        return Recap("Stored results: none.")
    return Recap(
        f"Stored results: {names}. By their fingerprints, the present code and data made them; "
        "'make test' computes a sample of each again."
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study:
    """A result that takes long to compute: its points, what runs one, what is made of their rows.

    Parameters
    ----------
    name : str
        Name of the file without its ending; it starts with the name of the patch.
    points : sequence or callable
        Plain data, or a function without arguments that returns them.
    run : callable
        Takes a point and returns its rows, in any process.
    reduce : callable, optional
        Makes the stored rows of those of all points, each group apart; it may sort. It needs
        ``group`` or ``sample``.
    group : callable, optional
        Returns the group of a point, whose rows stand next to each other; default: each point is
        one. A sample is one group.
    quick : callable, optional
        Whether a point may be in a sample, which takes at most about one second of CPU time.
    sample : callable, optional
        Takes the stored rows and any number, and computes again the part that the number selects:
        for studies whose points take too long.
    reads : tuple
        Data that decide the result: patterns of file names in data, or functions that return
        frames.
    """

    name: str
    points: Sequence[Any] | Callable[[], Sequence[Any]]
    run: Callable[[Any], pl.DataFrame]
    reduce: Reduce | None = None
    group: Callable[[Any], object] | None = None
    quick: Callable[[Any], bool] | None = None
    sample: Callable[[pl.DataFrame, int], pl.DataFrame] | None = None
    reads: tuple[str | Callable[[], Iterable[pl.DataFrame]], ...]

    def __post_init__(self) -> None:
        """Check that a sample can be taken."""
        if self.reduce and not (self.group or self.sample):
            raise ConfigError(
                f"study {self.name!r} reduces its rows and has no sample: give group= or sample="
            )

    @property
    def path(self) -> Path:
        """The file that stores the result."""
        return data_root() / FOLDER / f"{self.name}.parquet"

    def __call__(self) -> pl.DataFrame:
        """Return the stored rows, which `recap` then names, or compute them if those are stale."""
        rows, why = self._stored()
        if rows is None:
            print(f"{self.name}: {why}: computed here")
            return self.compute(progress=True)
        _READ[self.name] = rows.height
        return rows

    def load(self) -> pl.DataFrame:
        """Return the rows as a call does, for other studies: `recap` does not name them."""
        rows, why = self._stored()
        if rows is None:
            print(f"{self.name}: {why}: computed here", file=sys.stderr)
            return self.compute()
        return rows

    def stale(self) -> str | None:
        """Return in a few words why the stored rows cannot be used; None if they can."""
        rows, why = self._stored()
        return why if rows is None else None

    def compute(
        self,
        *,
        executor: Executor | None = None,
        progress: bool = False,
        folder: Path | str | None = None,
    ) -> pl.DataFrame:
        """Compute the rows; the parameters are those of `study.run`."""
        how = partial(table, executor=executor, progress=progress, folder=folder)
        return self._of_points(self._points(), how)

    def check(self, rows: pl.DataFrame, pick: int = 0) -> int:
        """Compute the sample that a number selects, compare it with the rows, return its height.

        A SwapsimError says that its rows are not among the rows next to each other, or that it has
        none.
        """
        part = self._sample(rows, pick)
        if part.height and part.schema == rows.schema and _text(part) in _text(rows):
            return part.height
        known = set(map(repr, rows.iter_rows()))
        other = [row for row in part.iter_rows() if repr(row) not in known]
        what = f"this row is new: {other[0]}" if other else f"{part.height} rows, {part.schema}"
        raise SwapsimError(
            f"{self.path}: a sample that was computed again is not the same ({what}): "
            f"run 'swapsim simulate {self.name}' and look for what differs"
        )

    def update(self, *, folder: Path | None = None, progress: bool = False) -> bool:
        """Compute the rows, store them, and return whether the file has changed.

        The rows of each point are stored in `folder` at once: an update that was interrupted
        continues there, as long as code and data are the same.
        """
        # Read first: the sources may be edited while the rows are computed.
        decides = self._decides()
        points = folder and folder / self.name / _digest(decides.values())[:16]
        return self.store(self.compute(progress=progress, folder=points), decides)

    def store(self, rows: pl.DataFrame, decides: dict[str, str] | None = None) -> bool:
        """Store rows as those of the current code and data; return whether the file has changed."""
        metadata = {
            "result": self.name,
            "swapsim": __version__,
            **(self._decides() if decides is None else decides),
            "rows": _digest_of(rows),
        }
        file = io.BytesIO()
        rows.write_parquet(file, metadata=metadata)
        data = file.getvalue()
        if self.path.is_file() and self.path.read_bytes() == data:
            return False
        self.path.parent.mkdir(exist_ok=True)
        swapsim_io.write_atomically(self.path, data)
        return True

    def _stored(self) -> tuple[pl.DataFrame | None, str]:
        """Return the stored rows, or None and why they cannot be used."""
        try:
            data = swapsim_io.read_bytes(self.path)
            swapsim_io.validate(data, self.path)
            metadata = swapsim_io.decode_metadata(data, self.path)
            rows = swapsim_io.decode(data, self.path)
        except InputError:
            return None, "its file is damaged" if self.path.exists() else "not stored yet"
        for what, digest in self._decides().items():
            if metadata.get(what) != digest:
                return None, f"its {what} {'has' if what == 'code' else 'have'} changed"
        if metadata.get("rows") != _digest_of(rows):
            return None, "its file is damaged"
        return rows, ""

    def _decides(self) -> dict[str, str]:
        """Return the digests of code and data that decide the result."""
        parts = (self.points, self.run, self.reduce)
        settings = [_setting(part) for part in parts]
        data: list[str] = []
        for source in self.reads:
            if callable(source):
                data += map(_digest_of, source())
            else:
                files = sorted(data_root().glob(source))
                if not files:
                    raise ConfigError(
                        f"study {self.name!r} reads {source!r}, but no file in {data_root()} has "
                        "such a name: a change of its data would not be noticed"
                    )
                data += [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
        return {"code": _digest([code_digest(*parts), *settings]), "data": _digest(data)}

    def _points(self) -> Sequence[Any]:
        return self.points() if callable(self.points) else self.points

    def _of_points(self, points: Sequence[Any], how: Callable[..., pl.DataFrame]) -> pl.DataFrame:
        rows = how(self.run, points, batch_points=1)
        return rows if self.reduce is None else self.reduce(rows)

    def _sample(self, rows: pl.DataFrame, pick: int) -> pl.DataFrame:
        if self.sample is not None:
            return self.sample(rows, pick)
        points = [each for each in self._points() if self.quick is None or self.quick(each)]
        groups = [self.group(each) if self.group else n for n, each in enumerate(points)]
        distinct = list(dict.fromkeys(groups))
        chosen = distinct[pick % len(distinct)]
        own = [each for each, group in zip(points, groups, strict=True) if group == chosen]
        return self._of_points(own, partial(table, executor=SerialExecutor()))


@checked
def picked(rows: pl.DataFrame, columns: Sequence[str], pick: int) -> tuple[Any, ...]:
    """Return one of the distinct rows of some columns; any number selects one."""
    distinct = rows.select(columns).unique(maintain_order=True)
    return distinct.row(pick % distinct.height)


def _setting(part: object) -> str:
    """Return plain data as text, a function as its name and a partial as both."""
    if isinstance(part, partial):
        given = [*part.args, *part.keywords.items()]
        return f"{_setting(part.func)}({', '.join(map(_setting, given))})"
    if type(part) is tuple:
        return f"({', '.join(map(_setting, part))})"
    return str(part.__name__) if isinstance(part, FunctionType | type) else repr(part)


def _text(rows: pl.DataFrame) -> str:
    """Return a line per row, between line ends: each float to its last bit."""
    return "\n".join(["", *(repr(row) for row in rows.iter_rows()), ""])


def _digest_of(rows: pl.DataFrame) -> str:
    return _digest([*rows.columns, _text(rows)])


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
