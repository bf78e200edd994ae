# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies of large folios under the rules of several kernels.

The parameters of the streams were stored in data/published/README.md before their first run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.clusters import folios, requests
from swapsim.clusters.tables import CLUSTER_LISTS, CLUSTER_RULES, FREE_RUNS
from swapsim.patches.newer_kernels.tables import BUILD_RUNS, TEST_LINES, TURNOVER_RUNS
from swapsim.study import Study

TURNOVER: Final = "large-folios-turnover"
"""The experiment with the harder test."""

TESTS: Final[Mapping[str, Mapping[str, bool]]] = {
    "first": {"first": True},
    "first -s": {"first": True, "small": True},
    "plain": {},
    "-s": {"small": True},
    "-a": {"aligned": True},
    "-a -s": {"aligned": True, "small": True},
}
"""The test's programs and options by name."""

_OLD: Final = tuple((name, "6.11", False) for name in TESTS)
_NEW: Final = tuple((name, rules, True) for name in TESTS for rules in ("6.12", "7.3"))
_V5: Final = tuple((name, "6.12", False) for name in ("plain", "-s", "-a", "-a -s"))


def _test(point: tuple[str, str, bool]) -> pl.DataFrame:
    name, rules, whole = point
    stream = requests.allocator_test(**TESTS[name], swap_in_whole=whole)
    lines = folios.lines_of(folios.run(stream, rules).out)[stream.warm_up :]
    rows = [(name, rules, whole, number, *line) for number, line in enumerate(lines, start=1)]
    return TEST_LINES.check(pl.DataFrame(rows, schema=TEST_LINES.schema, orient="row"))


kernel_test: Final = Study(
    name="newer-kernels-kernel-test",
    points=(*_OLD, *_NEW, *_V5),
    run=_test,
    quick=lambda point: "-a" in point[0],
    reads=(),
)
"""The lines of the kernel's test under the rules before 6.12, of 6.12 and of 7.3 (TEST_LINES)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """A rule set of a kernel, by the nearest one of the library and what differs from it."""

    rules: str
    switches: tuple[tuple[str, bool], ...] = ()
    return_cache: bool = True


_ISOLATED: Final = (("isolates", True), ("trylock", True))

KERNELS: Final[Mapping[str, RuleSet]] = {
    "6.11": RuleSet(rules="6.11"),
    "6.12": RuleSet(rules="6.12"),
    "6.13": RuleSet(rules="6.12", switches=_ISOLATED),
    "6.14": RuleSet(rules="6.12", switches=_ISOLATED, return_cache=False),
    "6.12-nonfull-first": RuleSet(rules="6.12-nonfull-first"),
    "6.17": RuleSet(rules="7.3", switches=(("nonfull_first", False), ("full_before_frag", False))),
    "6.18": RuleSet(rules="7.3"),
}
"""Rule sets by the kernels that they stand for; between 6.12 and 7.3 they are switches."""

RULES_OF: Final[Mapping[tuple[str, int], tuple[str, ...]]] = {
    ("64K", 8): ("6.11", "6.12", "6.12-nonfull-first", "6.17", "6.18"),
    ("64K", 10): ("6.17", "6.18"),
    ("64K, 1152 MB", 10): ("6.13", "6.14"),
    ("all", 10): ("6.11", "6.12", "6.12-nonfull-first", "6.17", "6.18"),
    ("all, fifth version", 4): ("6.11", "6.12"),
}
"""Builds and sizes of the mails' devices -> the rule sets that are compared on them."""

_OPEN: Final = ((0.7, 0.25), (0.6, 0.25), (0.8, 0.25), (0.7, 0.125), (0.7, 0.5))
"""(share of slots in use, share of single pages): the middle, and what is open."""

_SEEDS: Final = 5

_BuildPoint = tuple[str, float, float, int]


def _builds() -> list[_BuildPoint]:
    """Return the middle with all seeds, and each open end with the first."""
    return [
        (build, in_use, singles, seed)
        for build in requests.BUILDS
        for in_use, singles in _OPEN
        for seed in range(1, _SEEDS + 1 if (in_use, singles) == _OPEN[0] else 2)
    ]


def run_rules(
    stream: requests.Requests, kernel: str, *, slots: int | None = None
) -> folios.FolioRun:
    """Run a stream under one of KERNELS."""
    chosen = KERNELS[kernel]
    return folios.run(
        stream,
        chosen.rules,
        slots=slots,
        switches=dict(chosen.switches),
        return_cache=chosen.return_cache,
    )


