# SPDX-License-Identifier: GPL-2.0-or-later
"""Compute digests of what decides a result: of code in Python and C, and of plain data.

A stored result is valid as long as the code that computed it is the same. Sources are read as the
compiler reads them, because a comment changes a file's bytes and another Python its bytecode::

    a statement at the top of a module, as its syntax tree
        without    docstrings, comments, annotations, texts of errors, meanings of columns
        a name     of a module of ours is the name alone, whatever module binds it,
                   and leads to the statement that does
        lib.NAME   leads to the digest that was compiled into the C core for this name

The digest is that of the set of all statements reached, so that moving one changes nothing. Too
much is followed rather than too little: a function's variable with the name of a module counts as
the module. Syntax trees of Python 3.11 to 3.13 differ in fields that are empty and in how an
f-string is cut; both are evened out.

Code that cannot change a result is not followed: the engine of studies, the reading of files
(their content is in the digest of the data), progress, interrupts, errors and checks, also those of
ranges.

A coarser digest costs reruns: of 5,159 pairs of a commit and a stored result, this one called 297
stale, one of complete files 599, or 1,270 with all that they import, one of packages 1,910.

Plain data have a fingerprint of their content: a pickle differs with which parts are the same
object, and with the number of a notebook's kernel.
"""

import ast
import hashlib
import io
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Final

import numpy as np
import polars as pl

from swapsim.checks import unchecked
from swapsim.errors import InputError
from swapsim.ffi import code_digests as core_digests

_CORE: Final = "swapsim._core"
_TABLES: Final = "swapsim.frames.table"
_OUTSIDE: Final = tuple(
    f"swapsim.{name}."
    for name in (
        "study",
        "checks",
        "errors",
        "io",
        "frames.files",
        "frames.metrics",
        "progress",
        "interrupt",
        "ffi.headers",
    )
)
"""Code that cannot change a result."""

_CHECKED: Final = ("swapsim.checks", "checked")  # the decorator that checks a function's arguments
_Thing = tuple[str, str | None]  # a module and a name in it; without a name the module itself


def code_digest(*parts: object) -> str:
    """Return the digest of all of our code that some functions can reach."""
    reached = frozenset[str]().union(*map(_reached, _roots(parts)))
    return hashlib.sha256("\n".join(sorted(reached)).encode()).hexdigest()


def _roots(part: object) -> Iterator[_Thing]:
    """Yield the functions that a part consists of."""
    match part:
        case tuple():
            for each in part:
                yield from _roots(each)
        case partial():
            yield from _roots((part.func, *part.args, *part.keywords.values()))
        case FunctionType():
            if "<" in part.__qualname__:
                raise InputError(f"{part!r} has no name: give a function of a module")
            yield (part.__module__, part.__qualname__.split(".")[0])


@cache
def _reached(root: _Thing) -> frozenset[str]:
    """Return the digests of all statements that a name leads to."""
    packages = frozenset({"swapsim", root[0].split(".")[0]})
    digests: set[str] = set()
    seen = {root}
    left = [root]
    while left:
        module, name = left.pop()
        if module == _CORE:
            digests |= _of_core(name)
            continue
        for statement in _module(module).bound(name):
            digest, things = _read(statement, _module(module), packages)
            digests.add(digest)
            left += things - seen
            seen |= things
    return frozenset(digests)


def _of_core(name: str | None) -> set[str]:
    digests = core_digests()
    if name == "lib":
        return set(digests.values())
    return {digests[name]} if name in digests else set()


class _Module:
    """The top of a module: which statement binds a name, and which names are imported."""

    def __init__(self, name: str) -> None:
        path = _file_of(name)
        self.name = name
        self._package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        self.imported = self.imports(tree)
        self._effects = [each for each in tree.body if _has_effect(each)]
        self._binding: dict[str, list[ast.stmt]] = {}
        for each in tree.body:
            for bound in _names_bound(each):
                self._binding.setdefault(bound, []).append(each)

    def imports(self, node: ast.AST) -> dict[str, _Thing]:
        """Return what the imports in a node mean, by their local names."""
        found: dict[str, _Thing] = {}
        for each in ast.walk(node):
            if isinstance(each, ast.Import):
                for alias in each.names:
                    name = alias.name if alias.asname else alias.name.split(".")[0]
                    found[alias.asname or name] = (name, None)
            elif isinstance(each, ast.ImportFrom):
                parts = self._package.split(".")
                above = parts[: len(parts) + 1 - each.level] if each.level else []
                origin = ".".join([*above, *([each.module] if each.module else [])])
                for alias in each.names:
                    found[alias.asname or alias.name] = (origin, alias.name)
        return found

    def bound(self, name: str | None) -> list[ast.stmt]:
        """Return the statements that bind a name, or all, and those that act on import."""
        if name is None:
            return [each for found in self._binding.values() for each in found] + self._effects
        return self._binding.get(name, []) + self._effects

    def binds(self, name: str) -> bool:
        """Whether the module binds a name, other than by import."""
        return name in self._binding


