# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C: reclaim's stall decisions in one place, eight patches (2013, merged for 3.11).

The mail's machine is `reclaim.parallelio` with its defaults, which are data/reclaim.csv. Here
stand what is fitted to which cell, the points of studies, and the columns of the mail's tables.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import product
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim import ffi, reclaim
from swapsim.patches.common import FIT_ROWS
from swapsim.published import data
from swapsim.published.rows import Side, side
from swapsim.reclaim import MIB_PAGES, constants
from swapsim.study import Study

PATCH: Final = "03-stall-decisions"

KERNELS: Final = {
    "vanilla": "3.9",
    "mm1-mmotm-20130522": "mmotm",
    "mm1-lessdisrupt-v7r10": "series-8",
}
"""The mail's three kernels, and the names of their rule sets."""

BEFORE, BASE, SERIES = RULES = tuple(KERNELS.values())
TARGETS: Final = ("disk", "nfs")  # where the file is: in the mail's first tables, in its second
ELAPSED: Final = "Elapsed"  # of a run; the mail prints it only as the quotient of two rows

_PUBLISHED: Final = partial(data.published_of, PATCH)
_LABELS: Final = {rules: kernel for kernel, rules in KERNELS.items()}


class Point(NamedTuple):
    """A run of the mail's test."""

    rules: str
    target: str = "disk"
    seed: int = 1
    changed: Mapping[str, Any] = {}


def mail_rows(point: Point, **test: Any) -> pl.DataFrame:
    """Run the mail's test, or a part of it, and return its rows by the mail's names (RESULTS)."""
    nfs, changed = point.target == "nfs", {**point.changed, **test}
    run = reclaim.parallelio(point.rules, nfs=nfs, seed=point.seed, **changed)
    elapsed = pl.DataFrame({"metric": [ELAPSED], "value": [run.elapsed_ns / 1e9]})
    rows = pl.concat([run.rows, elapsed]).with_columns(
        metric=pl.format("{}: {}", pl.lit(point.target), "metric"),
        unit=pl.col("metric").replace_strict(_units(), default="").cast(pl.String),
    )
    kernel = _LABELS.get(point.rules, point.rules)
    labels: dict[str, str | int] = {"patch": PATCH, "kernel": kernel, "policy": point.rules}
    return data.results(rows, labels | {"n_tasks": 1, "seed": point.seed})


@cache
def _units() -> dict[str, str]:
    rows = data.published_tables().filter(patch=PATCH).select("metric", "unit").unique()
    return {**dict(rows.iter_rows()), ELAPSED: "s"}


def until_first_file(run: Callable[[Any], pl.DataFrame], points: Any) -> Callable[..., Any]:
    """Return a sample of points whose tests end with their first file: the rows of the client."""

    def sample(_rows: pl.DataFrame, pick: int) -> pl.DataFrame:
        point = points[pick % len(points)]
        short = point._replace(changed={**point.changed, "io": (0, 715)})
        return run(short).filter(pl.col("metric").str.contains(r": Ops .*-(0|715)M$"))

    return sample


# The fit. What is fitted to which cell was stored before the first run.

FITTED: Final = {
    "disk_rate": ("disk", "Ops io-duration-4055M"),
    "cached_pages": ("disk", "Kswapd pages reclaimed"),
    "redirty_ns": ("disk", "Kswapd pages scanned"),
    "server_rate": ("nfs", "Ops io-duration-4055M"),
}
"""Constants, each with the cell of mmotm's that depends on it most: they are bisected one after
another in their ranges in data/reclaim.csv. Only the pages reclaimed rise with theirs."""

OPERATIONS: Final = ("disk", "Ops memcachetest-0M")  # gives op_ns, as nothing is missed there
TOTAL: Final = ("disk", ELAPSED)  # gives gap_ms, before each round: what the run lacks to it
CELLS: Final = (OPERATIONS, TOTAL, *FITTED.values())

FIT_SEEDS: Final = {"disk": (101, 102, 103), "nfs": (101,)}
"""Other seeds than those of the tables; over NFS a run has five rounds of each size."""

STEPS: Final = 6  # halvings of a range, on a scale of logarithms but for the pages, from 0
NEAR: Final = 0.05  # relative difference at which a figure counts as met


def wanted() -> dict[tuple[str, str], float]:
    """Return mmotm's printed figure of each cell."""
    printed = {
        (row["table"].rpartition(", ")[2], row["metric"]): row["value"]
        for row in _PUBLISHED()[0].filter(kernel=_LABELS[BASE]).iter_rows(named=True)
    }
    elapsed = printed["disk", "Kswapd pages scanned"] / printed["disk", "Kswapd velocity"]
    return {each: elapsed if each == TOTAL else printed[each] for each in CELLS}


