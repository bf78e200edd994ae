# SPDX-License-Identifier: GPL-2.0-or-later
"""One family of errors; each message is one line: what, where, what to do."""

from collections.abc import Sized
from pathlib import Path


class SwapsimError(Exception):
    """Any failure that swapsim foresees; its text is one line fit for a terminal."""


class InputError(SwapsimError, ValueError):
    """Bad input: a file, a line, a field or a table that does not fit.

    Parameters
    ----------
    message : str
        What is wrong and what to do.
    path : str or Path, optional
        The file at fault.
    line : int, optional
        Its line, from 1.
    field : str, optional
        The field or column at fault.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        where = [] if path is None else [str(path)]
        if line is not None:
            where.append(f"line {line}")
        if field is not None:
            where.append(f"field '{field}'")
        super().__init__(f"{', '.join(where)}: {message}" if where else message)
        self._said = (message, path, line, field)

    def of(self, path: str | Path) -> "InputError":
        """Return the same error, of this file if it does not name one yet."""
        message, known, line, field = self._said
        return InputError(message, path=known or path, line=line, field=field)


class ConfigError(SwapsimError, ValueError):
    """A config field is out of its range; the message quotes field and value."""


class NativeError(SwapsimError):
    """The C library returned a code that its caller could not foresee."""


class NativeMemoryError(NativeError, MemoryError):
    """The C library ran out of memory."""


def require_some(given: Sized, field: str) -> None:
    """Refuse to run over nothing.

    Parameters
    ----------
    given : sized
        Cases, fits, seeds: what a function runs over.
    field : str
        Its name.

    Raises
    ------
    InputError
        There is none.
    """
    if not len(given):
        raise InputError("nothing to run: give at least one", field=field)
