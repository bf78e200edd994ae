# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the slot microbenchmark: a workload, or a trace's requests, by policy and setting."""

import itertools
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Unpack

import polars as pl

from swapsim import study
from swapsim.errors import InputError, check_number, require_some, suggestion
from swapsim.ffi import POLICIES
from swapsim.policies import Observation, Policy, fault
from swapsim.slots._native import count
from swapsim.slots.config import GIGABYTE_SLOTS, Device, Streams, Workload
from swapsim.slots.events import FILE, first_free, request_streams, traced_device
from swapsim.slots.metrics import METRICS, QUOTIENTS
from swapsim.study import over, rank
from swapsim.traces import locate
from swapsim.traces.folder import Trace

Policies = str | Policy | Sequence[str | Policy]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A run: its settings by their names, and the device and workload that they make."""

    settings: Mapping[str, Any]
    device: Device
    workload: Workload


def run(
    device: Device,
    workload: Workload,
    policies: Policies = POLICIES,
    *,
    seeds: int = 20,
    executor: Executor | None = None,
    progress: bool = False,
    folder: Path | str | None = None,
    **grid: Sequence[Any],
) -> pl.DataFrame:
    """Run a workload on a device under each policy, at each setting, with each seed.

    Parameters
    ----------
    device : Device
        Its policy, seed and address spaces are those of the run.
    workload : Churn or Fill
    policies : str, Policy or sequence of these
        Names of ``POLICIES``, or what `swapsim.policy` makes; default: all built-in ones.
    seeds : int
        Runs of each, seeds 1 to this. The tasks draw the same under each policy.
    executor, progress, folder
        Those of `study.run`; default: a thread for each CPU.
    **grid : sequence
        Settings by name, all combinations: ``cpus`` (that are online, and at least as many
        possible), ``gigabytes`` (of the device), ``possible_cpus`` (the online ones stay), or a
        field of the device or the workload, such as ``used_share=[0.5, 0.9]``.

    Returns
    -------
    polars.DataFrame
        A row for each run and metric: a column for each setting, ``policy``, ``seed``, ``metric``
        and ``value``, null where nothing was counted. Among the metrics are ``lock.moved.add``
        (share of the additions to the swap cache that transfer the lock's cache line from another
        CPU), ``scanned`` (slots tested for one that is handed out), ``run`` (adjacent slots that
        an address space gets in sequence) and ``trunk.pairs`` (pairs of CPUs in one trunk);
        ``swapsim.slots.metrics.METRICS`` has the units and meanings of all.

    Raises
    ------
    InputError
        A setting is unknown or out of its range, the workload has more address spaces than can own
        pages or more tasks than online CPUs, or a user's policy begins at no slot of this device.

    Notes
    -----
    There is no time (``slot_workbench.h``). Locality on the device (``run``, ``seeks``) has little
    effect where readahead follows addresses of the task, as it does for anonymous pages on an SSD,
    and none on a synchronous device, where readahead is skipped.

    Examples
    --------
    >>> from swapsim import slots
    >>> churn = slots.Churn(pages=2**12, warm_up_pages=2**12)
    >>> rows = slots.run(slots.Device(), churn, ["shared", "percpu"], seeds=1, cpus=[2, 8])
    >>> rows.filter(metric="scanned")["value"].round(2).to_list()
    [4.26, 4.23, 4.41, 4.24]
    """
    made = points(device, workload, policies, seeds=seeds, **grid)
    how = study.How(executor=executor, progress=progress, folder=folder)
    return pl.concat(study.run(run_point, made, **how), how="vertical_relaxed")


def replay(
    trace: Trace | Path | str,
    policies: Policies = POLICIES,
    *,
    seeds: int = 20,
    **how: Unpack[study.How],
) -> pl.DataFrame:
    """Serve the requests of a slot trace under each policy, and count from the first free on.

    The recorded order of tasks follows the emulator's time slices and is dropped: each task keeps
    its own order, and all tasks run at one rate. Before the first free the device only fills, from
    free clusters, where no base matters. The seeds draw the order of tasks within a round, and the
    policies' bases.

    Parameters
    ----------
    trace : Trace, Path or str
    policies, seeds, **how
        As of `run`.

    Returns
    -------
    polars.DataFrame
        ``policy, seed, metric, value``, as of `run`.

    Raises
    ------
    InputError
        The trace has no slot events or no set-up, they contradict each other, or no slot is asked
        for after the first free.

    Source
    ------
    mm/swapfile.c: get_swap_pages, scan_swap_map_slots (6.1).

    Examples
    --------
    >>> from swapsim import slots
    >>> rows = slots.replay("slots-1-percpu-rerandomise", "shared", seeds=1)
    >>> rows.filter(metric="scanned")["value"].round(2).to_list()
    [2.0]
    """
    path = locate(Path(trace))
    requests = request_streams(path)
    skipped = round(first_free(requests, path) / requests.height, 6)
    streams = Streams(requests=requests, skipped_share=skipped)
    rows = study.table(
        run_point, points(traced_device(path), streams, policies, seeds=seeds), **how
    )
    if not rows.filter(metric="run")["value"].count():
        raise InputError(
            "no request follows the first free, so no base matters: choose a longer one",
            path=path / FILE,
        )
    return rows


def points(
    device: Device,
    workload: Workload,
    policies: Policies = POLICIES,
    *,
    seeds: int = 20,
    **grid: Sequence[Any],
) -> list[Point]:
    """Return the runs of `run`: settings, policies and seeds in the order given."""
    check_number("seeds", seeds, 1)
    listed = [policies] if isinstance(policies, str | Policy) else policies
    for name, values in {"policies": listed, **grid}.items():
        require_some(values, name)
    made = []
    for values in itertools.product(*grid.values()):
        settings = dict(zip(grid, values, strict=True))
        changed, changed_workload = device, workload
        for name, value in settings.items():
            changed, changed_workload = _changed(changed, changed_workload, name, value)
        made += [
            Point(
                settings=settings,
                device=replace(changed, policy=policy, seed=seed),
                workload=changed_workload,
            )
            for policy in listed
            for seed in range(1, seeds + 1)
        ]
    return made


def _changed(device: Device, workload: Workload, name: str, value: Any) -> tuple[Device, Workload]:
    """Return a device and a workload with a setting."""
    if name == "cpus" and device.online_cpus is None:
        return replace(device, possible_cpus=value), workload
    if name == "cpus":
        possible = max(value, device.possible_cpus)
        return replace(device, possible_cpus=possible, online_cpus=value), workload
    if name == "possible_cpus":
        return replace(device, possible_cpus=value, online_cpus=device.online), workload
    if name == "gigabytes":
        return replace(device, slots=round(value * GIGABYTE_SLOTS)), workload
    of_workload = [field.name for field in fields(workload)]
    if name in of_workload:
        return device, replace(workload, **{name: value})
    known = {field.name for field in fields(device)} - {"policy", "seed", "address_spaces"}
    if name in known:
        return replace(device, **{name: value}), workload
    names = ["cpus", "gigabytes", *sorted(known), *of_workload]
    raise InputError(f"{name}: {suggestion(name, names)}choose one of {', '.join(names)}")


def run_point(point: Point) -> pl.DataFrame:
    """Return the rows of a run."""
    policy, value = point.device.policy, measure(point.device, point.workload)
    return pl.DataFrame({"metric": [*value], "value": [*value.values()]}).select(
        *(pl.lit(each).alias(name) for name, each in point.settings.items()),
        policy=pl.lit(policy.name if isinstance(policy, Policy) else policy),
        seed=pl.lit(point.device.seed, pl.UInt64),
        metric="metric",
        value=pl.col("value").cast(pl.Float64),
    )


def measure(device: Device, workload: Workload) -> dict[str, float | None]:
    """Return each of METRICS of a run, with the device's policy and seed."""
    counts = count(device, workload)
    values: dict[str, float | None] = {}
    for name, metric in QUOTIENTS.items():
        under = sum(counts[each] for each in metric.under)
        values[name] = sum(counts[each] for each in metric.over) / under if under else None
    by_cpu = zip(counts["tested"], counts["pages"], strict=True)
    work = [tested / pages for tested, pages in by_cpu if pages]
    squares = math.fsum(x * x for x in work)
    # Jain's index: (sum x)^2 / (n * sum x^2).
    index = math.fsum(work) ** 2 / (len(work) * squares) if squares else 1.0 if work else None
    return values | {"fairness": index}


