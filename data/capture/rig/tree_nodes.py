# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes of the swap cache's trees, and their slots: read from the output of slot_holder."""

import re
from dataclasses import dataclass
from typing import Final

import polars as pl

from rig.counts import Metrics
from rig.errors import GuestError
from swapsim.published.data import SLOTS_IN_USE

# Nothing of the set is there yet: what the kernel's other trees have.
BEFORE: Final = "before"
# Only swapping out and in puts a page into the swap cache.
ALLOCATES: Final = "add_to_swap_cache"

_SAMPLE: Final = re.compile(
    r"^sample (?P<set>\S+) objects (?P<objects>\d+) used \d+ cached (?P<cached>\d+) "
    r"slots (?P<slots>\d+)\n(?P<rest>(?:(?!^sample ).*\n?)*)",
    re.MULTILINE,
)
_EXTENT: Final = re.compile(r"^extent (\d+) (\d+)$", re.MULTILINE)
# A count and the function that allocated, then the functions that called it.
_ALLOCATED: Final = re.compile(r"^ {0,6}(\d+) \S.*\n((?: {8}\S.*\n)*)", re.MULTILINE)

Extents = list[tuple[str, int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One set of slots, as the guest found it."""

    set: str
    objects: int
    cached: int
    slots: int
    allocated: int
    extents: tuple[tuple[int, int], ...]


def read(output: str, name: str) -> tuple[Metrics, Extents]:
    """Read the metrics of one run, and the slots in use of each set.

    A set's nodes are what the slab has more than before the first set; nodes by call stack are
    those that the kernel records as allocated for the swap cache.

    Raises
    ------
    GuestError
        There are no samples, no call stacks, or the slots of a set are not all there.
    """
    samples = [_sample(match, name) for match in _SAMPLE.finditer(output)]
    if not samples or samples[0].set != BEFORE:
        raise GuestError(f"{name}: the samples of tree nodes are not there")
    if not any(sample.allocated for sample in samples):
        raise GuestError(
            f"{name}: the kernel does not record which functions allocated its tree nodes"
        )
    metrics: Metrics = {}
    for sample in samples[1:]:
        metrics |= {
            f"{sample.set}: slots": (sample.slots, "slot"),
            f"{sample.set}: shadows": (sample.slots - sample.cached, "slot"),
            f"{sample.set}: nodes": (sample.objects - samples[0].objects, "node"),
            f"{sample.set}: nodes by call stack": (sample.allocated, "node"),
        }
    extents = [(sample.set, *extent) for sample in samples for extent in sample.extents]
    return metrics, extents


def _sample(match: re.Match[str], name: str) -> Sample:
    slots, _, traces = match["rest"].partition("allocated by\n")
    sample = Sample(
        set=match["set"],
        objects=int(match["objects"]),
        cached=int(match["cached"]),
        slots=int(match["slots"]),
        allocated=sum(
            int(count) for count, stack in _ALLOCATED.findall(traces) if f" {ALLOCATES}+" in stack
        ),
        extents=tuple((int(first), int(count)) for first, count in _EXTENT.findall(slots)),
    )
    if sum(count for _, count in sample.extents) != sample.slots:
        raise GuestError(f"{name}: slots of the set '{sample.set}' are missing")
    return sample


def tabulate(rounds: list[tuple[str, int, Extents]]) -> pl.DataFrame:
    """Return the slots in use of all runs, each with its policy and its round."""
    rows = [(policy, number, *extent) for policy, number, extents in rounds for extent in extents]
    table = pl.DataFrame(rows, schema=SLOTS_IN_USE.schema, orient="row")
    return SLOTS_IN_USE.check(table)
