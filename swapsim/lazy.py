# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that a package exports, each of which is imported when it is first used.

A package lists each name once, in its ``__init__``, in a form that type checkers and editors read::

    if TYPE_CHECKING:
        from swapsim.slots import charts as charts
        from swapsim.slots.verify import verified_slots as verified_slots
        from swapsim.slots.verify import verify_slots as verify_slots
    else:
        lazy.export(__name__)

``import swapsim.slots`` then imports none of the modules, and ``swapsim.slots.verify_slots``
imports its own. ``dir``, ``help``, completion and ``import *`` know all names.

A function that has the name of its module (``clusters.replay.replay``) is imported at once: a later
import of the module would put the module in its place.
"""

import sys
from _ast import If, ImportFrom, Name, PyCF_ONLY_AST  # ast itself imports five modules
from importlib import import_module
from types import ModuleType


def export(package: str) -> None:
    """Give a package the names that its ``if TYPE_CHECKING`` lists, and ``__all__``."""
    module = sys.modules[package]
    origins = _listed(module)

    def get(name: str) -> object:
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        origin = origins[name]
        if origin == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(origin), name)
        setattr(module, name, value)
        return value

    vars(module)["__all__"] = sorted(origins)
    vars(module)["__dir__"] = lambda: sorted(origins)
    vars(module)["__getattr__"] = get
    for name, origin in origins.items():
        if origin == f"{package}.{name}":
            get(name)


def _listed(module: ModuleType) -> dict[str, str]:
    """Return the module that each listed name comes from; a submodule comes from its package."""
    # Not get_source, which imports re.
    source = module.__loader__.get_data(module.__file__)  # type: ignore[union-attr]
    tree = compile(source, module.__name__, "exec", PyCF_ONLY_AST)
    return {
        alias.name: statement.module
        for block in tree.body  # type: ignore[attr-defined]
        if isinstance(block, If) and isinstance(block.test, Name) and block.orelse
        for statement in block.body
        if isinstance(statement, ImportFrom) and statement.module
        for alias in statement.names
    }