_module = cache(_Module)


def _file_of(module: str) -> Path:
    """Return a module's file; a script's, too, which has no other name than __main__."""
    there = getattr(sys.modules.get(module), "__file__", None)
    spec = None if there or module == "__main__" else find_spec(module)
    path = Path(there or (spec and spec.origin) or "")
    if path.suffix != ".py":
        raise InputError(f"the module {module} has no source: put the function into a file")
    return path


def _names_bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement gives to the scope that it stands in."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Import() | ast.ImportFrom() | ast.Lambda():
            return
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.comprehension(iter=source, ifs=conditions):
            # Its variables are its own.
            for inner in (source, *conditions):
                yield from _names_bound(inner)
        case _:
            for part in ast.iter_child_nodes(node):
                yield from _names_bound(part)


def _has_effect(statement: ast.stmt) -> bool:
    """Whether a statement does more on import than binding names."""
    match statement:
        case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
            return False
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            return not all(isinstance(each, ast.Name | ast.Tuple) for each in targets)
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return False
    return not _is_silent(statement)


@cache
def _read(
    statement: ast.stmt, module: _Module, packages: frozenset[str]
) -> tuple[str, frozenset[_Thing]]:
    """Return the digest of a statement's normal form, and what of ours it names."""
    reader = _Reader(module, module.imported | module.imports(statement), packages)
    text = reader.text(statement)
    return hashlib.sha256(text.encode()).hexdigest(), frozenset(reader.things)


class _Reader:
    """Writes a syntax tree in its normal form and notes the things that it names."""

    def __init__(
        self, module: _Module, imported: dict[str, _Thing], packages: frozenset[str]
    ) -> None:
        self._module = module
        self._imported = imported
        self._packages = packages
        self.things: set[_Thing] = set()

    def text(self, node: object) -> str:
        """Return the normal form of a node, of a list of them, or of a plain value."""
        match node:
            case list():
                return f"[{' '.join(self.text(each) for each in node if not _is_silent(each))}]"
            case ast.JoinedStr():
                return f"(JoinedStr {''.join(map(self._piece, node.values))})"
            case ast.Raise(exc=ast.Call(func=kind)):
                # The text of an error is in no result.
                return f"(Raise {self.text(kind)})"
            case ast.Call(func=kind, args=args) if self._is_declaration(kind):
                # The names, types and words of a table decide its rows; its texts do not.
                decides = args[:2] if self._thing(kind) == (_TABLES, "Column") else args[2:]
                return f"({self.text(kind)} {self.text(args[:1])} {self.text(decides)})"
            case ast.Name() | ast.Attribute() if (thing := self._thing(node)) is not None:
                return self._named(thing)
            case ast.AST():
                fields = (self._field(name, value) for name, value in ast.iter_fields(node))
                return f"({type(node).__name__}{''.join(fields)})"
        return repr(node)

    def _piece(self, node: ast.expr) -> str:
        """Return a piece of an f-string; neighbouring texts are one, however Python cut them."""
        return str(node.value) if isinstance(node, ast.Constant) else self.text(node)

    def _field(self, name: str, value: object) -> str:
        if name in ("annotation", "returns"):
            # They change nothing, but the methods of their classes may be called.
            self.text(value)
            return ""
        if name == "decorator_list" and isinstance(value, list):
            value = [each for each in value if self._thing(each) != _CHECKED]
        if name in ("ctx", "kind", "type_comment") or value is None or value == []:
            return ""
        return f" {name}={self.text(value)}"

    def _thing(self, node: ast.expr) -> _Thing | None:
        """Return what a name, or an attribute of a module, stands for; None for any other."""
        match node:
            case ast.Name(id=name) if name in self._imported:
                return self._settled(*self._imported[name])
            case ast.Name(id=name) if self._module.binds(name):
                return (self._module.name, name)
            case ast.Attribute(value=ast.Name() | ast.Attribute() as of, attr=name):
                match self._thing(of):
                    case (module, None) if self._is_ours(module):
                        return self._settled(module, name)
                    case ("swapsim._core", "lib"):
                        return (_CORE, name)
        return None

    def _settled(self, module: str, name: str | None) -> _Thing:
        """Follow a name through modules that only pass it on, to the one that binds it."""
        if name is None or module == _CORE or not self._is_ours(module):
            return (module, name)
        here = _module(module)
        if here.binds(name):
            return (module, name)
        if name in here.imported and here.imported[name] != (module, name):
            return self._settled(*here.imported[name])
        return (f"{module}.{name}", None)

    def _is_declaration(self, kind: ast.expr) -> bool:
        """Whether a call declares a column, a table or a vocabulary."""
        module, name = self._thing(kind) or ("", None)
        return module == _TABLES and name in ("Column", "Table", "Vocabulary")

    def _is_ours(self, module: str) -> bool:
        return module.split(".")[0] in self._packages

    def _named(self, thing: _Thing) -> str:
        module, name = thing
        if not self._is_ours(module):
            return f"(Foreign {module} {name})"
        if not f"{module}.".startswith(_OUTSIDE):
            self.things.add(thing)
        return f"(Name {name})"


