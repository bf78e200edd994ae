# SPDX-License-Identifier: GPL-2.0-or-later
"""What-ifs: a patch's gain on other machines, devices and costs, with the constants fitted once.

::

    Case        a machine and the columns that name it
    trials      each case under each policy, with each fit and seed: the points of a study
    report      names ..., policy, fit, seed, metric, value    one row for each figure of a run
    gains       the change from the first policy, over fits and seeds
"""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Unpack

import polars as pl

from swapsim import study
from swapsim.errors import InputError, check_choice, require_some, suggestion
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.run import metric_values
from swapsim.policies import Policy
from swapsim.study import summary
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

_PARTS: Final = 4
"""In a window a node has to swap out one in so many of its frames: two thirds of what it swaps out
in that of patch D's machines (`cluster_next.machines.WINDOW_NS`)."""

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

GAINS: Final = tuple(name for name in METRICS if name != "waits")
"""The metrics that a policy can gain on."""


class Case(NamedTuple):
    """A machine, the columns that name it, and constants (ns) that it has in place of a fit's."""

    names: Mapping[str, object]
    machine: MachineConfig
    costs: Mapping[str, int] = MappingProxyType({})


class Trial(NamedTuple):
    """One run of a case: all columns that name it, its machine and its constants."""

    names: Mapping[str, object]
    machine: MachineConfig
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
    """Run a trial; return each metric of `run.run`, and the waits."""
    value = metric_values(trial.machine, trial.constants)
    waits = math.fsum(value[name] for name in value if name.startswith("cycles."))
    return {**value, "waits": waits}


def _no_gain(metric: str, value: Mapping[str, float]) -> str:
    """Return why a gain cannot be computed of a run's metric."""
    known = ", ".join(name for name in value if "." not in name)
    hint = suggestion(metric, value).strip() or f"choose one of {known}, or a lock's"
    why = "it is 0" if metric in value else hint
    return f"a machine has no {metric} to gain on ({why})"


def report(metric: str, trial: Trial) -> pl.DataFrame:
    """Run a trial and return one of METRICS and the waits in long form."""
    value = values(trial)
    if not value.get(metric):
        raise InputError(f"{_no_gain(metric, value)}: {trial.names}", field="metric")
    rows = [{**trial.names, "metric": name, "value": value[name]} for name in (metric, "waits")]
    return METRICS.check(pl.DataFrame(rows))


def run(
    cases: Sequence[Case],
    fits: Mapping[str, pl.DataFrame],
    policies: Mapping[str, Mapping[str, Any]] | Sequence[str | Policy],
    *,
    metric: str = "swap_out",
    seeds: Sequence[int] = (1, 2),
    **how: Unpack[study.How],
) -> pl.DataFrame:
    """Return the metric and the waits of each case under each policy, with each fit and seed."""
    check_choice("metric", metric, GAINS)
    points = trials(cases, fits, _with_fields(policies), seeds)
    return study.table(partial(report, metric), points, **how)


