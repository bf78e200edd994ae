# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks that go on until their time is over: only `make torture` runs them.

TORTURE_MINUTES is the time of all that are run, each gets its share; TORTURE_SEED the first seed
(default: the clock).
"""

import os
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from swapsim.paths import repository_root

MINUTES = os.environ.get("TORTURE_MINUTES")
collect_ignore_glob = [] if MINUTES else ["test_*.py"]

FINDINGS = repository_root() / "build" / "torture"
settings.register_profile(
    "torture",
    deadline=None,
    print_blob=True,
    max_examples=20,
    database=DirectoryBasedExampleDatabase(FINDINGS / "examples"),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def seeds(request: pytest.FixtureRequest) -> Iterator[Iterator[int]]:
    """Give one seed after another until the minutes are over, and tell of each before it is used.

    What ends the whole process is found again by the last line of its log.
    """
    FINDINGS.mkdir(parents=True, exist_ok=True)
    settings.load_profile("torture")
    name = request.node.name
    first = int(os.environ.get("TORTURE_SEED", time.time()))
    sharing = sum("seeds" in item.fixturenames for item in request.session.items)  # type: ignore[attr-defined]
    end = time.monotonic() + 60 * float(MINUTES or 0) / sharing
    used = 0

    def until_the_end() -> Iterator[int]:
        nonlocal used
        while not used or time.monotonic() < end:
            log.write(f"{name}: seed {first + used}\n")
            used += 1
            yield first + used - 1

    with (FINDINGS / "log").open("a", buffering=1) as log:
        yield until_the_end()
        log.write(f"{name}: {used} seeds from {first}, over\n")
