# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of `swapsim.patches.Patch` that are sentences, or that do not apply to patch C."""

import polars as pl

from swapsim import traces
from swapsim.stall.verify import verified_stalls


def counted() -> str:
    """Return how far the rules decide as a real kernel did, on the shipped traces."""
    found = verified_stalls(traces.shipped("stall-decisions"))
    names = ("folios", "lists", "counted", "passes", "decided", "throttles", "held")
    total = {name: int(found[name].sum()) for name in names}
    return (
        f"Of {total['passes']:,} passes of reclaim that a real kernel made in {found.height} runs, "
        f"the model of patch C's rules decides {total['decided']:,} as the kernel did; it has the "
        f"same counters for {total['counted']:,} of {total['lists']:,} lists and the same decision "
        f"for {total['held']:,} of {total['throttles']:,} requests for a throttle."
    )


def headline_fit() -> None:
    """Return None: the reclaim simulator is not fitted by the contention machine's constants."""


def chances() -> None:
    """Return None: the mail prints no deviation of a run."""


def headline_locks(_constants: pl.DataFrame) -> None:
    """Return None: the patch changes no lock."""