def _is_silent(node: object) -> bool:
    """Whether a statement does nothing: a docstring, an import (its names are followed), pass."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom() | ast.Pass():
            return True
    return False


_Known = dict[int, bytes]
"""Hashes by id, of values that are costly to hash twice or refer to themselves."""


def fingerprint(value: object) -> str:
    """Return the hash of a value's content."""
    return _digest(value, {}).hex()


def _digest(value: object, known: _Known) -> bytes:
    if id(value) not in known:
        found = _hash(_name(type(value)).encode(), *_parts(value, known))
        if not isinstance(value, pl.DataFrame | pl.Series | FunctionType):
            return found
        known[id(value)] = found
    return known[id(value)]


def _parts(value: object, known: _Known) -> Iterable[bytes]:
    """Return what a value consists of, its type aside."""
    match value:
        case Enum():
            return [value.name.encode()]
        case np.generic():
            return [value.dtype.str.encode(), value.tobytes()]
        case None | bool() | int() | float() | complex() | str() | bytes() | Path():
            return [repr(value).encode()]
        case list() | tuple():
            return [_digest(item, known) for item in value]
        case set() | frozenset():
            return sorted(_digest(item, known) for item in value)
        case Mapping():
            return [_digest(part, known) for pair in value.items() for part in pair]
        case pl.DataFrame():
            return [repr(value.schema).encode(), _rows(value)]
        case pl.Series():
            return [_digest(value.to_frame(), known)]
        case np.ndarray() if not value.dtype.hasobject:
            return [value.dtype.str.encode(), repr(value.shape).encode(), value.tobytes()]
        case partial():
            return [_digest(part, known) for part in (value.func, value.args, value.keywords)]
        case type() | BuiltinFunctionType():
            return [_name(value).encode()]
        case ModuleType():
            return [value.__name__.encode()]
        case FunctionType():
            return _function(unchecked(value), known, public=_is_public(value))
    if hasattr(value, "py_func"):  # numba.njit's
        return [_digest(value.py_func, known)]
    if is_dataclass(value):
        return [
            _digest(part, known)
            for field in fields(value)
            if field.compare
            for part in (field.name, getattr(value, field.name))
        ]
    raise InputError(
        f"the content of a {_name(type(value))} cannot be compared: give plain data, dataclasses "
        "or polars frames"
    )


def _function(function: FunctionType, known: _Known, *, public: bool) -> list[bytes]:
    known[id(function)] = _hash(function.__qualname__.encode())  # for one that calls itself
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    there = {} if public else function.__globals__
    used = {name: there[name] for name in sorted(_names(function.__code__)) if name in there}
    return [
        _digest((function.__module__, function.__qualname__) if public else None, known),
        _hash(*_code(function.__code__, known)),
        _digest((function.__defaults__, function.__kwdefaults__, cells, used), known),
    ]


def _is_public(function: FunctionType) -> bool:
    """Whether other processes find the function in its module."""
    module = sys.modules.get(function.__module__)
    found = getattr(module, function.__qualname__, None)
    return found is function and function.__module__ != "__main__"


def _code(code: CodeType, known: _Known) -> list[bytes]:
    """Return what code does, without the name of its file: a notebook kernel's has a number."""
    consts = (
        _hash(*_code(const, known)) if isinstance(const, CodeType) else _digest(const, known)
        for const in code.co_consts
    )
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)
    return [code.co_code, _digest(names, known), *consts]


def _names(code: CodeType) -> set[str]:
    inner = (_names(const) for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*inner)


def _rows(frame: pl.DataFrame) -> bytes:
    """Return the rows as Parquet: unlike Arrow's streams it holds nothing where a null is."""
    file = io.BytesIO()
    frame.rechunk().write_parquet(file, compression="uncompressed", statistics=False)
    return file.getvalue()


def _name(thing: type | BuiltinFunctionType) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _hash(*parts: bytes) -> bytes:
    """Hash a list of parts; each part is hashed first, so that its borders count."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).digest()
