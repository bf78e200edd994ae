# SPDX-License-Identifier: GPL-2.0-or-later
"""Generate the cffi extension from the marked regions of the headers.

The API is written once, in ``include/swapsim``. Python sees the declarations between
``/* ffi: begin */`` and ``/* ffi: end */``, and ``sws_code_digests``: a line for each of their
names, with the digest of the code that was compiled for it.
"""

import re
import sys
from graphlib import TopologicalSorter
from pathlib import Path

from cffi import FFI
from code_digests import digests

CORELIB = Path(__file__).parent
INCLUDE = CORELIB / "include" / "swapsim"
REGION = re.compile(r"/\* ffi: begin \*/(.*?)/\* ffi: end \*/", re.DOTALL)
NAME = re.compile(r"\b(?:sws|SWS)_\w+")


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
    api = "\n".join(declarations(header) for header in headers())
    ffi.cdef(api + "\nextern const char sws_code_digests[];")
    includes = "\n".join(f'#include "swapsim/{header.name}"' for header in headers())
    ffi.set_source("swapsim._core", f"{includes}\n{digests_as_data(api)}")
    return ffi


def digests_as_data(api: str) -> str:
    """Return the C definition of ``sws_code_digests``."""
    names = sorted(set(NAME.findall(api)))
    lines = (f'\t"{name} {digest}\\n"' for name, digest in digests(CORELIB, names).items())
    return "\n".join(("const char sws_code_digests[] =", *lines, ";"))


if __name__ == "__main__":
    builder().emit_c_code(sys.argv[1])
