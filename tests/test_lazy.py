# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages import what they export when it is used."""

import subprocess
import sys
from importlib import import_module
from types import FunctionType

import pytest
from test_layers import MODULES

LAZY = [name for name, path in MODULES.items() if "lazy.export(__name__)\n" in path.read_text()]


@pytest.mark.parametrize("package", sorted({*LAZY} - {"swapsim.lazy"}))
def test_each_name_of_a_package_is_there(package: str) -> None:
    """It is listed by dir, and another name is an AttributeError."""
    module = import_module(package)
    assert dir(module) == sorted(module.__all__) != []
    for name in module.__all__:
        assert getattr(module, name) is not None
    assert not hasattr(module, "no_such_name")


def test_a_function_with_the_name_of_its_module_stays_a_function() -> None:
    """Also after an import of the module."""
    from swapsim import clusters

    import_module("swapsim.clusters.replay")
    assert isinstance(clusters.replay, FunctionType)


def test_a_package_imports_nothing_that_is_not_used() -> None:
    """Most commands use few of them, and altair takes longer than most commands."""
    script = "import sys, swapsim.slots, swapsim.charts; print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.split() == [b"False"]
