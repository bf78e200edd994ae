# SPDX-License-Identifier: GPL-2.0-or-later
"""Generate the cffi extension from the marked regions of the headers.

The API is written once, in ``include/swapsim``. What stands between
``/* ffi: begin */`` and ``/* ffi: end */`` is what Python sees.
"""

import re
import sys
from graphlib import TopologicalSorter
from pathlib import Path

from cffi import FFI

INCLUDE = Path(__file__).parent / "include" / "swapsim"
REGION = re.compile(r"/\* ffi: begin \*/(.*?)/\* ffi: end \*/", re.DOTALL)


def headers() -> list[Path]:
    """Return all headers, each after those that it includes."""
    paths = {path.name: path for path in sorted(INCLUDE.glob("*.h"))}
    included = {
        name: re.findall(r'#include "swapsim/(.+)"', path.read_text(encoding="utf-8"))
        for name, path in paths.items()
    }
    return [paths[name] for name in TopologicalSorter(included).static_order()]


def declarations(header: Path) -> str:
    """Return the marked regions of one header, joined in order."""
    text = header.read_text(encoding="utf-8")
    regions = REGION.findall(text)
    if not regions or text.count("ffi: begin") != len(regions):
        raise SystemExit(f"{header.name}: an 'ffi: begin' without its 'ffi: end'")
    return "\n".join(regions)


def builder() -> FFI:
    """Return the FFI that declares and compiles the whole API."""
    ffi = FFI()
    ffi.cdef("\n".join(declarations(header) for header in headers()))
    includes = "\n".join(f'#include "swapsim/{header.name}"' for header in headers())
    ffi.set_source("swapsim._core", includes)
    return ffi


if __name__ == "__main__":
    builder().emit_c_code(sys.argv[1])
