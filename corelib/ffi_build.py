# SPDX-License-Identifier: GPL-2.0-or-later
"""Generate the cffi extension from the marked regions of the headers.

The API is written once, in ``include/swapsim``. What stands between
``/* ffi: begin */`` and ``/* ffi: end */`` is what Python sees. Beside it stands
``sws_code_digests``: a line for each of its names, with the digest of the code that
was compiled for it.
"""

import re
import sys
from pathlib import Path

from cffi import FFI
from code_digests import digests

CORELIB = Path(__file__).parent
INCLUDE = CORELIB / "include" / "swapsim"
# A header comes after those that it includes.
HEADERS = (
    "core.h",
    "kernels.h",
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
NAME = re.compile(r"\b(?:sws|SWS)_\w+")


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
    api = "\n".join(declarations(header) for header in HEADERS)
    ffi.cdef(api + "\nextern const char sws_code_digests[];")
    includes = "\n".join(f'#include "swapsim/{header}"' for header in HEADERS)
    ffi.set_source("swapsim._core", f"{includes}\n{digests_as_data(api)}")
    return ffi


def digests_as_data(api: str) -> str:
    """Return the C definition of ``sws_code_digests``."""
    names = sorted(set(NAME.findall(api)))
    lines = (f'\t"{name} {digest}\\n"' for name, digest in digests(CORELIB, names).items())
    return "\n".join(("const char sws_code_digests[] =", *lines, ";"))


if __name__ == "__main__":
    builder().emit_c_code(sys.argv[1])
