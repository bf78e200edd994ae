# SPDX-License-Identifier: GPL-2.0-or-later
"""What the C library says of itself, so that nobody types it again."""

from collections.abc import Callable
from functools import cache

from swapsim._core import ffi, lib


def names(name_of: Callable[[int], object]) -> tuple[str, ...]:
    """Read an enum's names.

    Parameters
    ----------
    name_of : callable
        A function of the library that gives the name of 0, 1, 2 ... and NULL past the last.

    Returns
    -------
    tuple of str
        Each name's index is the value of its C constant.
    """
    found: list[str] = []
    while (name := name_of(len(found))) != ffi.NULL:
        found.append(ffi.string(name).decode())
    return tuple(found)


@cache
def kernels() -> tuple[str, ...]:
    """All kernels that some mechanism follows, in order of age: ``enum sws_kernel``."""
    return names(lib.sws_kernel_name)


def known_kernels(knows: Callable[[int], bool]) -> tuple[str, ...]:
    """Those that one mechanism follows, such as ``lib.sws_slots_knows``."""
    return tuple(name for number, name in enumerate(kernels()) if knows(number))
