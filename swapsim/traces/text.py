# SPDX-License-Identifier: GPL-2.0-or-later
"""The bytes of a recording: from a file or standard input, decompressed, read ahead."""

import gzip
import io
import lzma
import re
import sys
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

import zstandard

from swapsim.errors import InputError
from swapsim.io import sample_text
from swapsim.progress import TextBar

CHUNK_BYTES: Final = 1 << 20
"""Size of a piece: large against the cost of a call, small enough for the CPU's caches."""

_AHEAD: Final = 4  # pieces that are made while the caller processes one

_GZIP, _XZ, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_SKIPPED: Final = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
"""A frame of zstd without text; pzstd begins with one."""

_BZIP2: Final = re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)")
"""A file of bzip2: its header, then its first block, or its end if it is empty."""

_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, zstandard.ZstdError)


_HEAD: Final = re.compile(rb"^# swapsim: (.*)$", re.MULTILINE)
"""A line of a text's head in which the recorder describes itself: NAME=VALUE, several times."""

SAMPLE: Final = "sample"
"""Name of the text that comes with the laboratory, where no file has this name."""


def located(source: Path | str) -> Path | str:
    """Return the path of a text, which may be the sample's name."""
    return sample_text() if str(source) == SAMPLE and not Path(SAMPLE).exists() else source


def name_of(source: Path | str) -> str:
    """Return the name of a text in messages."""
    return "standard input" if str(source) == "-" else str(source)


def head_of(start: bytes) -> dict[str, int | str]:
    """Return what a text says of its recorder in the comments before its first event."""
    comments = re.match(rb"(?:#.*\n)*", start)
    lines = _HEAD.findall(comments[0]) if comments else []
    words = [
        word.partition("=") for line in lines for word in line.decode("ascii", "replace").split()
    ]
    return {name: int(value) if value.isdecimal() else value for name, _, value in words}


@contextmanager
def chunks(
    source: Path | str, listener: Callable[[bytes], object], *, progress: bool = False
) -> Iterator[Iterator[bytes]]:
    """Open a text, "-" for standard input, and yield an iterator over its decompressed bytes."""
    with _opened(source) as raw, _bar(source, shown=progress) as bar:
        pieces = _pieces(raw, source, listener, bar)
        # A thread that waits for standard input would not end on Ctrl-C.
        with closing(pieces if str(source) == "-" else read_ahead(pieces)) as text:
            yield text


@contextmanager
def _opened(source: Path | str) -> Iterator[io.BufferedReader]:
    if str(source) == "-":
        yield cast(io.BufferedReader, sys.stdin.buffer)
        return
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(Path(source).open("rb"))
        except OSError as error:
            raise _unreadable(source, error) from None
        yield raw


def _unreadable(source: Path | str, error: OSError) -> InputError:
    why = error.strerror or error
    wanted = f"name a readable text, or '{SAMPLE}' for one of the laboratory"
    return InputError(f"cannot be read ({why}): {wanted}", path=name_of(source))


def _bar(source: Path | str, *, shown: bool) -> TextBar:
    known = str(source) != "-" and Path(source).is_file()
    return TextBar(
        total=Path(source).stat().st_size if known else None,
        desc="import",
        unit="B",
        unit_scale=True,
        disable=not shown,
    )


def _pieces(
    raw: io.BufferedReader, source: Path | str, listener: Callable[[bytes], object], bar: TextBar
) -> Generator[bytes, None, None]:
    try:
        plain = _unpacked(raw, source)
        while piece := plain.read(CHUNK_BYTES):
            listener(piece)
            yield piece
            if not bar.disable:
                bar.update(raw.tell() - bar.n if raw.seekable() else len(piece))
    except _DAMAGED as error:
        raise InputError(
            f"its compressed data are damaged or cut short ({error}): fetch it again",
            path=name_of(source),
        ) from None
    except OSError as error:
        raise _unreadable(source, error) from None


def _unpacked(raw: io.BufferedReader, source: Path | str) -> BinaryIO:
    """Choose a decompressor by the first bytes: a suffix may be wrong, and stdin has none."""
    start = raw.peek(16)
    if start.startswith(_GZIP):
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if start.startswith(_XZ):
        return cast(BinaryIO, lzma.LZMAFile(raw))
    if start.startswith(_ZSTD) or _SKIPPED.match(start):
        return cast(BinaryIO, _Zstd(raw))
    if _BZIP2.match(start):
        raise InputError("bzip2 is not read: use gz, xz or zst", path=name_of(source))
    suffix = Path(source).suffix
    if suffix in (".gz", ".xz", ".zst") and not start.isascii():
        raise InputError(
            f"its name ends in {suffix}, but it is not so compressed: fetch it again",
            path=name_of(source),
        )
    return raw


class _Zstd:
    """Reads zstd frames; unlike zstandard's own reader it reports a frame that is cut short."""

    # A run-length block of 4 bytes becomes 128 KiB: small reads bound the memory.
    _READ_BYTES = 1 << 12

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._packed = b""
        self._frame: zstandard.ZstdDecompressionObj | None = None

    def read(self, size: int) -> bytes:
        """Return about `size` bytes, and an empty result at the end."""
        parts: list[bytes] = []
        while size > 0:
            self._packed = self._packed or self._raw.read(self._READ_BYTES)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the last frame has no end")
                break
            if self._frame is None:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            part = self._frame.decompress(self._packed)
            self._packed = b""
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def read_ahead(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """Make the next pieces in a thread while the caller processes this one."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="read-ahead") as pool:
        coming = deque(pool.submit(next, pieces, None) for _ in range(_AHEAD))
        while (piece := coming.popleft().result()) is not None:
            coming.append(pool.submit(next, pieces, None))
            yield piece
