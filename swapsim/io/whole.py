# SPDX-License-Identifier: GPL-2.0-or-later
"""What we write appears whole or not at all: it is made beside its place, under a hidden name."""

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
    """Yield a hidden folder that becomes `output` on leaving, or vanishes on any failure.

    Raises
    ------
    InputError
        The output exists, or cannot be written.
    """
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
def whole_file(output: Path) -> Iterator[IO[bytes]]:
    """Yield a hidden file that replaces `output` on leaving, or vanishes on any failure.

    Raises
    ------
    InputError
        It cannot be written.
    """
    made = None
    try:
        number, name = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
        made = Path(name)
        with os.fdopen(number, "wb") as file:
            yield file
        made.chmod(0o666 & ~_umask())
        made.replace(output)
    except OSError as error:
        raise _unwritable(output, error) from None
    finally:
        if made is not None:
            made.unlink(missing_ok=True)


def _unwritable(output: Path, error: OSError) -> InputError:
    # Without a word of its own it is many errors: of shutil, one for each file of a folder.
    reason = error.strerror or "not all of its files could be copied"
    return InputError(
        f"cannot be written ({reason}): check the folder's rights and the free space",
        path=output,
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
