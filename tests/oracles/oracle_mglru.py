# SPDX-License-Identifier: GPL-2.0-or-later
"""A plain model of mglru.h: the two kernels' functions in the order of mm/vmscan.c.

It is written from the facts about the kernels, without code of C. A state is a dictionary; types
are 0 (anon) and 1 (file).
"""

from collections.abc import Mapping, Sequence
from typing import Any

ANON, FILE, NEITHER = 0, 1, 2
WORD = 2**64
State = Mapping[str, Any]
"""max_seq; min_seq[type]; swappiness; io; and refaulted, evicted, protected [type][tier], the first
two with their averages."""


def position(kernel: str, state: State, kind: int, tiers: Sequence[int]) -> tuple[int, int]:
    """Return what read_ctrl_pos reads: refaulted pages, and all."""
    total = 0
    for tier in tiers:
        total += state["evicted"][kind][tier]
        if kernel == "7.3" or tier > 0:
            total += state["protected"][kind][tier]
    return sum(state["refaulted"][kind][tier] for tier in tiers), total


def positive(sp: tuple[int, int], sp_gain: int, pv: tuple[int, int], pv_gain: int) -> bool:
    """Stand for positive_ctrl_err."""
    if pv[0] < 64:
        return True
    return pv[0] * (sp[1] + 64) * sp_gain % WORD <= (sp[0] + 1) * pv[1] * pv_gain % WORD


def tier_index(kernel: str, state: State, kind: int) -> int:
    """Stand for get_tier_idx."""
    first, others = (2, 3) if kernel == "7.3" else (1, 2)
    sp = position(kernel, state, kind, [0])
    for tier in (1, 2, 3):
        if not positive(sp, first, position(kernel, state, kind, [tier]), others):
            return tier - 1
    return 3


def choice(kernel: str, state: State) -> tuple[int, str, dict[int, int]]:
    """Return the type that is scanned first, what decides it, and the tier index of each type."""
    swappiness = state["swappiness"]
    gain = [min(swappiness, 200), 200 - min(swappiness, 200)]
    tiers = {kind: tier_index(kernel, state, kind) for kind in (ANON, FILE)}
    few = "few refaults" if kernel else ""
    if kernel == "7.3":
        if swappiness <= 1 or swappiness >= 200:
            return int(swappiness <= 1), "swappiness", tiers
        sums = [position(kernel, state, kind, range(4)) for kind in (ANON, FILE)]
        term = few if sums[FILE][0] < 64 else "refault rates"
        return int(positive(sums[ANON], gain[ANON], sums[FILE], gain[FILE])), term, tiers
    if swappiness == 0:
        return FILE, "swappiness", tiers
    if state["min_seq"][ANON] < state["min_seq"][FILE]:
        return ANON, "older generation", tiers
    if swappiness == 1 or swappiness >= 200:
        return int(swappiness == 1), "swappiness", tiers
    if not state["io"]:
        return FILE, "no IO", tiers
    sp, pv = (position(kernel, state, kind, [0]) for kind in (ANON, FILE))
    kind = int(positive(sp, gain[ANON], pv, gain[FILE]))
    other = position(kernel, state, 1 - kind, [0])
    tiers[kind] = 3
    for tier in (1, 2, 3):
        spared = position(kernel, state, kind, [tier])
        if not positive(other, gain[1 - kind], spared, gain[kind]):
            tiers[kind] = tier - 1
            break
    return kind, few if pv[0] < 64 else "refault rates", tiers


def isolate(
    kernel: str, state: State, kind: int, lists: Sequence[tuple[int, int]], exhausted: bool
) -> tuple[list[tuple[int, int, int]], int]:
    """Return the lists that isolate_folios scans: type, pages, isolated; and its result.

    ``lists`` has pages and isolated ones for each type. ``exhausted``: 6.12 has looked at as many
    folios as it may without isolating one.
    """
    scans: list[tuple[int, int, int]] = []
    result = 0
    for _ in range(1 if state["swappiness"] in (0, 201) else 2):
        pages = taken = 0
        if state["max_seq"] - state["min_seq"][kind] + 1 > 2:
            pages, taken = lists[kind]
            scans.append((kind, pages, taken))
        if kernel == "7.3":
            result += pages
            if taken:
                break
            kind = kind if pages else 1 - kind
        else:
            result = pages if taken or exhausted else 0
            if result:
                break
            kind = 1 - kind
    return scans, result


def allowed(swappiness: int) -> list[int]:
    """Return the types that a swappiness allows."""
    return [
        kind for kind in (ANON, FILE) if (kind or swappiness) and not (kind and swappiness > 200)
    ]


def size_of(state: State, kind: int, seqs: Sequence[int]) -> int:
    """Return the pages of some generations of a type."""
    return sum(state["pages"][kind][seq % 4] for seq in seqs)


def aging(
    kernel: str, state: State, swappiness: int, priority: int, online: bool
) -> tuple[bool, int]:
    """Return whether a generation is made, and the pages to scan: get_nr_to_scan."""
    newest, oldest = state["max_seq"], state["min_seq"]
    total = sum(
        size_of(state, kind, range(oldest[kind], newest + 1)) for kind in allowed(swappiness)
    )
    if kernel == "7.3":
        left = newest - min(oldest[kind] for kind in allowed(swappiness))
        ages = left < 2 or (left == 2 and priority < 12)
        return ages, total >> priority if online else total
    left = newest - oldest[allowed(swappiness)[0]]
    young = sum(size_of(state, kind, [newest]) for kind in allowed(swappiness))
    old = sum(
        size_of(state, kind, [newest - 2])
        for kind in allowed(swappiness)
        if newest - 2 >= oldest[kind]
    )
    if left < 2:
        ages, total = True, 0
    else:
        ages = left == 2 and (young * 2 > total or old * 4 < total)
    if total and not online:
        return False, total
    return (True, 0) if ages and priority < 12 else (False, total >> priority)


def shrink(
    kernel: str,
    states: Sequence[State],
    swappiness: int,
    priority: int,
    *,
    root: bool,
    online: bool,
    scans: Sequence[int],
    stops: Sequence[bool],
) -> list[dict[str, Any]]:
    """Return the turns of try_to_shrink_lruvec, with a state, scanned pages and answer for each."""
    turns: list[dict[str, Any]] = []
    _, left = aging(kernel, states[0], swappiness, priority, online)
    aged_once, sum_scanned = False, 0
    for state, scanned, stop in zip(states, scans, stops, strict=True):
        turn = {"aged": False, "evicted": False, "batch": 0, "scanned": 0, "stop": None}
        turns.append(turn)
        if kernel == "7.3" and left <= 0:
            break
        ages, size = aging(kernel, state, swappiness, priority, online)
        turn["aged"] = ages
        aged_once |= ages
        if kernel == "6.12" and (ages or size == 0):
            break
        turn |= {"evicted": True, "scanned": scanned, "batch": min(left, 64)}
        sum_scanned += scanned
        if not scanned or (kernel == "6.12" and sum_scanned >= size):
            break
        turn["stop"] = stop
        if stop or (kernel == "7.3" and root and aged_once):
            turns.append(dict(turn, aged=False, evicted=False, scanned=0, stop=None))
            break
        left -= scanned
    return turns
