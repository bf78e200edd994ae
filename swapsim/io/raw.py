# SPDX-License-Identifier: GPL-2.0-or-later
"""The bytes of a file, and the SHA-256 that they are held to."""

import hashlib
from pathlib import Path

from swapsim.errors import InputError


def read_bytes(path: Path, sha256: str | None = None) -> bytes:
    """Return a file's bytes.

    Parameters
    ----------
    path : Path
    sha256 : str, optional
        In hexadecimal: what they must come to.

    Raises
    ------
    InputError
        There is no such file, it is none, or cannot be read; or its bytes are others.
    """
    try:
        if not path.is_file():
            _refuse(path)
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}): check its name and its rights", path=path
        ) from None
    except MemoryError:
        raise InputError("takes more memory than there is: read a smaller one", path=path) from None
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise InputError(
            "is not as it was written: its sha256 is another one; fetch it or make it again",
            path=path,
        )
    return data


def read_text(path: Path) -> str:
    """Return a file's text, without the mark that some editors and spreadsheets begin it with.

    Raises
    ------
    InputError
        As for `read_bytes`; or it is not UTF-8.
    """
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot be read as UTF-8 ({error}): mend it", path=path) from None


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file of any size, in hexadecimal.

    Raises
    ------
    OSError
        It cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse(path: Path) -> None:
    """Name what is no file: a pipe or a device may have no end."""
    if path.is_dir():
        raise InputError("is a folder: name a file in it", path=path)
    if path.exists():
        raise InputError("is no file that has an end: name one that has", path=path)
    raise InputError("no such file: check its name", path=path)
