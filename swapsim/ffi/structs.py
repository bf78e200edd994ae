# SPDX-License-Identifier: GPL-2.0-or-later
"""Structs of the C library: from configs and frames, to handles and frames.

The binding of a subject, its ``_native.py``, consists of calls like these (from ``mapping``)::

    made = config(lib.sws_mapping_config_init, settings, kernel=KERNELS.index(settings.kernel))
    replay = new(lib.sws_mapping_replay_new, made, free=lib.sws_mapping_replay_free)
    for part in frame.iter_slices(CHUNK_ROWS):
        rows = columns("struct sws_mapping_replay_rows", part)
        check(lib.sws_mapping_replay_feed(replay, rows, part.height, at_fault))
    cells, out = records("struct sws_mapping_replay_cell", count)
    check(lib.sws_mapping_replay_finish(replay, out))
    table = frame_of(cells)

Functions of the library are arguments, not names in texts: so a stored result that a binding
decides has the code of these functions in its fingerprint.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from swapsim import interrupt
from swapsim._core import ffi, lib
from swapsim.errors import NativeError, NativeMemoryError

_KEPT: Final = WeakKeyDictionary[Any, Any]()  # struct -> the memory that it points to


def check(code: int) -> None:
    """Raise the exception of an error code, or a KeyboardInterrupt that Python dropped."""
    interrupt.check()
    if code == lib.SWS_OK:
        return
    kind = NativeMemoryError if code == lib.SWS_ERROR_NO_MEMORY else NativeError
    raise kind(ffi.string(lib.sws_strerror(code)).decode())


def new(make: Any, *given: Any, free: Any) -> Any:
    """Return the handle that a function ``sws_X_new`` creates; it frees itself."""
    out = ffi.new(ffi.typeof(make).args[-1])
    check(make(*given, out))
    return ffi.gc(out[0], free)


def config(init: Any, settings: object, **others: Any) -> Any:
    """Return the library's config with the values of a dataclass, where names are the same.

    `init` is ``sws_X_config_init``. `others` replace values, and are the only ones for fields that
    are no numbers. A field that neither has, or that is None, keeps the library's default.
    """
    made = ffi.new(ffi.typeof(init).args[0])
    init(made)
    for name, field in ffi.typeof(made).item.fields:
        plain = field.type.kind in ("primitive", "enum")
        value = others[name] if name in others else getattr(settings, name, None) if plain else None
        if value is not None:
            setattr(made, name, value)
    return keep(made, settings, others)


def columns(struct: str, frame: pl.DataFrame) -> Any:
    """Return a frame's columns as a struct of pointers to arrays; words are their numbers.

    TypeError if a column could lose values in the type of its array.
    """
    made = ffi.new(f"{struct} *")
    arrays = []
    for name, field in ffi.typeof(struct).fields:
        column = frame[name].to_physical().to_numpy()
        array = np.ascontiguousarray(column.astype(_type(field.type.item), casting="safe"))
        arrays.append(ffi.from_buffer(f"{field.type.item.cname}[]", array))
        setattr(made, name, arrays[-1])
    return keep(made, arrays)


def pointers(struct: str, arrays: Mapping[str, Any]) -> Any:
    """Return a struct of pointers to arrays or columns, which it keeps; others are NULL, or 0.

    A field that is an array of pointers takes several, one that is a struct takes such a struct.
    """
    made, fields, kept = ffi.new(f"{struct} *"), dict(ffi.typeof(struct).fields), [arrays]
    for name, given in arrays.items():
        field = fields[name].type
        if field.kind == "struct":
            setattr(made, name, given[0])
            continue
        several = field.kind == "array"
        item = (field.item if several else field).item
        held = [_buffer(item, values) for values in (given if several else [given])]
        setattr(made, name, held if several else held[0])
        kept += held
    return keep(made, kept)


def _buffer(item: Any, values: Any) -> Any:
    """Return an array as the library takes it: itself, if it has this type and is contiguous."""
    array = values.to_physical().to_numpy() if isinstance(values, pl.Series) else values
    if item.kind == "primitive":
        array = array.astype(_type(item), casting="safe", copy=False)
    return ffi.from_buffer(f"{item.cname}[]", np.ascontiguousarray(array))


def chunks(ends: np.ndarray[Any, Any], rows: int) -> Iterator[tuple[slice, slice]]:
    """Yield runs of complete lists of about so many rows, and their rows; lists by their ends."""
    first, begin = 0, 0
    while first < len(ends):
        last = max(int(np.searchsorted(ends, begin + rows, side="right")), first + 1)
        end = int(ends[last - 1])
        yield slice(first, last), slice(begin, end)
        first, begin = last, end


def records(struct: str, count: int) -> tuple[np.ndarray[Any, Any], Any]:
    """Return an array of structs of zeros, and the pointer by which the library fills it."""
    array = np.zeros(count, dtype=dtype_of(struct))
    return array, ffi.from_buffer(f"{struct}[]", array)


def frame_of(array: np.ndarray[Any, Any]) -> pl.DataFrame:
    """Return an array of structs as a frame; the fields of a struct in them are columns, too."""
    return pl.DataFrame(dict(_leaves(array)))


def _leaves(array: np.ndarray[Any, Any]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    for name in array.dtype.names or ():
        if array[name].dtype.names:
            yield from _leaves(array[name])
        else:
            yield name, np.ascontiguousarray(array[name])


def values(struct: Any) -> dict[str, Any]:
    """Return the numbers of a struct by the names of their fields, arrays as lists."""
    kinds = {name: each.type.kind for name, each in ffi.typeof(struct).fields}
    return {
        name: [*map(int, getattr(struct, name))] if kind == "array" else int(getattr(struct, name))
        for name, kind in kinds.items()
        if kind != "struct"
    }


def keep(struct: Any, *memory: Any) -> Any:
    """Return the struct, which keeps alive what it points to."""
    _KEPT[struct] = memory
    return struct


def dtype_of(struct: str) -> np.dtype[np.void]:
    """Return the numpy type of a struct of numbers and of structs, with its fields' offsets."""
    fields: list[tuple[str, Any]] = ffi.typeof(struct).fields
    return np.dtype(
        {
            "names": [name for name, _ in fields],
            "formats": [_type(field.type) for _, field in fields],
            "offsets": [field.offset for _, field in fields],
            "itemsize": ffi.sizeof(struct),
        }
    )


def _type(field: Any) -> Any:
    if field.kind == "struct":
        return dtype_of(field.cname)
    return "bool" if field.cname == "_Bool" else field.cname.removesuffix("_t")