def figures(changed: Mapping[str, int], target: str) -> dict[str, float]:
    """Return mmotm's simulated figures, the means over FIT_SEEDS."""
    rows = pl.concat(mail_rows(Point(BASE, target, seed, changed)) for seed in FIT_SEEDS[target])
    named = rows.with_columns(pl.col("metric").str.strip_prefix(f"{target}: "))
    means = named.group_by("metric").agg(pl.col("value").mean())
    return dict(means.iter_rows())


def search(run: Callable[..., Mapping[str, float]] = figures) -> dict[str, int]:
    """Find the constants, to three digits; one out of reach of its figure ends at its range's end.

    No cell of mmotm's depends on ``seek_near_ns``, so it is the middle of its range.
    """
    limits = constants().rows_by_key("name", named=True, unique=True)
    aim, near, gap = wanted(), limits["seek_near_ns"], limits["gap_ms"]
    found = {
        "op_ns": round(1e9 / aim[OPERATIONS]),
        "seek_near_ns": _three_digits(math.sqrt(near["low"] * near["high"])),
        "gap_ms": gap["low"],
    }
    for name, (target, row) in FITTED.items():
        low, high = limits[name]["low"], limits[name]["high"]
        for _ in range(STEPS):
            middle = math.sqrt(low * high) if limits[name]["low"] else (low + high) / 2
            figure = run(found | {name: int(middle)}, target)[row]
            more = (figure > aim[target, row]) != (name == "cached_pages")
            low, high = (middle, high) if more else (low, middle)
        found[name] = _three_digits(math.sqrt(low * high) if low else (low + high) / 2)
    rounds = 1 + 4  # of warm-up, and one of each size
    missing = 1000 * (aim[TOTAL] - run(found, "disk")[ELAPSED]) / rounds
    return found | {
        "gap_ms": _three_digits(min(max(gap["low"], gap["low"] + missing), gap["high"]))
    }


def _three_digits(value: float) -> int:
    return int(float(f"{value:.2e}"))


def fit(_rules: str) -> pl.DataFrame:
    """Fit the free constants to mmotm's column (FIT_ROWS)."""
    found, aim = search(), wanted()
    met = {target: figures(found, target) for target in TARGETS}
    values = {each: met[each[0]][each[1]] for each in aim}
    near = all(abs(values[each] / aim[each] - 1) <= NEAR for each in aim)
    rows: list[tuple[str, str, float, float | None, bool]] = [
        (BASE, name, float(value), None, near) for name, value in found.items()
    ]
    rows += [(BASE, ": ".join(each), values[each], aim[each], near) for each in aim]
    return FIT_ROWS.check(pl.DataFrame(rows, schema=FIT_ROWS.schema, orient="row"))


def fit_again(rows: pl.DataFrame, _pick: int) -> pl.DataFrame:
    """Return the rows of the disk's figures, from new runs with the constants that were found."""
    free = rows.filter(pl.col("wanted").is_null()).select("name", pl.col("value").cast(int))
    found = figures(dict(free.iter_rows()), "disk")
    disk = rows.filter(pl.col("name").str.starts_with("disk: "))
    return disk.with_columns(
        value=pl.Series([found[name.removeprefix("disk: ")] for name in disk["name"]])
    )


fitted: Final = Study(
    name="stall-decisions-fit",
    points=(BASE,),
    run=fit,
    sample=fit_again,
    reads=("reclaim.csv", _PUBLISHED),
)

# The studies.

SEEDS: Final = {
    "disk": dict.fromkeys(RULES, range(201, 221)),
    "nfs": {BEFORE: range(201, 204), BASE: range(201, 207), SERIES: range(201, 207)},
}
"""Stored before the first run. Over NFS a run has five rounds of each size; 3.9 takes longest."""

_ON_DISK, _OVER_NFS = ([Point(r, t, s) for r in RULES for s in SEEDS[t][r]] for t in TARGETS)

tables: Final = Study(
    name="stall-decisions-tables",
    points=_ON_DISK + _OVER_NFS,
    run=mail_rows,
    # A sample is of the disk: over NFS the end of a run reaches into its last round.
    sample=until_first_file(mail_rows, _ON_DISK),
    reads=("reclaim.csv", _PUBLISHED),
)
"""Both tests of the mail by its three kernels (RESULTS)."""

# One round with the first file that makes 3.9 collapse, on other machines.

DISK_MB: Final = (20, 60, 120, 500, 2000)
MEMORY_GB: Final = (4, 7, 16, 32)
SOME_SEEDS: Final = (1, 2, 3)
FILE_MIB: Final = 2385


class Other(NamedTuple):
    """A machine that differs from the mail's in one factor, by one rule set."""

    factor: str
    setting: float
    rules: str
    seed: int
    changed: Mapping[str, Any]
    file: int = FILE_MIB


