# SPDX-License-Identifier: GPL-2.0-or-later
"""What the C core was made of: a digest of the code behind each of its names."""

from functools import cache

from swapsim._core import ffi, lib


@cache
def digests() -> dict[str, str]:
    """Return the digest of each name of the API, as it was compiled in with the code itself.

    It speaks of the core that runs, whatever has become of its sources since then.
    """
    lines = ffi.string(lib.sws_code_digests).decode().splitlines()
    return dict(line.split() for line in lines)