def require_sound(policy: Policy, device: Device, workload: Workload) -> None:
    """Run a workload with a policy under observation, and refuse a policy that fails.

    It fails if it raises, does not end, or returns neither a slot nor next nor base, or if its
    ``initial`` returns no slot. The message names its file or cell, the line and the call. Calls
    that do not occur in the workload are not checked.
    """
    observed = Observation(policy)
    try:
        measure(replace(device, policy=observed.policy), workload)
    except InputError as error:
        raise fault(policy.function, str(error).partition(": ")[2]) from error
    observed.check()


# What rows of `run` and `replay`, and those of stored sweeps, say.

_NO_SETTINGS: Final = ("n_cpus", "unit")  # columns of stored sweeps


def means(rows: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return the means of some metrics over the seeds, a column for each, to four digits.

    A metric is null where no run has a value.
    """
    known = [name for name in metrics if METRICS[name]]
    chosen = rows.filter(pl.col("metric").is_in(known)).drop(_NO_SETTINGS, strict=False)
    found = over(chosen, stat="mean").drop("runs", "low", "high")
    rounded = found.with_columns(pl.col("middle").round_sig_figs(4))
    cells = chosen.drop("seed", "value").unique(maintain_order=True)
    complete = cells.join(rounded, on=cells.columns, how="left", maintain_order="left")
    settings = [name for name in complete.columns if name not in {"metric", "middle"}]
    named = complete.with_columns(pl.col("metric").cast(pl.String))
    return named.pivot(
        "metric", index=settings, values="middle", on_columns=metrics, maintain_order=True
    )


def ranking(rows: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Rank the policies at each setting by the median of a metric (`study.rank`)."""
    chosen = rows.filter(metric=metric).drop(_NO_SETTINGS, strict=False)
    settings = chosen.drop("policy", "seed", "metric", "value").columns
    better = METRICS[metric].better
    if not chosen["value"].count():
        raise InputError(f"no run has a value of {metric!r}: measure it", field="metric")
    cases = chosen.partition_by(settings, maintain_order=True) if settings else [chosen]
    return pl.concat(rank(case, better) for case in cases)
