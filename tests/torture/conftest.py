# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks that run until their time is over: only `make torture` runs them.

TORTURE_CORE is an extension to attack instead of the one that is installed.
"""

import os
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location

import pytest
import seeds as shares
from hypothesis import settings

collect_ignore_glob = [] if shares.MINUTES else ["test_*.py"]


def take_core(path: str) -> None:
    """Let all of swapsim use another build of the C core."""
    found = spec_from_file_location("swapsim._core", path)
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    sys.modules[found.name] = module


if core := os.environ.get("TORTURE_CORE"):
    take_core(core)


@pytest.fixture
def seeds(request: pytest.FixtureRequest) -> Iterator[Iterator[int]]:
    """Give seeds for as long as a test's share of the minutes lasts."""
    settings.load_profile("torture")
    sharing = sum("seeds" in item.fixturenames for item in request.session.items)  # type: ignore[attr-defined]
    given = shares.until_the_end(request.node.name, sharing)
    yield given
    given.close()  # type: ignore[attr-defined]
