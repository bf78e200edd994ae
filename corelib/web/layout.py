# SPDX-License-Identifier: GPL-2.0-or-later
"""Describe the C core for JavaScript: what the models of swapsim/live use of it.

The models name functions, structs, enums and constants of the headers. This module computes the
layout that these have in WebAssembly with 32-bit pointers from the declarations that cffi parses.
`assertions` returns it as C, so that the compiler refuses a layout that is not its own.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import ffi_build
from cffi import FFI

LIVE = Path(__file__).parents[2] / "swapsim" / "live"
POINTER = 4
SIZES = {"pointer": POINTER, "bool": 1}
KINDS = {"char": "u8", "_Bool": "bool", "int": "i32", "size_t": "u32"}
COMMENT = re.compile(r"//.*")
PROTOTYPE = re.compile(r"^(\w[\w ]*[ *])(sws_\w+)\(([^;]*)\);", re.MULTILINE)

Layout = dict[str, Any]


def sources() -> list[Path]:
    """Return the JavaScript that uses the core."""
    return [LIVE / "core.js", *sorted((LIVE / "models").glob("*.js"))]


def used() -> set[str]:
    """Return the names of the C core in the code of these sources, without prefixes of names."""
    code = [COMMENT.sub("", path.read_text(encoding="utf-8")) for path in sources()]
    return {name for text in code for name in ffi_build.NAME.findall(text) if name[-1] != "_"}


def layout(names: Iterable[str]) -> Layout:
    """Return the functions, structs, enums and constants of these names, and their structs."""
    api = "\n".join(map(ffi_build.declarations, ffi_build.headers()))
    ffi = FFI()
    ffi.cdef(api)
    prototypes = {name: (result, given) for result, name, given in PROTOTYPE.findall(api)}
    constants = ffi.dlopen(None)
    made: Layout = {"functions": {}, "structs": {}, "enums": {}, "constants": {}}
    for name in sorted(names):
        if name in prototypes:
            result, given = prototypes[name]
            kind = ffi.typeof(f"{result}(*)({given})")
            made["functions"][name] = [
                _result(kind.result, made["structs"]),
                *(_kind(each, made["structs"]) for each in kind.args),
            ]
        if name.startswith("SWS_"):
            made["constants"][name] = getattr(constants, name)
        if f"struct {name} {{" in api:
            _kind(ffi.typeof(f"struct {name}"), made["structs"])
        if f"enum {name} {{" in api:
            made["enums"][name] = ffi.typeof(f"enum {name}").elements
    return made


def assertions(made: Layout) -> str:
    """Return C that compiles if the structs have this layout."""
    lines = ["#include <stddef.h>"]
    lines += [f'#include "swapsim/{header.name}"' for header in ffi_build.headers()]
    for name, struct in made["structs"].items():
        lines.append(f'_Static_assert(sizeof(struct {name}) == {struct["size"]}, "{name}");')
        for field, (offset, kind, count) in struct["fields"].items():
            size = count * _size(kind, made["structs"])
            lines.append(
                f"_Static_assert(offsetof(struct {name}, {field}) == {offset} && "
                f'sizeof(((struct {name} *)0)->{field}) == {size}, "{name}.{field}");'
            )
    return "\n".join(lines) + "\n"


def _result(kind: Any, structs: Layout) -> str:
    """Return the kind of a result: `int` is an error code, and text is read."""
    if kind.cname == "int":
        return "error"
    return "text" if kind.cname == "char *" else _kind(kind, structs)


def _kind(kind: Any, structs: Layout) -> str:
    if kind.kind == "struct":
        name = str(kind.cname.removeprefix("struct "))
        if name not in structs:
            structs[name] = _struct(kind, structs)
        return name
    if kind.kind in ("pointer", "function", "array"):
        return "pointer"
    if kind.kind == "enum":
        return "i32"
    name = kind.cname
    return KINDS.get(name) or name.replace("uint", "u").replace("int", "i").removesuffix("_t")


def _struct(kind: Any, structs: Layout) -> Layout:
    end, alignment, fields = 0, 1, {}
    for name, field in kind.fields:
        item, count = field.type, 1
        while item.kind == "array":
            item, count = item.item, count * item.length
        found = _kind(item, structs)
        align = _alignment(found, structs)
        start = -(-end // align) * align
        end, alignment = start + count * _size(found, structs), max(alignment, align)
        fields[name] = [start, found, count]
    return {"size": -(-end // alignment) * alignment, "alignment": alignment, "fields": fields}


def _size(kind: str, structs: Layout) -> int:
    return structs[kind]["size"] if kind in structs else SIZES.get(kind) or int(kind[1:]) // 8


def _alignment(kind: str, structs: Layout) -> int:
    return structs[kind]["alignment"] if kind in structs else _size(kind, structs)
