# SPDX-License-Identifier: GPL-2.0-or-later
"""Parquet, decoded from memory, and validated in another process if its origin is unknown.

Polars checks little of a damaged file before it decodes it. It may panic in another thread: the
panic arrives as an error that is not an Exception, and writes to stderr. A file may also claim 2^61
rows; polars then requests that memory, and the process is killed. So bytes without a known digest
go to `validate` first.
"""

import atexit
import io
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final

import polars as pl

from swapsim.errors import InputError
from swapsim.io.text import translate_errors

_WRONG: Final = "is not a complete Parquet table"
_ADVICE: Final = "fetch it or make it again"
_VALIDATOR: Final = [sys.executable, "-P", "-m", "swapsim.io.validator"]


def decode(data: bytes, path: Path | str, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the table of a Parquet file's bytes; `path` is the file that an error names."""
    with _parquet(path):
        return pl.read_parquet(io.BytesIO(data), columns=None if columns is None else [*columns])


def decode_schema(data: bytes, path: Path | str) -> pl.Schema:
    """Return the columns of a table."""
    with _parquet(path):
        return pl.Schema(pl.read_parquet_schema(io.BytesIO(data)))


def decode_height(data: bytes, path: Path | str) -> int:
    """Return the number of rows of a table, as its footer states."""
    with _parquet(path):
        return int(pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item())


def decode_metadata(data: bytes, path: Path | str) -> dict[str, str]:
    """Return the metadata that the writer of a table stored in it."""
    with _parquet(path):
        return pl.read_parquet_metadata(io.BytesIO(data))


def validate(data: bytes, path: Path | str) -> None:
    """Decode a Parquet file's bytes in another process, so that they cannot end this one."""
    if not _validator().accepts(data):
        raise InputError(f"{_WRONG}: {_ADVICE}", path=path)


@contextmanager
def _parquet(path: Path | str) -> Iterator[None]:
    with translate_errors(path, _WRONG, _ADVICE):
        yield


class _Validator:
    """The validating process: started when needed, again if it died, and ended with this one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = Lock()
        atexit.register(self._end)

    def accepts(self, data: bytes) -> bool:
        with self._one_at_a_time:
            try:
                return self._answer(data) == b"\1"
            except BaseException:
                # A part of the bytes may have been sent.
                self._end()
                raise

    def _answer(self, data: bytes) -> bytes:
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(len(data).to_bytes(8, "little"))
            process.stdin.write(data)
            process.stdin.flush()
            answer = process.stdout.read(1)
        except BrokenPipeError:
            answer = b""
        if not answer:
            self._end()
        return answer

    def _start(self) -> "subprocess.Popen[bytes]":
        self._process = subprocess.Popen(
            _VALIDATOR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # A Ctrl-C reaches this process alone, which ends the other one.
            start_new_session=True,
        )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


_validator = cache(_Validator)
