# SPDX-License-Identifier: GPL-2.0-or-later
"""C structs as numpy types, so that arrays of both have the same memory layout."""

from typing import Any

import numpy as np

from swapsim._core import ffi


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
