# SPDX-License-Identifier: GPL-2.0-or-later
"""A plugin of pytest: the property tests of tests/ by fresh seeds, until their minutes are over.

One after the other in a shuffled order, and then again. Hypothesis tries its findings first the
next time.
"""

import random

import pytest
import seeds
from hypothesis import settings


def pytest_configure() -> None:
    """Draw new examples each time, also where CI has the tests draw the same ones."""
    settings.load_profile("torture")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect other tests."""
    properties = [item for item in items if item.get_closest_marker("hypothesis")]
    config.hook.pytest_deselected(items=[item for item in items if item not in properties])
    items[:] = properties


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Give each seed to one property; end at the first that does not hold."""
    if session.testsfailed:
        return None  # A file cannot be collected: pytest says so.
    left: list[pytest.Item] = []
    for seed in seeds.until_the_end("properties"):
        if not left:
            left = random.Random(seed).sample(session.items, len(session.items))
        item = left.pop()
        assert isinstance(item, pytest.Function)
        seeds.sown(item.function, seed)
        item._initrequest()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed:
            raise session.Failed(f"{item.nodeid} by seed {seed}")
    return True