def _build(point: _BuildPoint) -> pl.DataFrame:
    build, in_use, singles, seed = point
    stream = requests.kernel_build(build, seed=seed, in_use=in_use, singles=singles)
    frames = []
    for (name, gigabytes), kernels in RULES_OF.items():
        if name != build:
            continue
        slots = stream.slots if gigabytes < 10 else stream.slots * 5 // 4
        for kernel in kernels:
            out = run_rules(stream, kernel, slots=slots).out
            labels = {"build": build, "gigabytes": gigabytes, "in_use": in_use}
            labels |= {"singles": singles, "seed": seed, "rules": kernel}
            frames.append(
                out.drop("rules")
                .filter(pl.col("stage") > stream.warm_up, pl.col("order") > 0)
                .with_columns(pl.lit(value).alias(key) for key, value in labels.items())
                .select(pl.col(key).cast(dtype) for key, dtype in BUILD_RUNS.schema.items())
            )
    return BUILD_RUNS.check(pl.concat(frames))


kernel_builds: Final = Study(
    name="newer-kernels-kernel-builds",
    points=_builds,
    run=_build,
    # A sample is one of 8 CPUs, whose stream is the shortest.
    quick=lambda point: point[0] == "all, fifth version",
    reads=(),
)
"""Large folios of the builds under the rules of each pair (BUILD_RUNS)."""


def _device(kind: str) -> pl.DataFrame:
    """Return the lists or the free runs of the device of the harder test, over time."""
    stream = requests.turnover(claims.measured_requests(TURNOVER), seed=1)
    run = folios.run(stream, CLUSTER_RULES.words)
    rows = run.lists.select(
        "rules",
        stage=pl.col("seq").cast(pl.UInt32),
        what=pl.col("list").cast(pl.String),
        n=pl.col("clusters").cast(pl.UInt64),
    )
    if kind == "runs":
        rows = run.free_runs.select(
            "rules", "stage", what=pl.format("order {}", "order"), n=pl.col("runs")
        )
    return rows.with_columns(kind=pl.lit(kind), rules=pl.col("rules").cast(pl.String))


device: Final = Study(
    name="newer-kernels-device",
    points=("lists", "runs"),
    run=_device,
    reads=(f"measured/{TURNOVER}/requests.parquet",),
)
"""Clusters by list, and free runs by order, in the harder test (``kind`` lists or runs)."""


def device_lists() -> pl.DataFrame:
    """Return the clusters by list over the stages (CLUSTER_LISTS without slots in use)."""
    rows = device.load().filter(kind="lists")
    return CLUSTER_LISTS.check(
        rows.select(
            pl.col("rules").cast(CLUSTER_LISTS.schema["rules"]),
            seq=pl.col("stage").cast(pl.UInt64),
            in_use=pl.lit(0, pl.UInt64),
            list=pl.col("what").cast(CLUSTER_LISTS.schema["list"]),
            clusters=pl.col("n").cast(pl.UInt32),
        )
    )


def free_runs() -> pl.DataFrame:
    """Return the free runs by order over the stages (FREE_RUNS)."""
    rows = device.load().filter(kind="runs")
    return FREE_RUNS.check(
        rows.select(
            pl.col("rules").cast(FREE_RUNS.schema["rules"]),
            "stage",
            order=pl.col("what").str.strip_prefix("order ").cast(pl.UInt8),
            runs="n",
        )
    )


_TURNOVER_RULES: Final = {"6.12": "6.12", "6.12-nonfull-first": "6.12-nonfull-first",
                          "6.11": "6.11", "7.3": "6.18"}  # fmt: skip


def _turnover(seed: int) -> pl.DataFrame:
    stream = requests.turnover(claims.measured_requests(TURNOVER), seed=seed)
    frames = [
        run_rules(stream, kernel)
        .out.filter(pl.col("stage") > stream.warm_up, pl.col("order") > 0)
        .with_columns(rules=pl.lit(name), seed=pl.lit(seed))
        .select(pl.col(key).cast(dtype) for key, dtype in TURNOVER_RUNS.schema.items())
        for name, kernel in _TURNOVER_RULES.items()
    ]
    return TURNOVER_RUNS.check(pl.concat(frames))


turnover: Final = Study(
    name="newer-kernels-turnover",
    points=tuple(range(1, 10)),
    run=_turnover,
    reads=(f"measured/{TURNOVER}/requests.parquet",),
)
"""The harder test on identical requests, nine interleavings (TURNOVER_RUNS)."""
