# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters of large folios (mTHP) of two kernels as rows of YOUR_RUNS, and the shares they say.

A snapshot is a copy of the files of /sys/kernel/mm/transparent_hugepage/hugepages-*kB/stats, or the
text that ``grep . /sys/kernel/mm/transparent_hugepage/hugepages-*kB/stats/*`` prints::

    PATH/KERNEL/ROUND.txt                     counted since boot
    PATH/KERNEL/ROUND/hugepages-64kB/stats/swpout
    PATH/KERNEL/ROUND/before.txt, after.txt   counted between both
    PATH/KERNEL/ROUND/before/hugepages-64kB/stats/swpout, after/...
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import io
from swapsim.checks import checked
from swapsim.claims.rounds import difference
from swapsim.claims.tables import CLAIMS, FALLBACK_SHARES, YOUR_RUNS
from swapsim.claims.tool_results import Row, complete, counter_of
from swapsim.errors import InputError
from swapsim.study.ranking import interval

TEST: Final = "mthp"  # the test of these rows

COUNTERS: Final = ("swpout", "swpout_fallback")
"""Large folios that were swapped out whole, and those that had to be split first."""

_FILE: Final = re.compile(r"hugepages-(\d{1,8})kB/stats/(\w{1,60})$")
_LINE: Final = re.compile(r"hugepages-(\d{1,8})kB/stats/(\w{1,60}):(.*)$")
_BEFORE, _AFTER = "before", "after"
Snapshot = dict[int, dict[str, int]]  # size in kB -> counter -> value


def mthp_rows(folder: Path) -> list[Row]:
    """Return the counts of each round of each kernel, empty if the folder has no such counters."""
    snapshots = dict(_snapshots(folder))
    sizes: dict[Path, set[int]] = {at: set(found) for at, found in snapshots.items()}
    for at, found in sizes.items():
        first = next(iter(sizes))
        if found != sizes[first]:
            lacking = min(found ^ sizes[first])
            has, lacks = (at, first) if lacking in found else (first, at)
            raise InputError(
                f"has no counters of folios of {lacking} kB, which {has.relative_to(folder)} has: "
                "copy those of all sizes, of both kernels",
                path=lacks,
            )
    rows, numbers = [], dict[str, int]()
    for kernel, counted, at in _rounds(folder, snapshots):
        numbers[kernel] = numbers.get(kernel, 0) + 1
        for size, counters in sorted(counted.items()):
            for name, value in counters.items():
                if value < 0:
                    raise InputError(
                        f"the counter {name} of folios of {size} kB goes down by {-value} from "
                        "before to after: the kernel was booted again; record both in one boot",
                        path=at,
                    )
                metric = f"{_text(size)}/{name}"
                rows.append((kernel, TEST, metric, float(value), "folios", numbers[kernel]))
    return rows


def _text(size: int) -> str:
    """Return a size as the mails write it."""
    return f"{size // 1024}M" if size % 1024 == 0 else f"{size}kB"


def _snapshots(folder: Path) -> Iterator[tuple[Path, Snapshot]]:
    """Yield each snapshot's file or folder, and its counters; sorted."""
    found: dict[Path, Snapshot] = {}
    for path in sorted(folder.rglob("swpout*")):
        named = _FILE.search(path.as_posix())
        if named and named[2] in COUNTERS and path.is_file():
            at = path.parents[2]
            count = counter_of(complete(io.read_text(path), path).strip(), path, None)
            found.setdefault(at, {}).setdefault(int(named[1]), {})[named[2]] = count
    for path in sorted(folder.rglob("*.txt")):
        text = io.read_text(path)
        for number, line in enumerate(text.splitlines(), start=1):
            named = _LINE.search(line.strip())
            if named and named[2] in COUNTERS:
                count = counter_of(named[3].strip(), path, number)
                complete(text, path)
                found.setdefault(path, {}).setdefault(int(named[1]), {})[named[2]] = count
    for at, snapshot in sorted(found.items()):
        for size, counters in sorted(snapshot.items()):
            for name in COUNTERS:
                if name not in counters:
                    raise InputError(
                        f"has no counter {name} of folios of {size} kB: copy both, "
                        f"{' and '.join(COUNTERS)}",
                        path=at,
                    )
        yield at, snapshot


def _rounds(folder: Path, snapshots: dict[Path, Snapshot]) -> Iterator[tuple[str, Snapshot, Path]]:
    """Yield kernel, counts and place of each round."""
    for at, after in snapshots.items():
        parts = at.relative_to(folder).parts
        if len(parts) < 2:
            raise InputError(
                "holds counters without a kernel: put each kernel's into a folder of its name, "
                "a round each",
                path=at,
            )
        name = at.stem if at.suffix == ".txt" else at.name
        other = {_BEFORE: _AFTER, _AFTER: _BEFORE}.get(name)
        partner = at.with_name(f"{other}{at.suffix}")
        if other and partner not in snapshots:
            raise InputError(f"has no counters of {other} next to it: add them", path=at)
        if name == _BEFORE:
            continue
        before = snapshots[partner] if other else {}
        yield (
            parts[0],
            {
                size: {
                    each: value - before.get(size, {}).get(each, 0)
                    for each, value in counters.items()
                }
                for size, counters in after.items()
            },
            at,
        )


@checked
def fallback_shares(
    runs: pl.DataFrame, claims: pl.DataFrame, *, base: str, patched: str
) -> pl.DataFrame:
    """Return FALLBACK_SHARES: the share of large folios that were split, published and a user's.

    There is one row per size and published pair of shares of it, or one per size without; none
    without metrics of `mthp_rows`. The user's are medians over the rounds with intervals.
    """
    counted = YOUR_RUNS.check(runs).filter(test=TEST)
    rows: list[dict[str, Any]] = []
    for size in counted["metric"].str.split("/").list.first().unique(maintain_order=True):
        both = {name: _shares(counted.filter(kernel=name), size) for name in (base, patched)}
        row: dict[str, Any] = {"size": size}
        for side, name in (("base", base), ("patched", patched)):
            values = both[name]["value"].to_list()
            if values:
                low, high = interval(values)
                row |= {side: float(np.median(values)), f"{side}_low": low, f"{side}_high": high}
            row[f"{side}_rounds"] = len(values)
        found = difference(both[base], both[patched])
        row["seen"] = found and found["seen"]
        rows += [row | each for each in _published(claims, size)] or [row]
    return FALLBACK_SHARES.check(pl.DataFrame(rows, schema=FALLBACK_SHARES.schema))


def _shares(runs: pl.DataFrame, size: str) -> pl.DataFrame:
    """Return round and share of a kernel's folios of a size; rounds without one are left out."""
    whole, split = (
        runs.filter(metric=f"{size}/{name}").select(seed="run", **{name: "value"})
        for name in COUNTERS
    )
    folios = pl.col("swpout") + pl.col("swpout_fallback")
    return (
        whole.join(split, on="seed")
        .filter(folios > 0)
        .select("seed", value=100 * pl.col("swpout_fallback") / folios)
        .sort("seed")
    )


def _published(claims: pl.DataFrame, size: str) -> Iterator[dict[str, Any]]:
    """Yield each published pair of shares of a size, with the table that has it."""
    names = [f"{size}/{name}" for name in COUNTERS]
    names += [f"hugepages-{name.replace('/', '/stats/')}" for name in names]
    chosen = CLAIMS.check(claims).filter(pl.col("metric").is_in(names))
    place = pl.col("locator").str.split(" | ").list.first()
    for table in chosen.with_columns(place=place).partition_by(
        "mail", "place", maintain_order=True
    ):
        rows = {row["metric"].rpartition("/")[2]: row for row in table.iter_rows(named=True)}
        if set(rows) != set(COUNTERS):
            continue
        sides = {}
        for side, column in (("published_base", "base"), ("published_patched", "value")):
            whole, split = (rows[name][column] for name in COUNTERS)
            sides[side] = 100 * split / (whole + split) if whole + split else None
        yield {"table": f"{table['mail'][0]}: {table['place'][0]}", **sides}
