# SPDX-License-Identifier: GPL-2.0-or-later
"""Submodules that are imported when they are first used.

A package names them in its ``__init__``, so that ``swapsim.slots.charts`` works without an import
of its own while ``import swapsim.slots`` does not load the chart library.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def submodules(
    package: str, *names: str
) -> tuple[Callable[[str], ModuleType], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__``, which know the submodules ``names``.

    ``dir`` and completion list them and the package's ``__all__``.
    """

    def get(name: str) -> ModuleType:
        if name in names:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def listed() -> list[str]:
        return sorted({*sys.modules[package].__all__, *names})

    return get, listed
