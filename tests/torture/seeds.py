# SPDX-License-Identifier: GPL-2.0-or-later
"""How long an attack runs, with which seeds, and where its findings are stored.

TORTURE_MINUTES is the time of a part, TORTURE_SEED the first seed (default: the clock). Zero
minutes are one seed for each attack, the same work on any machine.
"""

import os
import time
from collections.abc import Callable, Iterator

from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from swapsim.io import repository_root

MINUTES = os.environ.get("TORTURE_MINUTES")
FINDINGS = repository_root() / "build" / "torture"
EXAMPLES = 20
"""Of an attack by one seed."""

settings.register_profile(
    "torture",
    deadline=None,
    print_blob=True,
    derandomize=False,
    max_examples=EXAMPLES,
    database=DirectoryBasedExampleDatabase(FINDINGS / "examples"),
    suppress_health_check=list(HealthCheck),
)


def sown(attack: Callable[[], None], seed: int) -> Callable[[], None]:
    """Set Hypothesis' seed. With its own decorator it would not store what it finds."""
    attack._hypothesis_internal_use_seed = seed  # type: ignore[attr-defined]
    return attack


def until_the_end(name: str, sharing: int = 1) -> Iterator[int]:
    """Yield one seed after another until a share of the minutes is over, and log each before.

    A failure that ends the process is reproduced by the last line of the log.
    """
    FINDINGS.mkdir(parents=True, exist_ok=True)
    first = int(os.environ.get("TORTURE_SEED", time.time()))
    end = time.monotonic() + 60 * float(MINUTES or 0) / sharing
    used = 0
    with (FINDINGS / "log").open("a", buffering=1) as log:
        try:
            while not used or time.monotonic() < end:
                log.write(f"{name}: seed {first + used}\n")
                used += 1
                yield first + used - 1
        finally:
            log.write(f"{name}: {used} seeds from {first}, over\n")