def others() -> list[Other]:
    """Return disks, whose seeks shorten with their rate, and memories, with pool and file."""
    mail = dict(constants().select("name", "value").iter_rows())
    found = []
    for rules, seed in product(RULES, SOME_SEEDS):
        for megabytes in DISK_MB:
            seeks = {
                name: int(mail[name] * min(mail["disk_rate"] / MIB_PAGES / megabytes, 1))
                for name in ("seek_near_ns", "seek_far_ns")
            }
            disk = {"disk_rate": megabytes * MIB_PAGES, **seeks}
            found.append(Other("disk, MB/s", float(megabytes), rules, seed, disk))
        for gigabytes in MEMORY_GB:
            pages = gigabytes * 1024 * MIB_PAGES
            share = pages / mail["memory_pages"]
            memory = {
                "memory_pages": pages,
                "pool_pages": int(mail["pool_pages"] * share),
                "swap_pages": max(mail["swap_pages"], pages),
            }
            file = int(FILE_MIB * share)
            found.append(Other("memory, GB", float(gigabytes), rules, seed, memory, file))
    return found


def run_other(point: Other) -> pl.DataFrame:
    """Run the round, after the warm-up's; ``factor, setting, rules, seed, metric, value``."""
    run = reclaim.parallelio(point.rules, io=(point.file,), seed=point.seed, **point.changed)
    rows = run.vmstat.filter(pl.col("metric").is_in(("Kswapd pages scanned", "Page writes file")))
    served = {"metric": ["Operations a second"], "value": [run.rounds["ops_per_second"][-1]]}
    named = [pl.lit(getattr(point, name)).alias(name) for name in Other._fields[:4]]
    return pl.concat([rows, pl.DataFrame(served)]).select(*named, "metric", "value")


machines: Final = Study(
    name="stall-decisions-what-if",
    points=others,
    run=run_other,
    quick=lambda point: point.factor != "memory, GB" or point.setting < 16,
    reads=("reclaim.csv",),
)

NODE_RULES: Final = ("3.9", "mmotm", "series-8", "3.11", "6.1")


def on_nodes() -> list[Point]:
    """Return each rule set on the lists that it has: of two zones, and of one node."""
    mail = dict(constants().select("name", "value").iter_rows())
    # A node is one zone with the memory and the watermarks of both.
    node = {"dma32_pages": mail["memory_pages"] - mail["other_pages"]}
    return [
        Point(rules, "disk", seed, changed)
        for changed in ({}, node)
        for rules in NODE_RULES
        if changed or rules in ffi.RECLAIM_RULES
        for seed in SOME_SEEDS
    ]


def run_node(point: Point) -> pl.DataFrame:
    """Run a point and return its rows (RESULTS); the kernel names the lists."""
    lists = "one node" if "dma32_pages" in point.changed else "two zones"
    return mail_rows(point).with_columns(kernel=pl.lit(lists))


node: Final = Study(
    name="stall-decisions-node",
    points=on_nodes,
    run=run_node,
    sample=until_first_file(run_node, on_nodes()),
    reads=("reclaim.csv",),
)

# The columns of the mail's tables.

_SIZES: Final = {"0": "0M", "0.5": "715M", "1.67": "2385M", "2.84": "4055M"}
"""Files of the lab, in the memory that the pool leaves, and of the mail."""

_TABLES: Final = {"Ops": "parallelio", "Mean": "iostat", "Max": "iostat"}
"""The table of a row by its first word; all others are vmstat's."""


def simulated() -> Iterator[Side]:
    """Yield the means over the seeds; the fit has six figures of mmotm's columns."""
    yield from _sides(tables(), mean=True)


def measured() -> Iterator[Side]:
    """Yield what patched 6.1 counts on a disk by the rules of 3.9, mmotm and the series.

    The lab runs a small version of the test, with files in proportion to its memory.
    """
    rows = data.measured_results("stall-rules").filter(pl.col("policy").is_in(RULES))
    row, size = (pl.col("metric").str.extract(r"^(.+?)(?:-([0-9.]+))?$", n) for n in (1, 2))
    by_size = pl.col("metric").str.starts_with("Ops ")
    named = pl.concat_str(row, pl.lit("-") + size.replace_strict(_SIZES, default=None)).alias("row")
    yield from _sides(
        rows.filter(by_size | size.is_null()).with_columns(
            metric=pl.format("disk: {}", pl.when(size.is_null()).then(row).otherwise(named))
        )
    )


def by_hand() -> dict[tuple[str, str], float]:
    """Return nothing: the mail prints no profile."""
    return {}


def _sides(rows: pl.DataFrame, *, mean: bool = False) -> Iterator[Side]:
    for (name,), part in rows.group_by("metric", maintain_order=True):
        target, _, metric = str(name).partition(": ")
        first, base, patched = (
            dict(part.filter(policy=rules).select("seed", "value").iter_rows()) for rules in RULES
        )
        table = f"{_TABLES.get(metric.split()[0], 'vmstat')}, {target}"
        cell = mean and (target, metric) in CELLS
        if found := side(table, metric, base, patched, first=first, mean=mean, fitted=cell):
            yield found
