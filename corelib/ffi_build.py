# SPDX-License-Identifier: GPL-2.0-or-later
"""Generate the cffi extension from the marked regions of the headers.

The API is written once, in ``include/swapsim``. Python sees the declarations between
``/* ffi: begin */`` and ``/* ffi: end */``, and a text, ``sws_comments``: a line for each
enumerator and each field of a struct, with the comment above it.
"""

import json
import re
import sys
from graphlib import TopologicalSorter
from pathlib import Path

from cffi import FFI

CORELIB = Path(__file__).parent
INCLUDE = CORELIB / "include" / "swapsim"
REGION = re.compile(r"/\* ffi: begin \*/(.*?)/\* ffi: end \*/", re.DOTALL)
NAME = re.compile(r"\b(?:sws|SWS)_\w+")
STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.DOTALL | re.MULTILINE)
ENUM = re.compile(r"^enum (\w+) \{\n(.*?)^\};", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"(?:/\*(.*?)\*/\s*)?[^;/]*?(\w+)(?:\[\w*\])*;", re.DOTALL)
ENUMERATOR = re.compile(r"(?:/\*(.*?)\*/\s*)?(SWS_\w+)[^,/]*,", re.DOTALL)


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
    ffi.cdef(f"{api}\nextern const char sws_comments[];")
    includes = "\n".join(f'#include "swapsim/{header.name}"' for header in headers())
    ffi.set_source("swapsim._core", f"{includes}\n{comments_as_data(api)}")
    return ffi


def comments(api: str) -> dict[str, str]:
    """Return the comment of each enumerator and field; one without has that of the one above."""
    found = {}
    for pattern, member in ((STRUCT, FIELD), (ENUM, ENUMERATOR)):
        for name, body in pattern.findall(api):
            above = ""
            for comment, each in member.findall(body):
                above = (
                    " ".join(re.sub(r"^\s*\*", "", comment, flags=re.MULTILINE).split()) or above
                )
                found[f"{name}.{each}" if pattern is STRUCT else each] = above
    return found


def comments_as_data(api: str) -> str:
    """Return the C definition of ``sws_comments``."""
    lines = (
        "\t" + json.dumps(f"{name}\t{comment}\n", ensure_ascii=False)
        for name, comment in comments(api).items()
    )
    return "\n".join(("const char sws_comments[] =", *lines, ";"))


if __name__ == "__main__":
    builder().emit_c_code(sys.argv[1])
