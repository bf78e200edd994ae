# SPDX-License-Identifier: GPL-2.0-or-later
"""Results that take long: kept in data/simulated, known by what decides them, held to a sample.

::

    data/simulated/NAME.parquet    the rows, and beside them in the file
        code     digest of the code that the result can reach, in Python and in C
        data     digest of the data that it reads
        rows     digest of the rows themselves: a file with a flipped bit is damaged

Config and seeds stand in the code of the result, which takes no arguments. Who asks for a result
gets what is kept, if code and data are still the same, and else makes it anew: what is stale is
never used. Each time a part of it is made anew, too, and has to come out the same, bit for bit.
"""

import hashlib
import io
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import polars as pl

from swapsim import __version__
from swapsim import io as swapsim_io
from swapsim.claims.published import published_claims, published_tables, tolerances
from swapsim.errors import InputError, SwapsimError
from swapsim.io.paths import data_root
from swapsim.study.code import code_digest
from swapsim.study.store import write_whole

FOLDER: Final = "simulated"

Shown = TypeVar("Shown")


def _as_it_is(rows: pl.DataFrame) -> pl.DataFrame:
    return rows


class Kept(Generic[Shown]):
    """A result without arguments that is kept; the decorator `kept` makes it of a function.

    Attributes
    ----------
    name : str
        Of its file, without the ending.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[bool], pl.DataFrame],
        sample: Callable[[pl.DataFrame, int], pl.DataFrame],
        reads: tuple[str, ...],
        patch: str | None,
        shown: Callable[[pl.DataFrame], Shown],
    ) -> None:
        self.name = name
        self.__doc__ = make.__doc__
        self._make = make
        self._sample = sample
        self._reads = reads
        self._patch = patch
        self._shown = shown

    @property
    def path(self) -> Path:
        """Where it is kept."""
        return data_root() / FOLDER / f"{self.name}.parquet"

    def __call__(self) -> Shown:
        """Return the result, say whether it is kept, and hold it to a part made anew.

        Raises
        ------
        SwapsimError
            The part comes out otherwise than it is kept.
        """
        whole, why = self._found()
        if whole is None:
            print(f"{self.name}: {why}: computed here")
            return self._shown(self.make(progress=True))
        rows = self.check(whole)
        print(f"{self.name}: {whole.height} stored rows; {rows} computed again here are identical")
        return self._shown(whole)

    def load(self) -> Shown:
        """Return the result as `rows` has it, and print nothing: for results that stand on it."""
        return self._shown(self.rows())

    def rows(self) -> pl.DataFrame:
        """Return the rows that are kept, or make them anew if those are stale."""
        whole, _ = self._found()
        return self.make() if whole is None else whole

    def stale(self) -> str | None:
        """Say in a few words why what is kept is not to be used; None if it is good."""
        whole, why = self._found()
        return why if whole is None else None

    def make(self, *, progress: bool = False) -> pl.DataFrame:
        """Make the rows anew, with a progress bar if asked for."""
        return self._make(progress)

    def check(self, whole: pl.DataFrame, pick: int = 0) -> int:
        """Make a part of the result anew and hold the whole to it.

        Parameters
        ----------
        whole : polars.DataFrame
            As `rows` returns it.
        pick : int
            Which part; any number.

        Returns
        -------
        int
            Rows of the part.

        Raises
        ------
        SwapsimError
            A row of the part is not in the whole, or there is none.
        """
        part = self._sample(whole, pick)
        known = {repr(row) for row in whole.rows()}
        other = [row for row in part.rows() if repr(row) not in known]
        if part.schema != whole.schema or other or not part.height:
            what = f"this row is new: {other[0]}" if other else f"it has the columns {part.schema}"
            raise SwapsimError(
                f"{self.path}: a part of it, made anew here, is not the same ({what}): "
                f"run 'swapsim simulate {self.name}' and look for what differs"
            )
        return part.height

    def renew(self, *, progress: bool = False) -> bool:
        """Make the rows anew and keep them, whole or not at all.

        Parameters
        ----------
        progress : bool
            Show a progress bar on stderr.

        Returns
        -------
        bool
            Whether the file has changed by that.

        Raises
        ------
        OSError
            The folder cannot be written.
        """
        # Read first: while the rows are made, somebody may edit the sources.
        made_of = {"code": code_digest(self._make), "data": self._data()}
        whole = self.make(progress=progress)
        file = io.BytesIO()
        metadata = {
            "result": self.name,
            "swapsim": __version__,
            **made_of,
            "rows": _digest_of_rows(whole),
        }
        whole.write_parquet(file, metadata=metadata)
        data = file.getvalue()
        if self.path.is_file() and self.path.read_bytes() == data:
            return False
        self.path.parent.mkdir(exist_ok=True)
        write_whole(self.path, data)
        return True

    def _found(self) -> tuple[pl.DataFrame | None, str]:
        """Return what is kept, or None and why it is not to be used."""
        try:
            data = swapsim_io.read_bytes(self.path)
            swapsim_io.taste(data, self.path)
            there = swapsim_io.decode_metadata(data, self.path)
            whole = swapsim_io.decode(data, self.path)
        except InputError:
            return None, "its file is damaged" if self.path.exists() else "not kept yet"
        if there.get("code") != code_digest(self._make):
            return None, "its code has changed"
        if there.get("data") != self._data():
            return None, "its data have changed"
        if there.get("rows") != _digest_of_rows(whole):
            return None, "its file is damaged"
        return whole, ""

    def _data(self) -> str:
        files = [path for name in self._reads for path in sorted(data_root().glob(name))]
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
        return _digest(digests + ([_published(self._patch)] if self._patch else []))


def kept(
    name: str,
    *,
    sample: Callable[[pl.DataFrame, int], pl.DataFrame],
    shown: Callable[[pl.DataFrame], Shown] = _as_it_is,  # type: ignore[assignment]
    reads: Iterable[str] = ("costs.csv",),
    patch: str | None = None,
) -> Callable[[Callable[[bool], pl.DataFrame]], Kept[Shown]]:
    """Make a kept result of a function.

    Parameters
    ----------
    name : str
        Of its file, without the ending: the patch's name first.
    sample : callable
        Of the whole and any number: makes the part anew that the number names, with the whole's
        columns. It is to take a second or two at most.
    shown : callable
        Makes of the rows what the result is called for; default: the rows.
    reads : iterable of str
        The files of data that the result is made of, as patterns.
    patch : str, optional
        Whose published rows it is made of, too. Another patch's come and go without a trace here.

    Returns
    -------
    callable
        Takes the function, which takes whether to show a progress bar. All that decides the result
        has to stand in its code, or in what this calls.
    """

    def of(make: Callable[[bool], pl.DataFrame]) -> Kept[Shown]:
        return Kept(name, make, sample, tuple(reads), patch, shown)

    return of


def picked(frame: pl.DataFrame, columns: Sequence[str], pick: int) -> tuple[Any, ...]:
    """Return one of the rows that these columns have: any number names one."""
    rows = frame.select(columns).unique(maintain_order=True)
    return rows.row(pick % rows.height)


@cache
def _published(patch: str) -> str:
    """Return the digest of what data/published holds of a patch."""
    claims = published_claims().filter(patch=patch)
    allowed = tolerances().join(claims, on="claim", how="semi", maintain_order="left")
    tables = (published_tables().filter(patch=patch), claims, allowed)
    return _digest(_digest_of_rows(table) for table in tables)


def _digest_of_rows(frame: pl.DataFrame) -> str:
    return _digest([*frame.columns, *(repr(row) for row in frame.iter_rows())])


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
