# SPDX-License-Identifier: GPL-2.0-or-later
"""Atomic output: it is written next to its place under a hidden name, and renamed when complete."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from swapsim.errors import InputError


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
    """Yield a hidden file that replaces `output` at the end, and is deleted on any failure.

    File and name are on the disk before this returns, so that they survive a power failure.
    """
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
        _sync_folder(output.parent)
    except OSError as error:
        raise _unwritable(output, error) from None
    finally:
        if made is not None:
            made.unlink(missing_ok=True)


def write_atomically(output: Path, data: bytes) -> None:
    """Write a file by `atomic_file`."""
    with atomic_file(output) as file:
        file.write(data)


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


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
