# SPDX-License-Identifier: GPL-2.0-or-later
r"""Store the results of a sweep in a folder, so that it continues after an interruption.

::

    FOLDER/sweep.toml                  which sweep it is
    FOLDER/batch-00003-SHA256.parquet  the rows of batch 3, under the hash of the file's bytes
    FOLDER/.batch-00004-SHA256.parquet.XYZ  being written, or left by a process that was killed

A batch is written under another name, flushed to the disk and then renamed, so that its file is
complete. A file whose hash is not that of its name is damaged: it is deleted, and its batch runs
again. A file that does not belong here is an error and stays as it is.
"""

import fcntl
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import io as swapsim_io
from swapsim.errors import InputError
from swapsim.io.paths import data_root
from swapsim.study.code import code_digest, fingerprint
from swapsim.traces.writer import toml_table
from swapsim.version import __version__

IDENTITY: Final = "sweep.toml"
_BATCH: Final = re.compile(r"batch-(\d{5,})-([0-9a-f]{64})\.parquet")
_PART: Final = re.compile(r"\.(sweep\.toml|batch-\d{5,}-[0-9a-f]{64}\.parquet)\.\w+")


def identity(
    task: Callable[..., object], points: Sequence[object], batch_points: int
) -> dict[str, str | int]:
    """Return what distinguishes a sweep from others."""
    function = task.func if isinstance(task, partial) else task
    arguments = (task.args, task.keywords) if isinstance(task, partial) else ((), {})
    tables = [path.read_bytes() for path in sorted(data_root().rglob("*.csv"))]
    return {
        "task": f"{function.__module__}.{function.__qualname__}",
        "arguments": fingerprint(arguments),
        "points": fingerprint(list(points)),
        "batch_points": batch_points,
        "swapsim": __version__,
        "code": fingerprint([code_digest(function), *tables]),
    }


def pack(frames: Sequence[pl.DataFrame], sweep: Mapping[str, str | int], number: int) -> bytes:
    """Return the file of a batch."""
    file = io.BytesIO()
    rows = json.dumps([frame.height for frame in frames])
    metadata = {"sweep": fingerprint(dict(sweep)), "batch": str(number), "rows": rows}
    try:
        pl.concat(frames).write_parquet(file, metadata=metadata)
    except pl.exceptions.PolarsError as error:
        line = " ".join(str(error).split())
        raise InputError(
            f"these results fit in no Parquet file ({line}): sweep without a folder"
        ) from None
    return file.getvalue()


def unpack(data: bytes, path: Path | str = "a batch") -> list[pl.DataFrame]:
    """Return the frames that `pack` was given."""
    rows = swapsim_io.decode(data, path)
    metadata = swapsim_io.decode_metadata(data, path)
    with swapsim_io.translate_errors(
        path, "does not say which rows are a point's", "move it out of its folder"
    ):
        heights = json.loads(metadata["rows"])
        firsts = [0, *accumulate(heights)]
        if any(height < 0 for height in heights) or firsts[-1] != rows.height:
            raise ValueError(f"{rows.height} rows")
        return [rows.slice(*part) for part in zip(firsts, heights, strict=False)]


class SweepFolder:
    """The folder of one sweep; `opened` makes it."""

    def __init__(self, folder: Path, sweep: Mapping[str, str | int]) -> None:
        self._folder = folder
        self._sweep = fingerprint(dict(sweep))

    def found(self) -> dict[int, list[pl.DataFrame]]:
        """Return the batches that are there, by number; delete the damaged ones."""
        batches = {}
        for path in sorted(self._folder.iterdir()):
            match = _BATCH.fullmatch(path.name)
            if not match:
                continue
            data = swapsim_io.read_bytes(path)
            if hashlib.sha256(data).hexdigest() != match[2]:
                path.unlink()
                continue
            number = int(match[1])
            self._check_origin(path, data, number)
            batches[number] = unpack(data, path)
        return batches

    def write(self, number: int, data: bytes) -> None:
        """Write the file of a batch atomically."""
        name = f"batch-{number:05d}-{hashlib.sha256(data).hexdigest()}.parquet"
        swapsim_io.write_atomically(self._folder / name, data)

    def _check_origin(self, path: Path, data: bytes, number: int) -> None:
        try:
            metadata = swapsim_io.decode_metadata(data, path)
        except InputError:
            metadata = {}
        if (metadata.get("sweep"), metadata.get("batch")) != (self._sweep, str(number)):
            raise InputError("it is of another sweep: move it out of this folder", path=path)


@contextmanager
def opened(folder: Path, sweep: Mapping[str, str | int]) -> Iterator[SweepFolder]:
    """Make a folder for a sweep, or continue with the one that is there."""
    if folder.exists() and not folder.is_dir():
        raise InputError("it is not a folder: choose another name", path=folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        _check_files(folder)
        if (folder / IDENTITY).exists():
            _check_identity(folder / IDENTITY, sweep)
        else:
            swapsim_io.write_atomically(folder / IDENTITY, toml_table("sweep", sweep).encode())
        for path in folder.iterdir():
            if _PART.fullmatch(path.name):
                path.unlink()
        yield SweepFolder(folder, sweep)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes; the kernel unlocks it when this one ends."""
    number = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("another sweep writes here: wait for it", path=folder) from None
        yield
    finally:
        os.close(number)


def _check_files(folder: Path) -> None:
    """Refuse a folder with other files than a sweep's; hidden ones do not count."""
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    for name in names:
        if IDENTITY not in names or not (name == IDENTITY or _BATCH.fullmatch(name)):
            raise InputError(
                "it is not a file of a sweep: choose another folder", path=folder / name
            )


def _check_identity(path: Path, sweep: Mapping[str, str | int]) -> None:
    try:
        there: dict[str, Any] = swapsim_io.read_toml(path)["sweep"]
        different = [name for name in sweep if there.get(name) != sweep[name]]
    except (InputError, KeyError, AttributeError):
        raise InputError(
            "it does not say which sweep this is: choose another folder, or delete this one",
            path=path,
        ) from None
    if different:
        raise InputError(
            f"the folder holds another sweep (different: {', '.join(different)}): "
            "choose another folder, or delete this one",
            path=path,
        )
