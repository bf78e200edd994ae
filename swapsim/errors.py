# SPDX-License-Identifier: GPL-2.0-or-later
"""The errors of swapsim; each message is one line: what is wrong, where, and what to do."""

from collections.abc import Iterator, Sized
from contextlib import contextmanager
from pathlib import Path


class SwapsimError(Exception):
    """A failure that swapsim foresees; its text is one line for a terminal."""


class InputError(SwapsimError, ValueError):
    """A file (path, line from 1), a field or a table that does not fit.

    The message says what is wrong and what to do.
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
        self._parts = (message, path, line, field)

    def of(self, path: str | Path) -> "InputError":
        """Return the same error, with this path if it has none yet."""
        message, known, line, field = self._parts
        return InputError(message, path=known or path, line=line, field=field)


@contextmanager
def errors_of(path: str | Path) -> Iterator[None]:
    """Name the file, or the trace, in an InputError that names none."""
    try:
        yield
    except InputError as error:
        raise error.of(path) from None


class ConfigError(SwapsimError, ValueError):
    """A config field is out of its range; the message quotes field and value."""


class ArgumentError(ConfigError, TypeError):
    """An argument is of a wrong type, unknown or missing; the message has the remedy."""


class NativeError(SwapsimError):
    """The C library returned an unexpected error code."""


class NativeMemoryError(NativeError, MemoryError):
    """The C library ran out of memory."""


def require_some(given: Sized, field: str) -> None:
    """Raise an InputError that names the field if a collection of cases, fits or seeds is empty."""
    if not len(given):
        raise InputError("nothing to run: give at least one", field=field)
