# SPDX-License-Identifier: GPL-2.0-or-later
"""The colours of all charts: an item that several charts draw has the same colour in each.

Lines and dots are visible on white and on dark pages; pale colours are for areas with black text;
unimportant items are transparent.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

UNPATCHED: Final = "#a6611a"
PATCHED: Final = "#018571"
PUBLISHED: Final = "#e45756"
FAINT: Final = "rgba(128, 128, 128, 0.16)"

LAB_AND_SIMULATION: Final = {"lab": "#4c78a8", "simulation": "#f58518"}
"""A real kernel, and the simulated machine that it runs on."""

TAGS: Final = {"tags kept": UNPATCHED, "no tags": PATCHED}
"""Whether the swap cache has writeback tags: without and with patch A."""

SITES: Final = {
    "add": "#4c78a8",
    "dirty": "#9d755d",
    "start": "#e45756",
    "end": "#f58518",
    "move": "#79706e",
    "delete": "#54a24b",
    "clear-shadow": "#b279a2",
}
"""Code paths that take a mapping's lock."""

CLUSTERS: Final = {
    "free": "#80b1d3",
    "nonfull": "#54a24b",
    "frag": "#d8a13a",
    "full": "#a6611a",
    "discard": "#b279a2",
}
"""Lists of a device's clusters of slots, in the order in which they are stacked."""

POLICIES: Final = {
    "shared": UNPATCHED,
    "percpu": "#d8a13a",
    "percpu-rerandomise": PATCHED,
    "spread": "#80b1d3",
    "spread-online": "#4c78a8",
    "avoid": "#6a51a3",
    "permm": "#d6604d",
}
"""Built-in policies for the scan base."""

LOCKS: Final = (UNPATCHED, PATCHED, "#80b1d3", "#4c78a8", "#b279a2")
"""Locks of the swap cache, from the oldest kernel to the newest."""

POLICY_DASHES: Final = {"spread": (6, 5), "spread-online": (2, 3), "permm": (8, 3, 2, 3)}
"""Dashes for lines that may coincide with the line of percpu, so that both are visible."""

USER_POLICIES: Final = ("#7f7f7f", "#e7298a", "#66a61e", "#a6761d")
"""Policies of a user, in order of name."""

CPUS: Final = (
    "#4c78a8", "#f58518", "#54a24b", "#e45756", "#b279a2", "#9d755d", "#72b7b2", "#eeca3b",
)  # fmt: skip
"""CPUs; the ninth CPU has the first colour again."""

_RAMP: Final = ("#4c78a8", "#8a6fc0", "#c95fa8", "#e8694f", "#e39a2d")


def ramp(steps: int) -> list[str]:
    """Return as many colours as a factor has settings, from cold to warm."""
    last = len(_RAMP) - 1
    return [_RAMP[round(last * step / max(steps - 1, 1))] for step in range(steps)]


PARTS: Final = {
    "work without a lock": "#bab0ac",
    "swap cache's lock, held": "#4c78a8",
    "swap cache's lock, waited for": "#9ecae9",
    "si->lock, held": "#d6604d",
    "si->lock, waited for": "#f4a582",
    "other locks, held": "#54a24b",
    "other locks, waited for": "#a1d99b",
    "other CPUs' interrupts, waited for": "#d4a6c8",
}
"""Parts of a page's time; of each lock the paler colour is the wait."""

ERAS: Final = {
    "3.9": "#dfc27d",
    "mmotm": "#bf9b5a",
    "the series": "#80cdc1",
    "3.11": "#9ecae1",
    "6.1": "#c7c7c7",
}
"""The kernel since which reclaim decides so; pale, as text stands on the areas."""

KERNELS: Final = {"3.9": UNPATCHED, "mmotm": "#d8a13a", "series-8": PATCHED}
"""The three kernels of patch C's mail, by their rule sets."""

