# SPDX-License-Identifier: GPL-2.0-or-later
"""C structs as numpy types, so that an array of the one is an array of the other."""

from typing import Any

import numpy as np

from swapsim._core import ffi


def dtype_of(struct: str) -> np.dtype[np.void]:
    """Return the numpy type of a struct of numbers, with the names and offsets of its fields."""
    fields: list[tuple[str, Any]] = ffi.typeof(struct).fields
    return np.dtype(
        {
            "names": [name for name, _ in fields],
            "formats": [_number(field.type.cname) for _, field in fields],
            "offsets": [field.offset for _, field in fields],
            "itemsize": ffi.sizeof(struct),
        }
    )


def _number(cname: str) -> str:
    return "bool" if cname == "_Bool" else cname.removesuffix("_t")
