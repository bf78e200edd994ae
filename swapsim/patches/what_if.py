# SPDX-License-Identifier: GPL-2.0-or-later
"""What-ifs of the patches' studies: a gain on other machines and costs, constants fitted once.

::

    Case        a machine and the columns that name it
    trials      each case under each policy, with each fit and seed: the points of a study
    report      names ..., policy, fit, seed, metric, value    one row for each figure of a run
    gains       the change from the first policy, over fits and seeds
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import polars as pl

from swapsim import study
from swapsim.errors import InputError, require_some
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs
from swapsim.machine.running import metric_values
from swapsim.patches.rounds import range_text
from swapsim.tables import Metric, Metrics

CPUS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Tasks, each on a CPU of its own; the CPUs of kswapd come on top."""

TRUNK_SHIFTS: Final = (10, 12, 14, 17, 20)
"""From 4 MB a trunk to 4 GB; the kernel has 14, 64 MB."""

CHANNELS: Final = (8, 32, 128)
"""Pages that a drive serves at a time: its queue."""

LATENCIES_US: Final = (20, 80, 120)
"""How long it serves each of them: ``channel_ns`` of data/costs.csv, its low, value and high. With
80 us and 32 at a time it moves 400,000 pages a second, about what the P3600 of patch D's thread
does."""

MEMORY: Final = 20_000_000
"""Where a device as fast as memory stands on the axis of a drive's pages a second."""

METRICS: Final = Metrics(
    "a what-if",
    {
        "accesses": Metric("accesses/s", "accesses of all tasks: pmbench's score", "higher"),
        "swap_out": Metric("KiB/s", "rate at which pages are swapped out", "higher"),
        "written": Metric("KiB/s", "rate at which files are written", "higher"),
        "waits": Metric("%", "share of busy CPU time in lock waits", "lower"),
    },
)
"""What trials report; gains are in the first that a study reports."""


class Case(NamedTuple):
    """A machine, the columns that name it, and constants (ns) that it has in place of a fit's."""

    names: Mapping[str, object]
    machine: Machine
    costs: Mapping[str, int] = MappingProxyType({})


class Trial(NamedTuple):
    """One run of a case: all columns that name it, its machine and its constants."""

    names: Mapping[str, object]
    machine: Machine
    constants: pl.DataFrame


def at(setting: float, label: str) -> dict[str, object]:
    """Return the columns of a case: its number for an axis, and its words."""
    return {"setting": float(setting), "label": label}


def trials(
    cases: Sequence[Case],
    fits: Mapping[str, pl.DataFrame],
    policies: Mapping[str, Mapping[str, Any]] | Sequence[str],
    seeds: Sequence[int] = (1, 2, 3),
) -> list[Trial]:
    """Return the runs of each case under each policy, the base first, with each fit and seed.

    Policies are those of the slots, or the fields that a machine has under each name.
    """
    require_some(cases, "cases")
    require_some(fits, "fits")
    require_some(seeds, "seeds")
    if not isinstance(policies, Mapping):
        policies = {policy: {"policy": policy} for policy in policies}
    return [
        Trial(
            {**case.names, "policy": policy, "fit": fit, "seed": seed},
            replace(case.machine, seed=seed, **fields),
            change_costs(found, case.costs),
        )
        for case in cases
        for policy, fields in policies.items()
        for fit, found in fits.items()
        for seed in seeds
    ]


def values(trial: Trial) -> dict[str, float]:
    """Run a trial; return each metric of its run, and the waits."""
    value = metric_values(trial.machine, trial.constants)
    waits = math.fsum(value[name] for name in value if name.startswith("cycles."))
    return {**value, "waits": waits}


def report(metric: str, trial: Trial) -> pl.DataFrame:
    """Run a trial and return one of METRICS and the waits in long form."""
    value = values(trial)
    if not value[metric]:
        raise InputError(f"a machine has no {metric} to gain on: {trial.names}")
    rows = [{**trial.names, "metric": name, "value": value[name]} for name in (metric, "waits")]
    return pl.DataFrame(rows)


def picked(rows: pl.DataFrame, columns: Sequence[str], pick: int) -> tuple[Any, ...]:
    """Return one of the distinct rows of some columns; any number selects one."""
    distinct = rows.select(columns).unique(maintain_order=True)
    return distinct.row(pick % distinct.height)


def by_trunk_size(machine: Machine, shifts: Sequence[int] = TRUNK_SHIFTS) -> list[Case]:
    """Return a machine with each size of a trunk."""
    return [
        Case(at(size, f"{size} MB a trunk"), replace(machine, trunk_shift=shift))
        for shift, size in ((shift, 2 ** (shift - 8)) for shift in shifts)
    ]


def by_drive(machine: Machine) -> list[Case]:
    """Return a machine on drives, which differ in latency or in queue, and on memory."""
    drives = [
        Case(
            {"latency": f"{latency} us a page"}
            | at(1_000_000 * count / latency, f"{count} at a time, {latency} us each"),
            replace(machine, channels=count),
            {"channel_ns": 1000 * latency},
        )
        for latency, count in product(LATENCIES_US, CHANNELS)
    ]
    return [*drives, Case({"latency": "memory"} | at(MEMORY, "memory"), machine)]


