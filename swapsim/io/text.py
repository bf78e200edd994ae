# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes, text and TOML of a file: each failure is one InputError that names the file."""

import hashlib
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError, SwapsimError

_QUOTED: Final = 120
"""Characters of a library's message that are quoted; some libraries quote the file."""

_STRING: Final = re.compile(r"""\"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_PARTS: Final = 1000
"""Parts that a dotted key may have: the time that tomllib takes grows with their square."""

_TOO_LARGE: Final = "needs more memory than there is: read a smaller one"


@contextmanager
def translate_errors(
    path: Path | str, wrong: str, advice: str, *, quote: bool = False
) -> Iterator[None]:
    """Turn each failure of the body into an InputError: file, what is `wrong`, and the `advice`.

    With `quote` it has the message of the library that failed. Panics of polars, which are not
    Exceptions, are translated, too; a SwapsimError and KeyboardInterrupt pass unchanged.
    """
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
            "is not as it was written: its sha256 is another one; fetch it or make it again",
            path=path,
        )
    return data


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
    """Return the content of a TOML text, of the file `path`; an error says what is `wrong` with it.

    A key of more than 1000 parts is an error, too.
    """
    bare = _STRING.sub("", text)
    if any(key.count(".") > _PARTS for key in re.split(r"[,=\[\]{}\n]", bare)):
        raise InputError(f"{wrong} (a key of more than {_PARTS} parts): fix it", path=path)
    with translate_errors(path, wrong, "fix it", quote=True):
        return tomllib.loads(text)


def _not_a_file(path: Path) -> InputError:
    """Return the error for a path that is not a regular file: a device may never end."""
    if path.is_dir():
        return InputError("is a folder: name a file in it", path=path)
    if path.exists():
        return InputError("is a pipe or a device: name a regular file", path=path)
    return InputError("no such file: check its name", path=path)
