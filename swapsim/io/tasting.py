# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that nothing vouches for, decoded by another process before they are by this one."""

import atexit
import subprocess
import sys
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final

from swapsim.io.parquet import damaged

_TASTER: Final = [sys.executable, "-P", "-m", "swapsim.io.taster"]


def taste(data: bytes, path: Path | str) -> None:
    """Let the `taster` decode a Parquet file's bytes: it may die of them, this process must not.

    Not for bytes that were held to a sha256: those are what somebody once wrote.

    Parameters
    ----------
    data : bytes
    path : Path or str
        The file that they come from.

    Raises
    ------
    InputError
        They are no whole table.
    """
    if not _taster().approves(data):
        raise damaged(path)


class _Taster:
    """A process that is started when it is needed, anew if it died, and ends with this one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = Lock()
        atexit.register(self._end)

    def approves(self, data: bytes) -> bool:
        """Return whether these bytes are a table."""
        with self._one_at_a_time:
            try:
                return self._answer(data) == b"\1"
            except BaseException:
                # Half a question is asked.
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
            _TASTER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for this process: it ends the other one.
            start_new_session=True,
        )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


_taster = cache(_Taster)
