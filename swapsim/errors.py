# SPDX-License-Identifier: GPL-2.0-or-later
"""The errors of swapsim, and the checks of a config that raise them.

Each message is one line: what is wrong, where, and what to do.
"""

from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from difflib import get_close_matches
from numbers import Integral, Real
from os import PathLike, fspath
from typing import Final


class SwapsimError(Exception):
    """A failure that swapsim foresees; its text is one line for a terminal."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback."""
        return [f"{type(self).__name__}: {self}"]


class InputError(SwapsimError, ValueError):
    """A file (path, line from 1), a field, a table or a setting that does not fit."""

    def __init__(
        self,
        message: str,
        *,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        where = [] if path is None else [fspath(path)]
        if line is not None:
            where.append(f"line {line}")
        if field is not None:
            where.append(f"field '{field}'")
        super().__init__(f"{', '.join(where)}: {message}" if where else message)
        self._parts = (message, path, line, field)

    def of(self, path: str | PathLike[str]) -> "InputError":
        """Return the same error, with this path if it has none yet."""
        message, known, line, field = self._parts
        return InputError(message, path=known or path, line=line, field=field)


class NativeError(SwapsimError):
    """The C library returned an unexpected error code."""


class NativeMemoryError(NativeError, MemoryError):
    """The C library ran out of memory."""


@contextmanager
def errors_of(path: str | PathLike[str]) -> Iterator[None]:
    """Name the file, or the trace, in an InputError that names none."""
    try:
        yield
    except InputError as error:
        raise error.of(path) from None


def require_some(given: Sized, field: str) -> None:
    """Raise an InputError that names the field if a collection of cases, fits or seeds is empty."""
    if not len(given):
        raise InputError("nothing to run: give at least one", field=field)


def check_number(
    name: str, value: object, low: int, high: int | None = None, why: str = ""
) -> None:
    """Require a whole number of at least `low`, and at most `high`; `why` ends the message."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(value) < low or (high is not None and int(value) > high):  # type: ignore[call-overload]
        what = f"{low}" if high == low else f"a whole number from {low} "
        if high != low:
            what += "on" if high is None else f"to {high}"
        raise InputError(f"{name}={value!r}: choose {what}{why}")


def check_share(name: str, value: object) -> None:
    """Require a number above 0 and up to 1."""
    if not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise InputError(f"{name}={value!r}: choose a number above 0 and up to 1")


def check_flag(name: str, value: object) -> None:
    """Require True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name}={value!r}: choose True or False")


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Require one of the choices."""
    if value not in (known := tuple(choices)):
        raise InputError(
            f"{name}={value!r}: {suggestion(value, known)}choose one of "
            f"{', '.join(map(str, known))}"
        )


_ALIKE: Final = 0.8  # least similarity of a name that is suggested (difflib's ratio)
_SHORTEST: Final = 3  # characters up to which a part of a name says too little of it


def suggestion(given: object, known: Iterable[object], most: int = 1) -> str:
    """Return "did you mean NAME? " with the known names near to a given one, or an empty text."""
    names = " or ".join(nearest(given, known, most))
    return f"did you mean {names}? " if names else ""


def nearest(given: object, known: Iterable[object], most: int = 1) -> list[str]:
    """Return the known names that are spelt like a given one, else those that contain it."""
    typed = _typed(given)
    spelt = {_typed(each): str(each) for each in known}
    near = get_close_matches(typed, spelt, most, _ALIKE) or [
        each for each in spelt if len(typed) > _SHORTEST and typed in each
    ]
    return [spelt[each] for each in near[:most]]


def _typed(name: object) -> str:
    """Return a name as it is compared: without capitals, and with dashes for underscores."""
    return str(name).lower().replace("_", "-")
