# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies of large folios under the rules of several kernels.

How the recorded builds are made, served and judged was stored in data/published/stored-before.md
before their first run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.clusters import folios, requests
from swapsim.clusters.tables import CLUSTER_RULES
from swapsim.patches.newer_kernels import global_lock as one_lock
from swapsim.patches.newer_kernels import meetings
from swapsim.study import Study

TURNOVER: Final = "large-folios-turnover"
"""The experiment with the harder test."""

BUILD: Final = "large-folios-build"
"""The experiment whose builds were recorded."""

TESTS: Final[Mapping[str, Mapping[str, bool]]] = {
    "first": {"first": True},
    "first -s": {"first": True, "small": True},
    "plain": {},
    "-s": {"small": True},
    "-a": {"aligned": True},
    "-a -s": {"aligned": True, "small": True},
}
"""The test's programs and options by name."""

TEST_LINES: Final[dict[str, pl.DataType]] = {
    "test": pl.String(),
    "rules": CLUSTER_RULES.dtype,
    "whole": pl.Boolean(),
    "iteration": pl.UInt32(),
    "swpout": pl.UInt64(),
    "swpout_fallback": pl.UInt64(),
}
"""A row for each line that the test prints, under rules; ``whole``: folios are swapped in whole."""

_OF_FOLIOS: Final = {
    "stage": pl.UInt32(),
    "order": pl.UInt8(),
    "swapped_out": pl.UInt64(),
    "fallbacks": pl.UInt64(),
}
TURNOVER_RUNS: Final = {"rules": pl.String(), "seed": pl.UInt64(), **_OF_FOLIOS}
BUILD_RUNS: Final = {
    "build": pl.String(),
    "recorded": pl.String(),
    "seed": pl.UInt64(),
    "gigabytes": pl.UInt32(),
    "rules": pl.String(),
    **_OF_FOLIOS,
}
"""A row for each recording (kernel and round), device, rule set, stage and order: large folios
swapped out whole, and split."""

_OLD: Final = tuple((name, "6.11", False) for name in TESTS)
_NEW: Final = tuple((name, rules, True) for name in TESTS for rules in ("6.12", "7.3"))
_V5: Final = tuple((name, "6.12", False) for name in ("plain", "-s", "-a", "-a -s"))


def _test(point: tuple[str, str, bool]) -> pl.DataFrame:
    name, rules, whole = point
    stream = requests.allocator_test(**TESTS[name], swap_in_whole=whole)
    lines = folios.lines_of(folios.run(stream, rules).out)[stream.warm_up :]
    rows = [(name, rules, whole, number, *line) for number, line in enumerate(lines, start=1)]
    return pl.DataFrame(rows, schema=TEST_LINES, orient="row")


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
    "6.16": RuleSet(
        rules="7.3",
        switches=(("nonfull_first", False), ("full_before_frag", False), ("frag_all", True)),
    ),
    "6.17": RuleSet(rules="7.3", switches=(("nonfull_first", False), ("full_before_frag", False))),
    "6.18": RuleSet(rules="7.3"),
}
"""Rule sets by the kernels that they stand for; between 6.12 and 7.3 they are switches."""

RULES_OF: Final[Mapping[tuple[str, int], tuple[str, ...]]] = {
    ("64K", 8): ("6.11", "6.12", "6.12-nonfull-first", "6.13", "6.14", "6.16", "6.17", "6.18"),
    ("64K", 10): ("6.12", "6.13", "6.14", "6.16", "6.17", "6.18"),
    ("128K", 8): ("6.12", "6.18"),
    ("all", 8): ("6.12", "6.18"),
    ("all", 10): ("6.17", "6.18"),
    ("all", 4): ("6.11", "6.12"),
}
"""Recorded builds and the gigabytes of a mail's device -> the rule sets that are served."""

_SWAPPED_IN: Final = {"64K": (4,), "128K": (5,), "all": tuple(range(2, 9))}
"""Builds -> the orders that are swapped in whole: those that are enabled, but for 2 MB."""

