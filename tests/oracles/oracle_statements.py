# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases of patch C's statements on code, row by row: the slow model of `held_cases`."""

from collections import defaultdict
from typing import Any

from swapsim.stall.recording import ReclaimRows

Row = dict[str, Any]
TAIL_DIRTY, WRITEBACK, CONGESTED = 1, 2, 4


def counts_as(folio: Row, what: str) -> bool:
    """Return whether a folio counts as dirty or under writeback."""
    if not folio["file"] or folio["lazyfree"]:
        return False
    answer = folio[f"fs_{what}"]
    return bool(folio[what] if answer is None else answer)


def by_own_flag(folio: Row, what: str) -> Row:
    """Return the folio of a kernel that does not ask its filesystem whether it is dirty, or so."""
    return folio | {f"fs_{what}": None}


def dirty_and_unqueued(folios: list[Row]) -> tuple[int, int]:
    """Return the pages that count as dirty or under writeback, and those not under writeback."""
    dirty = unqueued = 0
    for folio in folios:
        if counts_as(folio, "dirty") or counts_as(folio, "writeback"):
            dirty += folio["pages"]
            if not counts_as(folio, "writeback"):
                unqueued += folio["pages"]
    return dirty, unqueued


def held_cases(rows: ReclaimRows, complete: set[int]) -> list[tuple[int, int, int]]:
    """Return patch, held and cases by part; ``complete`` are the lists that the recording has."""
    of_list: dict[int, list[Row]] = defaultdict(list)
    for folio in rows.folios.iter_rows(named=True):
        of_list[folio["list"]].append(folio)
    lists = {row["list"]: row for row in rows.lists.iter_rows(named=True)}
    calls = [row for row in rows.throttles.iter_rows(named=True) if row["pass"] > 0]
    parts = {1: 1, 2: 3, 3: 1, 4: 1, 5: 2, 6: 1, 7: 2, 8: 2}
    cases: dict[tuple[int, int], list[bool]] = {
        (patch, part): [] for patch, n in parts.items() for part in range(n)
    }
    waited = {call["list"] for call in calls if call["reason"] == "congestion_wait"}
    paused = {call["list"] for call in calls if call["reason"] == "wait_iff_congested"}
    for number in sorted(complete):
        row = lists[number]
        met = [f for f in of_list[number] if f["step"] not in ("lock", "evictable", "mapped")]
        for folio in of_list[number]:
            flags = folio["node_flags"] or 0
            if row["kswapd"] and folio["under_writeback"] and folio["marked"] and flags & WRITEBACK:
                cases[1, 0].append(folio["outcome"] != "reclaimed")
            written = folio["clean"] is not None and folio["file"] and not folio["lazyfree"]
            if row["kswapd"] and written:
                cases[2, 1].append(bool(flags & TAIL_DIRTY))
        if not row["file"] and any(f["dirty"] or f["writeback"] for f in met):
            cases[2, 0].append(row["dirty"] == row["unqueued_dirty"] == 0)
        if row["flags_set"] & TAIL_DIRTY:
            cases[2, 2].append(row["unqueued_dirty"] == row["taken"] and number in waited)
        marked = [f for f in met if counts_as(f, "writeback") and f["reclaim"]]
        if marked:
            congested = [f for f in met if f in marked or f["congested"]]
            cases[6, 0].append(row["congested"] == sum(f["pages"] for f in congested))
        truth = dirty_and_unqueued(met)
        if row["kswapd"] and row["flags_before"] & CONGESTED:
            cases[5, 1].append(number not in paused)
        for patch, buffers, order in (
            (7, True, ("dirty", "writeback")),
            (8, False, ("writeback", "dirty")),
        ):
            for part, what in enumerate(order):
                unasked = [by_own_flag(f, what) if f["buffers"] is buffers else f for f in met]
                if dirty_and_unqueued(unasked) != truth:
                    cases[patch, part].append((row["dirty"], row["unqueued_dirty"]) == truth)
    for call in calls:
        own = [f["seq"] for f in of_list.get(call["list"], [])]
        others = [
            [f["seq"] for f in of_list.get(number, [])]
            for number, row in lists.items()
            if row["pass"] == call["pass"]
        ]
        ended = all(seq < call["seq"] for seq in own)
        after = ended and not any(s and min(s) < call["seq"] < max(s) for s in others)
        cases[3, 0].append(after)
        row = lists.get(call["list"], {})
        if row and row["flags_set"] & WRITEBACK and not row["flags_before"] & WRITEBACK:
            cases[4, 0].append(bool((call["flags"] or 0) & WRITEBACK))
        if call["reason"] == "wait_iff_congested" and (row or not call["list"]):
            cases[5, 0].append(bool(row) and not row["kswapd"] and after)
    return [(patch, sum(held), len(held)) for (patch, _), held in cases.items()]
