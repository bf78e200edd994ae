# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the verification of a complete reclaim trace with its counters alone in plain Python.

The trace has kswapd's lists of 32 folios, which oracle_stall_recording.py generates by the rules of
6.1, repeated. The verification compares each row with others, counts the lists, decides them and
the passes, and explains every recorded flag, the flags on a second core. Its peer only counts, from
precomputed rows, on one core.
"""

import time
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

import harness
import polars as pl

from swapsim.stall.recording import ReclaimRows
from swapsim.stall.verify import verify_rows

NAMES = ("stall/verify",)
RULES = "6.1"
FOLIOS = 2**21
PARTS = ("folios", "lists", "passes", "throttles", "rounds", "clears")
NUMBERS = ("seq", "list", "pass")
SHARED = ("file", "dirty", "writeback", "reclaim", "buffers", "fs_dirty", "fs_writeback", "pages")
SHARED += ("lazyfree", "under_writeback", "marked")
"""Columns that the plain model's pages have, too."""
LATE = ("dirty", "no_write", "pageout_keep", "pageout_activate", "written")


def once() -> dict[str, pl.DataFrame]:
    """Return what a kswapd of 6.1 wrote until the end of a pass, and then balanced its node."""
    import oracle_stall_recording

    kswapd = oracle_stall_recording.Task(1, 0, kswapd=True)
    kernel = oracle_stall_recording.Kernel(RULES, Random(1), [kswapd], sizes=(32,))
    kernel.run(120)
    end = kernel.rows["reclaim_passes"][-1]["seq"]
    for table, rows in kernel.rows.items():
        kernel.rows[table] = [row for row in rows if row["seq"] <= end]
    kernel.seq = end
    kernel.clear(kswapd, 7, "balanced")
    return dict(zip(PARTS, kernel.frames().values(), strict=True))


def over_and_over(part: dict[str, pl.DataFrame], times: int) -> ReclaimRows:
    """Return the tables so often, with numbers that go on."""
    most = {
        number: max(int(table[number].max() or 0) for table in part.values() if number in table)
        for number in NUMBERS
    }
    nth = pl.DataFrame({"nth": range(times)}, schema={"nth": pl.UInt64})

    def go_on(table: pl.DataFrame) -> pl.DataFrame:
        moved = [
            pl.when((pl.col(name) > 0) | (name == "seq"))
            .then(pl.col(name) + pl.col("nth") * (most[name] + 1))
            .otherwise(0)
            .cast(pl.UInt64)
            .alias(name)
            for name in NUMBERS
            if name in table
        ]
        return nth.join(table, how="cross").with_columns(moved).drop("nth")

    return ReclaimRows(**{name: go_on(table) for name, table in part.items()})


def folios_a_second(rows: ReclaimRows) -> float:
    """Verify the trace; return the folios a second."""
    start = time.perf_counter()
    verdict = verify_rows(rows, rules=RULES)
    spent = time.perf_counter() - start
    complete = verdict.agrees and verdict.counts["lists"][0] == rows.lists.height
    harness.require(complete, "a made-up trace does not verify")
    return rows.folios.height / spent


def model(part: dict[str, pl.DataFrame]) -> float:
    """Return the same of the plain Python model, which counts the lists."""
    import oracle_stall

    known = {row["list"]: row for row in part["lists"].iter_rows(named=True)}
    dealt: dict[int, list[oracle_stall.Row]] = {number: [] for number in known}
    for folio in part["folios"].iter_rows(named=True):
        page = oracle_stall.Page(
            **{name: folio[name] for name in SHARED},
            dirty_late=folio["step"] in LATE,
            congested=bool(folio["congested"]),
        )
        came_back, flags = bool(folio["clean"]), folio["node_flags"] or 0
        dealt[folio["list"]].append(oracle_stall.Row(page, folio["step"], came_back, flags))
    counted = {}
    start = time.perf_counter()
    for number, some in dealt.items():
        of_list = known[number]
        context = oracle_stall.Context(RULES, kswapd=True, priority=of_list["priority"])
        counted[number] = oracle_stall.replay(
            context, some, file=of_list["file"], taken=of_list["taken"]
        ).reclaim.counts
    spent = time.perf_counter() - start
    same = all(counts.dirty == known[number]["dirty"] for number, counts in counted.items())
    harness.require(same, "the plain model counts otherwise")
    return part["folios"].height / spent


def run() -> Iterator[Any]:
    """Yield the benchmark of NAMES."""
    part = once()
    rows = over_and_over(part, -(-FOLIOS // part["folios"].height))
    unit = "million folios/s (peer: counters alone in plain Python, oracle_stall.py)"
    yield harness.compare(NAMES[0], unit, partial(folios_a_second, rows), partial(model, part), 1e6)