def gain(
    machine: MachineConfig | Sequence[Case],
    policies: Mapping[str, Mapping[str, Any]] | Sequence[str | Policy],
    constants: pl.DataFrame | None = None,
    *,
    metric: str = "swap_out",
    seeds: Sequence[int] = (1, 2, 3),
    **how: Unpack[study.How],
) -> pl.DataFrame:
    """Return what each policy gains over the first one on a machine, or on each of several.

    Parameters
    ----------
    machine : MachineConfig or sequence of Case
        Its CPUs follow from its tasks (``walkers``), and so do frames and slots unless they are
        given. Policies and seeds replace fields of it. A case is a machine with the columns that
        name it, and constants of its own.
    policies : mapping of str to mapping, or sequence of str or Policy
        Names with the fields that a machine then has, or policies of the slots, built in or your
        own; the base first.
    constants : polars.DataFrame, optional
        The costs (CONSTANTS), most in ns; default: those of data/costs.csv.
    metric : str
        What is gained: ``swap_out`` or ``written``, KiB a second swapped out (the default) or
        written to files, or ``accesses``, those of all tasks a second (pmbench's score).
    seeds : sequence of int
        Each policy runs once with each seed, which decides where tasks and bases begin.
    **how
        The executor, progress and folder of `study.run`; default: one run after the other.

    Returns
    -------
    polars.DataFrame
        A row for each case and each policy but the first: the columns of the case, ``policy``, its
        gain in percent (``middle``, ``low`` and ``high``: the median, the least and the greatest of
        the seeds' gains, no interval), the medians of the shares of busy time in lock waits without
        it and with it, in percent (``base_waits``, ``patched_waits``), and whether some seeds gain
        and others lose (``flips``). A UserWarning names policies whose runs are those of the base,
        and why, and windows of less than a cycle of reclaim.

    Raises
    ------
    InputError or InputError
        There are fewer than two policies, or a policy, field, metric or constant is unknown.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from swapsim import frames, machine
    >>> from swapsim.machine.what_if import Case
    >>> big = machine.MachineConfig(
    ...     kernel="6.1", walkers=16, nodes=2, devices=2, slots=2**18, fragmented=True
    ... )
    >>> slow = Case({"machine": "slow copies"}, big, {"copy_ns": 1_000})
    >>> small = Case({"machine": "8 tasks"}, replace(big, walkers=8))
    >>> gained = machine.gain([slow, small], ["shared", "percpu-rerandomise"])
    >>> frames.show(gained, "%")
    policy: percpu-rerandomise
    machine      middle   low   high  base_waits  patched_waits  flips
                      %     %      %           %              %
    slow copies   11.7   9.71  11.8         28.0           20.0  no
    8 tasks        4.71  4.69   5.16        15.9           11.8  no
    """
    cases = [Case({}, machine)] if isinstance(machine, MachineConfig) else machine
    given = {"seeds": seeds, "policies": [*policies], "machine": [case.names for case in cases]}
    for field, each in given.items():
        if twice := [one for at, one in enumerate(each) if one in each[:at]]:
            raise InputError(f"{twice[0]} is given twice: give each once", field=field)
    fields = _with_fields(policies)
    if len(fields) < 2:
        raise InputError("a gain is that of one policy over another: give the base and others")
    fits = {"costs": costs() if constants is None else constants}
    rows = run(cases, fits, fields, metric=metric, seeds=seeds, **how)
    for each in _too_short(cases, rows.filter(metric="swap_out")):
        warnings.warn(each, stacklevel=3)
    gained = gains(rows)
    same = gained.filter(low=0.0, high=0.0)["policy"].unique(maintain_order=True)
    if not same.is_empty():
        why = ": a call that gets a free cluster ignores the scan base; give the machine "
        why += "fragmented=True, and more walkers or fewer slots, so that none is free"
        warnings.warn(
            f"{', '.join(same)}: no gain, for the runs are those of {next(iter(fields))}"
            f"{why if any('policy' in fields[name] for name in same) else ''}",
            stacklevel=3,  # one level is that of `checked`
        )
    return gained


def _too_short(cases: Sequence[Case], rates: pl.DataFrame) -> Iterator[str]:
    """Yield what to do where a window sees a part of a cycle of reclaim, by the rates of swap-out.

    Reclaim takes pages from the inactive lists, then refills them, so that a gain in less than a
    cycle depends on where the window begins.
    """
    for case in () if rates.is_empty() else cases:
        machine = case.machine
        kib = rates.filter(**case.names)["value"].to_list()
        pages = min(kib) / 4 * machine.duration_ns / 1e9 / machine.nodes
        wanted = machine.frames / _PARTS
        if pages < wanted:
            name = ", ".join(map(str, case.names.values())) or "the machine"
            yield (
                f"{name}: in the measured time a node swaps out {pages:,.0f} pages, of "
                f"{machine.frames:,} frames: a gain depends on where in reclaim's cycle it begins; "
                f"give duration_ns={math.ceil(machine.duration_ns * wanted / pages):,} or more"
            )


