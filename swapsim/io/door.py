# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever a library throws at a file that it cannot read, as one error of ours."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from polars.exceptions import PanicException

from swapsim.errors import InputError, SwapsimError

_Asked = ParamSpec("_Asked")
_Read = TypeVar("_Read")

_WORDS: Final = 120
"""Letters that a library may have its say in: some quote the file."""


@contextmanager
def door(path: Path | str, wrong: str, advice: str, *, quote: bool = False) -> Iterator[None]:
    """Turn any failure inside into an InputError that names the file.

    Parameters
    ----------
    path : Path or str
        The file that is read inside.
    wrong, advice : str
        What is wrong with it if a library fails on it, and what to do.
    quote : bool
        Say what the library said, too.

    Raises
    ------
    InputError
        Something failed: a panic of polars, which is no Exception, too. Errors of ours, and
        Ctrl-C, pass as they are.
    """
    try:
        yield
    except SwapsimError:
        raise
    except MemoryError:
        raise InputError("takes more memory than there is: read a smaller one", path=path) from None
    except (Exception, PanicException) as error:
        said = " ".join(str(error).split())[:_WORDS]
        raise InputError(f"{wrong}{f' ({said})' * quote}: {advice}", path=path) from None


def careful(
    wrong: str, advice: str
) -> Callable[[Callable[_Asked, _Read]], Callable[_Asked, _Read]]:
    """Send a function that reads the file of its first argument through the `door`.

    Parameters
    ----------
    wrong, advice : str
        As for `door`.

    Returns
    -------
    callable
        Takes the function.
    """

    def sent(read: Callable[_Asked, _Read]) -> Callable[_Asked, _Read]:
        @wraps(read)
        def through(*asked: _Asked.args, **named: _Asked.kwargs) -> _Read:
            with door(str(asked[0]), wrong, advice, quote=True):
                return read(*asked, **named)

        return through

    return sent


def or_none(
    *errors: type[Exception],
) -> Callable[[Callable[_Asked, _Read]], Callable[_Asked, _Read | None]]:
    """Let a function return None where it would raise one of these errors.

    Returns
    -------
    callable
        Takes the function.
    """

    def sent(read: Callable[_Asked, _Read]) -> Callable[_Asked, _Read | None]:
        @wraps(read)
        def tried(*asked: _Asked.args, **named: _Asked.kwargs) -> _Read | None:
            try:
                return read(*asked, **named)
            except errors:
                return None

        return tried

    return sent