_SLOTS_A_CPU: Final = {gigabytes: gigabytes * 2**18 // cpus for gigabytes, cpus in
                       ((4, 32), (8, 96), (10, 96))}  # fmt: skip
"""Gigabytes of a mail's device -> its slots for each CPU of that machine."""


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


def slots_of(gigabytes: int, cpus: int) -> int:
    """Return the slots of a device with a mail's clusters for each CPU, in whole clusters."""
    return round(_SLOTS_A_CPU[gigabytes] * cpus / 512) * 512


_BuildPoint = tuple[str, str, int, int, str]


def _served() -> list[_BuildPoint]:
    """Return setting, kernel and round of each recorded build, with each device and rule set."""
    ran = claims.measured_results(BUILD).select("policy", "kernel", "seed").unique()
    return [
        (build, kernel, seed, gigabytes, rules)
        for build, kernel, seed in sorted(ran.iter_rows())
        for (name, gigabytes), names in RULES_OF.items()
        for rules in names
        if name == build
    ]


def _build(point: _BuildPoint) -> pl.DataFrame:
    build, kernel, seed, gigabytes, rules = point
    rows = claims.measured_table(BUILD, "stream").filter(policy=build, kernel=kernel, seed=seed)
    cpus = int(rows["cpu"].max()) + 1  # type: ignore[arg-type]
    # The kernels of the fifth version of the clusters by order swap single pages in.
    stream = requests.recorded(
        rows,
        name=f"build, {build}",
        slots=slots_of(gigabytes, cpus),
        swap_in_orders=_SWAPPED_IN[build] if gigabytes != 4 else (),
    )
    labels = {"build": build, "recorded": kernel, "seed": seed}
    labels |= {"gigabytes": gigabytes, "rules": rules}
    return (
        run_rules(stream, rules)
        .out.drop("rules")
        .filter(pl.col("order") > 0)
        .with_columns(pl.lit(value).alias(key) for key, value in labels.items())
        .select(pl.col(key).cast(dtype) for key, dtype in BUILD_RUNS.items())
    )


recorded_builds: Final = Study(
    name="newer-kernels-recorded-builds", points=_served, run=_build, reads=(f"measured/{BUILD}/*",)
)
"""Large folios of recorded builds under the rules of each pair (BUILD_RUNS)."""


_TURNOVER_RULES: Final = {"6.12": "6.12", "6.12-nonfull-first": "6.12-nonfull-first",
                          "6.11": "6.11", "7.3": "6.18"}  # fmt: skip


def _turnover(seed: int) -> pl.DataFrame:
    stream = requests.turnover(claims.measured_requests(TURNOVER), seed=seed)
    frames = [
        run_rules(stream, kernel)
        .out.filter(pl.col("stage") > stream.warm_up, pl.col("order") > 0)
        .with_columns(rules=pl.lit(name), seed=pl.lit(seed))
        .select(pl.col(key).cast(dtype) for key, dtype in TURNOVER_RUNS.items())
        for name, kernel in _TURNOVER_RULES.items()
    ]
    return pl.concat(frames)


turnover: Final = Study(
    name="newer-kernels-turnover",
    points=tuple(range(1, 10)),
    run=_turnover,
    reads=(f"measured/{TURNOVER}/requests.parquet",),
)
"""The harder test on identical requests, nine interleavings (TURNOVER_RUNS)."""


meeting: Final = Study(
    name="newer-kernels-meetings",
    points=meetings.points,
    run=meetings.of_point,
    quick=meetings.is_of_a_trace,
    reads=tuple(f"traces/{name}/*" for name in meetings.TRACES),
)
"""How often two CPUs use one lock under four allocators."""

global_lock: Final = Study(
    name="newer-kernels-global-lock",
    points=one_lock.settings,
    run=one_lock.of_setting,
    reads=("costs.csv",),
)
"""What one global lock taken twice a page would cost."""