def _with_fields(
    policies: Mapping[str, Mapping[str, Any]] | Sequence[str | Policy],
) -> Mapping[str, Mapping[str, Any]]:
    """Return the fields that a machine has under each policy, by its name."""
    if isinstance(policies, Mapping):
        return policies
    return {each.name if isinstance(each, Policy) else each: {"policy": each} for each in policies}


def by_trunk_size(machine: MachineConfig, shifts: Sequence[int] = TRUNK_SHIFTS) -> list[Case]:
    """Return a machine with each size of a trunk."""
    return [
        Case(at(size, f"{size} MB a trunk"), replace(machine, trunk_shift=shift))
        for shift, size in ((shift, 2 ** (shift - 8)) for shift in shifts)
    ]


def by_drive(machine: MachineConfig) -> list[Case]:
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
    machine: Callable[[str], MachineConfig],
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
    """Return the gain over the first policy in percent over fits and seeds, and the lock waits.

    Parameters
    ----------
    rows : polars.DataFrame
        Rows of `run`, the base's first.
    metric : str, optional
        What is gained; default: the first metric of the rows.
    over : sequence of str
        The columns over which ``low``, ``middle`` (the median) and ``high`` are taken; there is a
        row for each value of the others.

    Returns
    -------
    polars.DataFrame
        A row for each case and each policy but the first: the gain (``middle``, ``low``, ``high``)
        in percent, ``base_waits`` and ``patched_waits`` (medians in percent of the busy time), and
        ``flips``, whether some runs gain and others lose.

    Examples
    --------
    >>> from swapsim import frames, machine, study
    >>> from swapsim.machine import what_if
    >>> eight = what_if.Case({"tasks": 8}, machine.MachineConfig(walkers=8, fragmented=True))
    >>> rows = what_if.run(
    ...     [eight], {"as they are": machine.costs.costs()}, ["shared", "avoid"],
    ... )
    >>> frames.show(what_if.gains(rows), "%")
    tasks  policy  middle   low  high  base_waits  patched_waits  flips
                        %     %     %           %              %
        8  avoid     13.4  12.8    14        29.4           20.3  no
    """
    base = {"policy": rows["policy"][0]}
    changed = summary.against(_of(rows, metric), base).drop("value", "base")
    ranges = summary.over(changed, *over, value="change").drop("runs")
    medians = summary.over(_of(rows, "waits"), *over).drop("runs", "low", "high")
    waits = summary.against(medians, base, value="middle").drop("change")
    keys = [name for name in rows.columns if name not in {*over, "metric", "value"}]
    waited = waits.rename({"base": "base_waits", "middle": "patched_waits"})
    return ranges.join(
        waited.select(*keys, "base_waits", "patched_waits"),
        on=keys,
        maintain_order="left",
        nulls_equal=True,
    ).with_columns(flips=(pl.col("low") < 0) & (pl.col("high") > 0))


def by_constant(
    rows: pl.DataFrame, others: Mapping[str, tuple[float, float]] = MappingProxyType({})
) -> pl.DataFrame:
    """Return the gain at the low and the high end of each constant, the widest apart first.

    ``rows`` are reports on the cases of `at_ends`. ``others`` has the ends of what is no constant
    of data/costs.csv.

    The columns are ``constant``, its ends ``at_low`` and ``at_high``, the gains ``low`` and
    ``high`` (null where the base could not be fitted), and whether the sign ``flips``.
    """
    gained = summary.against(_of(rows), {"policy": rows["policy"][0]})
    known = [
        *costs().select("name", pl.col("low", "high").cast(pl.Float64)).iter_rows(),
        *((name, *both) for name, both in others.items()),
    ]
    at = pl.DataFrame(known, schema=["constant", "at_low", "at_high"], orient="row")
    return (
        summary.ends(gained, value="change")
        .join(at, on="constant", maintain_order="left")
        .select("constant", "at_low", "at_high", "low", "high", "flips")
    )


def _of(rows: pl.DataFrame, metric: str = "") -> pl.DataFrame:
    return rows.filter(metric=metric or rows["metric"][0]).drop("metric")
