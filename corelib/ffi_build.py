# SPDX-License-Identifier: GPL-2.0-or-later
"""Generate the cffi extension from the marked regions of the headers.

The API is written once, in ``include/swapsim``. What stands between
``/* ffi: begin */`` and ``/* ffi: end */`` is what Python sees.
"""

import re
import sys
from pathlib import Path

from cffi import FFI

INCLUDE = Path(__file__).parent / "include" / "swapsim"
# A header comes after those that it includes.
HEADERS = (
    "core.h",
    "rtree.h",
    "mapping.h",
    "removal.h",
    "mapping_replay.h",
    "ftrace.h",
    "des.h",
    "slot_base.h",
    "slots.h",
    "slot_cache.h",
    "slot_replay.h",
    "slot_workbench.h",
    "machine.h",
)
REGION = re.compile(r"/\* ffi: begin \*/(.*?)/\* ffi: end \*/", re.DOTALL)


def declarations(header: str) -> str:
    """Return the marked regions of one header, joined in order."""
    text = (INCLUDE / header).read_text(encoding="utf-8")
    regions = REGION.findall(text)
    if not regions or text.count("ffi: begin") != len(regions):
        raise SystemExit(f"{header}: an 'ffi: begin' without its 'ffi: end'")
    return "\n".join(regions)


def builder() -> FFI:
    """Return the FFI that declares and compiles the whole API."""
    ffi = FFI()
    ffi.cdef("\n".join(declarations(header) for header in HEADERS))
    includes = "\n".join(f'#include "swapsim/{header}"' for header in HEADERS)
    ffi.set_source("swapsim._core", includes)
    return ffi


if __name__ == "__main__":
    builder().emit_c_code(sys.argv[1])