def at_ends(
    machine: Callable[[str], Machine],
    fits: Mapping[str, pl.DataFrame],
    policies: Mapping[str, Mapping[str, Any]] | Sequence[str],
    seeds: Sequence[int] = (1, 2, 3),
) -> list[Trial]:
    """Return the runs of a fit's machine with each fit, called "NAME, low" or "NAME, high"."""
    ends = {name: name.partition(", ") for name in fits}
    cases = {
        name: Case({"constant": constant, "end": end}, machine(name))
        for name, (constant, _, end) in ends.items()
    }
    return [
        trial
        for name, case in cases.items()
        for trial in trials([case], {name: fits[name]}, policies, seeds)
    ]


def gains(
    rows: pl.DataFrame, metric: str = "", over: Sequence[str] = ("fit", "seed")
) -> pl.DataFrame:
    """Return the gain over the first policy in percent, and the lock waits.

    `rows` are reports on trials, the base's first; the gain is in `metric` (default: their first).
    There is a row for each case and each policy but the first: ``middle, low, high`` over the
    columns `over`, ``base_waits`` and ``patched_waits`` (medians in percent of the busy time), and
    ``flips``, whether some runs gain and others lose.
    """
    first = rows["policy"][0]
    by = [name for name in rows.columns if name not in {*over, "metric", "value"}]
    keys = [name for name in by if name != "policy"]
    ranges = study.over(study.against(_of(rows, metric), policy=first), *by).drop("runs")
    waits = study.over(_of(rows, "waits"), *by).rename({"middle": "patched_waits"})
    base = waits.filter(policy=first).select(*keys, one=1, base_waits="patched_waits")
    both = waits.with_columns(one=1).join(base, on=[*keys, "one"], nulls_equal=True)
    return ranges.join(
        both.select(*by, "base_waits", "patched_waits"),
        on=by,
        how="left",
        maintain_order="left",
        nulls_equal=True,
    ).with_columns(flips=(pl.col("low") < 0) & (pl.col("high") > 0))


def by_constant(
    rows: pl.DataFrame, others: Mapping[str, tuple[float, float]] = MappingProxyType({})
) -> pl.DataFrame:
    """Return the gain at the low and the high end of each constant, the widest apart first.

    `rows` are reports on the cases of `at_ends`; `others` has the ends of what is no constant of
    data/costs.csv. The columns are ``constant``, its ends ``at_low`` and ``at_high``, the mean
    gains ``low`` and ``high`` (null where the base could not be fitted), and whether the sign
    ``flips``.
    """
    known = [
        *costs().select("name", pl.col("low", "high").cast(pl.Float64)).iter_rows(),
        *((name, *both) for name, both in others.items()),
    ]
    at = pl.DataFrame(known, schema=["constant", "at_low", "at_high"], orient="row")
    return (
        study.against(_of(rows), policy=rows["policy"][0])
        .group_by("constant", "end", maintain_order=True)
        .agg(pl.col("value").mean())
        .pivot("end", index="constant", values="value", on_columns=["low", "high"])
        .with_columns(flips=(pl.col("low") * pl.col("high") < 0).fill_null(value=False))
        .sort((pl.col("high") - pl.col("low")).abs(), descending=True, nulls_last=True)
        .join(at, on="constant", maintain_order="left")
        .select("constant", "at_low", "at_high", "low", "high", "flips")
    )


def _of(rows: pl.DataFrame, metric: str = "") -> pl.DataFrame:
    return rows.filter(metric=metric or rows["metric"][0]).drop("metric")


def describe_gains(ranges: pl.DataFrame) -> str:
    """Return sentences on the smallest and the largest gain, and on cases of both signs.

    ``ranges`` has ``label, low, middle, high`` of each case, as `gains` returns them.
    """
    require_some(ranges.rows(), "ranges")
    least, most = (
        ranges.sort("middle", descending=down).row(0, named=True) for down in (False, True)
    )
    unsure = ranges.filter(pl.col("low") < 0, pl.col("high") > 0)["label"].to_list()
    sign = f"Both signs occur for {', '.join(unsure)}." if unsure else "The sign never changes."
    low, high = (
        f"{each['label']} ({range_text(each['low'], each['high'])})" for each in (least, most)
    )
    return (
        f"By its median over fits and seeds, the gain is least with {low} "
        f"and greatest with {high}. {sign}"
    )


def describe_sensitivity(rows: pl.DataFrame) -> str:
    """Return sentences on the gain over the ends of all constants, and the widest of them.

    ``rows`` are those of `by_constant`.
    """
    both = rows.drop_nulls(["low", "high"])
    if both.is_empty():
        raise InputError("no constant has a fit at its low and at its high", field="rows")
    ends = pl.concat([rows["low"], rows["high"]]).drop_nulls()
    first = both.row(0, named=True)
    flips = both.filter("flips")["constant"].to_list()
    sign = f"The sign changes with {', '.join(flips)}." if flips else "The sign never changes."
    return (
        f"With each of {rows.height} constants at its low and its high value, the gain is between "
        f"{min(ends):.1f} and {max(ends):.1f} %. {first['constant']} matters most: "
        f"{first['low']:.1f} % at {first['at_low']:g}, {first['high']:.1f} % at "
        f"{first['at_high']:g}. {sign}"
    )
