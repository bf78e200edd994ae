# SPDX-License-Identifier: GPL-2.0-or-later
"""Error codes of the C library as exceptions."""

from swapsim import interrupt
from swapsim._core import ffi, lib
from swapsim.errors import NativeError, NativeMemoryError


def check(code: int) -> None:
    """Raise the exception of a negative code, or a KeyboardInterrupt that Python dropped."""
    interrupt.check()
    if code == lib.SWS_OK:
        return
    kind = NativeMemoryError if code == lib.SWS_ERROR_NO_MEMORY else NativeError
    raise kind(ffi.string(lib.sws_strerror(code)).decode())
