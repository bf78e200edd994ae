# SPDX-License-Identifier: GPL-2.0-or-later
"""The colours of all charts: an item that several charts draw has the same colour in each.

Lines and dots are visible on white and on dark pages; pale colours are for areas with black text;
unimportant items are transparent.
"""

from collections.abc import Iterable, Sequence
from typing import Final

UNPATCHED: Final = "#a6611a"
PATCHED: Final = "#018571"
PUBLISHED: Final = "#e45756"
FAINT: Final = "rgba(128, 128, 128, 0.16)"

# fmt: off
TAGS: Final = {"tags kept": UNPATCHED, "no tags": PATCHED}  # of the swap cache, see patch A
SITES: Final = {  # code paths that take a mapping's lock
    "add": "#4c78a8", "dirty": "#9d755d", "start": "#e45756", "end": "#f58518", "move": "#79706e",
    "delete": "#54a24b", "clear-shadow": "#b279a2",
}
CLUSTERS: Final = {  # lists of clusters, in the order in which they are stacked
    "free": "#80b1d3", "nonfull": "#54a24b", "frag": "#d8a13a", "full": "#a6611a",
    "discard": "#b279a2",
}
POLICIES: Final = {  # of cluster_next
    "shared": UNPATCHED, "percpu": "#d8a13a", "percpu-rerandomise": PATCHED, "spread": "#80b1d3",
    "spread-online": "#4c78a8", "avoid": "#6a51a3", "permm": "#d6604d",
}
CPUS: Final = (
    "#4c78a8", "#f58518", "#54a24b", "#e45756", "#b279a2", "#9d755d", "#72b7b2", "#eeca3b",
)
PARTS: Final = {  # of a page's time; of each lock the paler colour is the wait
    "work without a lock": "#bab0ac",
    "swap cache's lock, held": "#4c78a8", "swap cache's lock, waited for": "#9ecae9",
    "si->lock, held": "#d6604d", "si->lock, waited for": "#f4a582",
    "other locks, held": "#54a24b", "other locks, waited for": "#a1d99b",
    "other CPUs' interrupts, waited for": "#d4a6c8",
}
KERNELS: Final = {"3.9": UNPATCHED, "mmotm": "#d8a13a", "series-8": PATCHED}  # of patch C's mail
ERAS: Final = {  # the kernel since which reclaim decides so
    "3.9": "#dfc27d", "mmotm": "#bf9b5a", "the series": "#80cdc1", "3.11": "#9ecae1",
    "6.1": "#c7c7c7",
}
OUTCOMES: Final = {  # of a page of a reclaim list; one that must not occur is red
    "freed": "#54a24b", "freed under writeback": "#d62728", "written": UNPATCHED,
}
STALLS: Final = {  # what the end of a reclaim list decides
    "sleep, up to 100 ms": "#d94801", "wait, if a device is congested": "#fdbe85",
    "a flag, no sleep": "#9ecae1", "nothing": FAINT,
}
PLACEMENTS: Final = {"one socket": "#4c78a8", "mixed": "#8a6fc0", "all remote": "#f58518"}
PAGE_TYPES: Final = {"anon": "#4c78a8", "file": "#f58518"}

_KNOWN: Final = (
    POLICIES, TAGS, SITES, CLUSTERS, KERNELS, PARTS, PLACEMENTS, OUTCOMES, STALLS,
    PAGE_TYPES,
)
# fmt: on
_USERS: Final = ("#7f7f7f", "#e7298a", "#66a61e", "#a6761d")
_DASHES: Final = {"spread": (6, 5), "spread-online": (2, 3), "permm": (8, 3, 2, 3)}
_RAMP: Final = ("#4c78a8", "#8a6fc0", "#c95fa8", "#e8694f", "#e39a2d")


def ramp(steps: int) -> list[str]:
    """Return as many colours: from cold to warm for up to five, else the eight of CPUs in turn."""
    last = len(_RAMP) - 1
    if steps > len(_RAMP):
        return [CPUS[step % len(CPUS)] for step in range(steps)]
    return [_RAMP[round(last * step / max(steps - 1, 1))] for step in range(steps)]


def of(names: Sequence[str]) -> dict[str, str]:
    """Return the colour of each name: its own where all are known, else the next one of a ramp."""
    for known in _KNOWN:
        if known.keys() >= set(names):
            return {name: known[name] for name in names}
    if not POLICIES.keys() & set(names):
        return dict(zip(names, ramp(len(names)), strict=True))
    own = enumerate(sorted(set(names) - POLICIES.keys()))
    users = {name: _USERS[at % len(_USERS)] for at, name in own}
    return {name: shade for name, shade in POLICIES.items() if name in names} | users


def dashes(names: Iterable[object]) -> dict[str, list[int]]:
    """Return dashes, so that lines are seen that may coincide with percpu's; empty without one."""
    present = sorted(set(map(str, names)))
    if not _DASHES.keys() & set(present):
        return {}
    return {name: list(_DASHES.get(name, (1, 0))) for name in present}
