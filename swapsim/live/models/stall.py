# SPDX-License-Identifier: GPL-2.0-or-later
"""One list of reclaim, decided by each rule set."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim.ffi import STALL_FLAGS, STALL_RULES, STALL_SLEEPS
from swapsim.patches.stall_decisions.lists import make_list, process_list

_COUNTS: Final = (
    *("dirty", "unqueued_dirty", "congested", "writeback", "immediate", "taken", "file_taken"),
    *("slept", "written", "freed", "freed_under_writeback"),
)


def setting(*kinds: str) -> dict[str, Any]:
    """Return a list of pages in words (`make_list`) and its context as a setting.

    ``counts`` has the number of pages of each kind, in the order in which they are scanned: a
    control changes it. ``kinds`` has the flags of such a page, which only JavaScript needs.
    """
    counts: dict[str, int] = {}
    for kind in kinds:
        number, words = kind.split(maxsplit=1)
        counts[words] = counts.get(words, 0) + int(number)
    pages = {words: make_list(f"1 {words}").drop("place").row(0, named=True) for words in counts}
    context = {"priority": 12, "kswapd": True, "flags": [], "meetings": 1}
    return {"counts": counts, "kinds": pages, "rules": [*STALL_RULES], **context}


def rows(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return ``meeting, rules, metric, value`` of `Processed.ends`.

    A flag that is set and a throttle that is requested have the value 1, and others 0.
    """
    kinds = [f"{count} {words}" for words, count in values["counts"].items() if count]
    context = {name: values[name] for name in ("priority", "kswapd", "flags", "meetings")}
    found = process_list(make_list(*kinds), values["rules"], **context).ends
    words = {"flag": ("flags_set", STALL_FLAGS), "throttle": ("sleeps", STALL_SLEEPS)}
    done = [
        pl.col(column).list.contains(name).cast(pl.Int64).alias(f"{kind} {name}")
        for kind, (column, names) in words.items()
        for name in names
    ]
    ends = found.select("meeting", "rules", *_COUNTS, *done).with_row_index()
    labels = ["index", "meeting", "rules"]
    long = ends.unpivot(index=labels, variable_name="metric")
    return long.sort("index", maintain_order=True).drop("index")
