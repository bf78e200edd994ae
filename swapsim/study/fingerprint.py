# SPDX-License-Identifier: GPL-2.0-or-later
"""Hash the content of plain data, with the same result in every process.

A pickle differs with which parts are the same object, and with the number of a notebook's kernel.
"""

import hashlib
import io
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

import numpy as np
import polars as pl

from swapsim.errors import InputError

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
            return _function(value, known)
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


def _function(function: FunctionType, known: _Known) -> list[bytes]:
    known[id(function)] = _hash(function.__qualname__.encode())  # for one that calls itself
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    public = _is_public(function)
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