HOLDERS: Final = {
    "free": FAINT,
    "of programs, active": "#4c78a8",
    "of programs, inactive": "#9ecae9",
    "of files, clean": "#c7e9c0",
    "of files, dirty": UNPATCHED,
    "of files, being written": "#f58518",
}
"""The use of memory."""

ZONES: Final = {"Normal": "#4c78a8", "DMA32": "#f58518"}
"""Zones of memory."""

SLEEPERS: Final = {
    "kswapd, in reclaim": "#d94801",
    "tasks, in reclaim": "#fdbe85",
    "writer, throttled": UNPATCHED,
    "client, for its pages": "#4c78a8",
}
"""The tasks that wait, and where."""

OUTCOMES: Final = {
    "freed": "#54a24b",
    "freed under writeback": "#d62728",
    "written": UNPATCHED,
    "kept: slept for": "#f58518",
    "kept: counted for a sleep": "#4c78a8",
    "kept: under writeback": "#9ecae1",
    "kept: waited for": "#72b7b2",
    "kept: dirty": "#d9d2c0",
    "kept: not to be written now": "#bfb59a",
    "kept: by another test": FAINT,
    "kept: locked": "#9a9a9a",
    "activated: counted for a sleep": "#6a51a3",
    "activated: under writeback": "#9e9ac8",
    "activated: dirty": "#cbc9e2",
}
"""The outcome of a page of a reclaim list; outcomes that must not occur are red."""

SIZES: Final = ("#9a9a9a", "#72b7b2", "#3690c0", "#8a6fc0")
"""Sizes of the file that is written at the same time, from none to the largest."""

PLACEMENTS: Final = {"one socket": "#4c78a8", "mixed": "#8a6fc0", "all remote": "#f58518"}
"""On which sockets the threads of a lock run."""

SIGNS: Final = {"falls": "#92c5de", "either": FAINT, "rises": "#f4a582"}
"""The sign of a change over the rounds of a measurement; pale where the rounds do not agree."""

STALLS: Final = {
    "sleep, up to 100 ms": "#d94801",
    "wait, if a device is congested": "#fdbe85",
    "a flag, no sleep": "#9ecae1",
    "nothing": FAINT,
}
"""The decision at the end of a reclaim list, the longest wait first."""


PAGE_TYPES: Final = {"anon": "#4c78a8", "file": "#f58518"}
"""Types of pages from which reclaim takes some."""


def of(names: Sequence[str]) -> dict[str, str]:
    """Return the colour of each name: its own where it is known, else the next one of a row.

    Names of the built-in policies may be mixed with those of a user's.
    """
    for known in _KNOWN:
        if known.keys() >= set(names):
            return {name: known[name] for name in names}
    if POLICIES.keys() & set(names):
        return _with_users(names)
    return dict(zip(names, ramp(len(names)), strict=True))


def dashes(names: Iterable[object]) -> dict[str, list[int]]:
    """Return the dashes of policies whose lines may coincide; empty if there is none of them."""
    present = sorted(set(map(str, names)))
    if not POLICY_DASHES.keys() & set(present):
        return {}
    return {name: list(POLICY_DASHES.get(name, (1, 0))) for name in present}


def _with_users(names: Sequence[str]) -> dict[str, str]:
    """Return the colours of policies: the built-in ones in their order, then a user's by name."""
    own = enumerate(sorted(set(names) - POLICIES.keys()))
    return {name: shade for name, shade in POLICIES.items() if name in names} | {
        name: USER_POLICIES[at % len(USER_POLICIES)] for at, name in own
    }


_KNOWN: Final[tuple[Mapping[str, str], ...]] = (
    POLICIES, TAGS, SITES, CLUSTERS, KERNELS, PARTS, PLACEMENTS, LAB_AND_SIMULATION, OUTCOMES,
    STALLS, SIGNS, HOLDERS, ZONES, SLEEPERS, PAGE_TYPES,
)  # fmt: skip
"""Items with colours of their own; the first mapping that has all of some names gives theirs."""
