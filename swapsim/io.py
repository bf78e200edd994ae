# SPDX-License-Identifier: GPL-2.0-or-later
"""Files: where the laboratory's lie, how one is read, and how one is written.

Each failure to read one is a single line. The bytes of a file are read once, compared with their
SHA-256 where it is known, and decoded from memory, so that what was compared is what is decoded. An
output appears whole or not at all: it is written next to its place under a hidden name, and renamed
when complete.
"""

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Lock
from typing import IO, Any, Final

import polars as pl

from swapsim.errors import InputError, SwapsimError

PACKAGE: Final = Path(__file__).resolve().parent
_IN_WHEEL: Final = PACKAGE / "laboratory"  # data, patch cards and notebooks, in a wheel

_QUOTED: Final = 120
"""Characters of a library's message that are quoted; some libraries quote the file."""

_STRING: Final = re.compile(r"""\"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_PARTS: Final = 1000
"""Parts that a dotted key may have: the time that tomllib takes grows with their square."""

_TOO_LARGE: Final = "needs more memory than there is: read a smaller one"
_NO_TABLE: Final = "is not a complete Parquet table"
_MAKE_AGAIN: Final = "fetch it or make it again"


def laboratory_root() -> Path:
    """Return the folder of data, patches and notebooks: the checkout, or in a wheel the package."""
    return _IN_WHEEL if _IN_WHEEL.is_dir() else PACKAGE.parent


def repository_root() -> Path:
    """Return the checkout, in which files can be written and tests run."""
    if _IN_WHEEL.is_dir():
        raise InputError(
            "this needs the laboratory's checkout, but swapsim was installed from a wheel: "
            "run 'make setup' in a checkout",
            path=PACKAGE,
        )
    return PACKAGE.parent


def data_root() -> Path:
    """Return the folder of published tables, costs, traces and measurements."""
    return laboratory_root() / "data"


def patches_root() -> Path:
    """Return the folder of the patch cards."""
    return laboratory_root() / "patches"


def notebooks_root() -> Path:
    """Return the folder of the notebooks."""
    return laboratory_root() / "notebooks"


def sample_text() -> Path:
    """Return the short text of ftrace that comes with the laboratory."""
    return data_root() / "sample.txt"


def shipped_traces() -> dict[str, Path]:
    """Return the traces that come with the laboratory, by name, in order of name."""
    folders = sorted(path.parent for path in (data_root() / "traces").glob("*/trace.toml"))
    return {folder.name: folder for folder in folders}


def shipped_measurements() -> dict[str, Path]:
    """Return the experiments on a real kernel that come with the laboratory, by name, in order."""
    folders = sorted(path.parent for path in (data_root() / "measured").glob("*/measured.toml"))
    return {folder.name: folder for folder in folders}


@contextmanager
def translate_errors(
    path: Path | str, wrong: str, advice: str, *, quote: bool = False
) -> Iterator[None]:
    """Turn each failure of the body, a panic of polars too, into an InputError of one line."""
    try:
        yield
    except SwapsimError:
        raise
    except MemoryError:
        raise InputError(_TOO_LARGE, path=path) from None
    except (Exception, pl.exceptions.PanicException) as error:
        message = " ".join(str(error).split())[:_QUOTED]
        raise InputError(f"{wrong}{f' ({message})' * quote}: {advice}", path=path) from None


def read_bytes(path: Path, sha256: str | None = None) -> bytes:
    """Return the bytes of a regular file, which must have the digest `sha256` if that is given."""
    try:
        if not path.is_file():
            raise _not_a_file(path)
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}): check its name and its rights", path=path
        ) from None
    except MemoryError:
        raise InputError(_TOO_LARGE, path=path) from None
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise InputError(
            f"is not as it was written: its sha256 is another one; {_MAKE_AGAIN}", path=path
        )
    return data


def _not_a_file(path: Path) -> InputError:
    """Return the error for a path that is not a regular file: a device may never end."""
    if path.is_dir():
        return InputError("is a folder: name a file in it", path=path)
    if path.exists():
        return InputError("is a pipe or a device: name a regular file", path=path)
    return InputError("no such file: check its name", path=path)


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, without a byte order mark."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"cannot be read as UTF-8 ({error}): save it as UTF-8", path=path
        ) from None


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file of any size in hexadecimal; raise OSError if it fails."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; see `read_text` and `parse_toml`."""
    return parse_toml(read_text(path), path)


def parse_toml(text: str, path: Path, wrong: str = "is no TOML") -> dict[str, Any]:
    """Return the content of a TOML text, of the file `path`; an error says what is `wrong`."""
    bare = _STRING.sub("", text)
    if any(key.count(".") > _PARTS for key in re.split(r"[,=\[\]{}\n]", bare)):
        raise InputError(f"{wrong} (a key of more than {_PARTS} parts): fix it", path=path)
    with translate_errors(path, wrong, "fix it", quote=True):
        return tomllib.loads(text)


def _decoding(path: Path | str) -> AbstractContextManager[None]:
    return translate_errors(path, _NO_TABLE, _MAKE_AGAIN)


def decode(data: bytes, path: Path | str, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the table of a Parquet file's bytes; `path` is the file that an error names."""
    with _decoding(path):
        return pl.read_parquet(io.BytesIO(data), columns=None if columns is None else [*columns])


def decode_footer(data: bytes, path: Path | str) -> tuple[pl.Schema, int, dict[str, str]]:
    """Return the columns of a table, its number of rows, and what its writer stored with it."""
    with _decoding(path):
        rows = pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item()
        schema = pl.Schema(pl.read_parquet_schema(io.BytesIO(data)))
        return schema, int(rows), pl.read_parquet_metadata(io.BytesIO(data))


_VALIDATE: Final = """
import io, os, resource, sys
import polars
most = 2 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
while length := sys.stdin.buffer.read(8):
    data = sys.stdin.buffer.read(int.from_bytes(length, "little"))
    try:
        polars.read_parquet(io.BytesIO(data))
        answer = b"y"
    except (Exception, polars.exceptions.PanicException):
        answer = b"n"
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
"""
"""The process that tries files: their length (8 bytes) and bytes in, an answer out, until EOF."""

_trying = Lock()
_tries: "subprocess.Popen[bytes] | None" = None


def validate(data: bytes, path: Path | str) -> None:
    """Decode bytes without a known digest in another process, which a damaged file may end.

    Polars may panic in another thread, or request the memory of 2^61 rows that a file claims.
    """
    global _tries
    with _trying:
        if _tries is None:
            # A Ctrl-C reaches this process alone.
            _tries = subprocess.Popen(
                [sys.executable, "-P", "-c", _VALIDATE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        process, _tries, answer = _tries, None, b""  # an interrupt leaves no half-sent file
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(len(data).to_bytes(8, "little") + data)
            process.stdin.flush()
            answer = process.stdout.read(1)
        except BrokenPipeError:
            pass
        finally:
            if not answer:
                process.kill()
                process.communicate()
        if answer:
            _tries = process
    if answer != b"y":
        raise InputError(f"{_NO_TABLE}: {_MAKE_AGAIN}", path=path)


@contextmanager
def new_folder(output: Path) -> Iterator[Path]:
    """Yield a hidden folder that becomes `output` at the end, and is deleted on any failure."""
    if output.exists() or output.is_symlink():
        raise InputError("exists already: remove it or name another folder", path=output)
    made = None
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
        yield made
        made.chmod(0o777 & ~_umask())
        made.rename(output)
    except OSError as error:
        raise _unwritable(output, error) from None
    finally:
        if made is not None and made.exists():
            shutil.rmtree(made, ignore_errors=True)


@contextmanager
def atomic_file(output: Path) -> Iterator[IO[bytes]]:
    """Yield a hidden file that replaces `output` when it is on the disk; a failure deletes it."""
    made = None
    try:
        number, name = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
        made = Path(name)
        with os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        made.chmod(0o666 & ~_umask())
        made.replace(output)
    except OSError as error:
        raise _unwritable(output, error) from None
    finally:
        if made is not None:
            made.unlink(missing_ok=True)


def write_atomically(output: Path, data: bytes) -> None:
    """Write a file by `atomic_file`."""
    with atomic_file(output) as file:
        file.write(data)


def _unwritable(output: Path, error: OSError) -> InputError:
    # An error without a text of its own is that of shutil, a list of errors of several files.
    reason = error.strerror or "not all of its files could be copied"
    if not output.parent.is_dir():
        return InputError("its folder does not exist: create it first", path=output)
    return InputError(
        f"cannot be written ({reason}): check the folder's rights and the free space", path=output
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
