# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the slot workbench: one, many around a base case, and the policies ranked by a metric."""

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
from swapsim.policies._native import Observation
from swapsim.policies.compiler import fault
from swapsim.policies.policy import Policy
from swapsim.slots._native import Counts, run
from swapsim.slots.config import MeterConfig, SlotsConfig, StreamsConfig, Workload
from swapsim.slots.events import FILE, first_free, request_streams, traced_device
from swapsim.slots.metrics import LEADING, METRICS, QUOTIENTS, Quotient
from swapsim.slots.tables import SLOT_SWEEP
from swapsim.study.ranking import CONFIDENCE, check_confidence
from swapsim.study.summary import over, ranked, wide
from swapsim.study.summary import ranking as ranking_of
from swapsim.traces import scan_event

_OF_ONE_RUN: Final = {
    name: dtype for name, dtype in SLOT_SWEEP.schema.items() if name not in ("factor", "setting")
}

GIGABYTE_SLOTS: Final = 2**18
"""Slots of a gigabyte: pages of 4 KB."""


def measure(
    device: SlotsConfig, workload: Workload, *, meter: MeterConfig | None = None
) -> pl.DataFrame:
    """Run a workload on a device and return the metrics.

    Parameters
    ----------
    device : SlotsConfig
        Its address_spaces are ignored: the workload decides them.
    workload : FillConfig, ChurnConfig or StreamsConfig
    meter : MeterConfig, optional
        The windows of the metrics.

    Returns
    -------
    polars.DataFrame
        One row per metric of METRICS: SLOT_SWEEP without its factor and setting.

    Raises
    ------
    InputError
        The workload has more address spaces than can own pages or more tasks than online CPUs, or
        a user's policy begins at no slot of this device.
    InputError
        The requests of a StreamsConfig cannot be replayed.

    Notes
    -----
    Locality on the device (``run``, ``seeks``) has little effect where readahead follows addresses
    of the task, as it does for anonymous pages on an SSD, and none on a synchronous device, where
    readahead is skipped.

    Examples
    --------
    >>> from swapsim import frames, slots
    >>> measures = slots.measure(slots.SlotsConfig(policy="percpu"), slots.ChurnConfig())
    >>> frames.show(measures.filter(measures["metric"].is_in(["scanned", "run", "lock.moved"])))
    policy: percpu
    n_cpus  seed  metric       value  unit
         8     1  scanned     17.2    slots/slot
         8     1  lock.moved   0.766  share
         8     1  run          1.59   slots
    """
    counts = run(device, workload, meter or MeterConfig())
    policy = device.policy.name if isinstance(device.policy, Policy) else device.policy
    head = (policy, device.online, device.seed)
    values = {name: _quotient(counts, each) for name, each in QUOTIENTS.items()}
    values["fairness"] = _fairness(counts)
    rows = [(*head, name, value, METRICS[name].unit) for name, value in values.items()]
    return pl.DataFrame(rows, schema=_OF_ONE_RUN, orient="row")


def _quotient(counts: Counts, metric: Quotient) -> float | None:
    under = sum(counts.of[name] for name in metric.under)
    return sum(counts.of[name] for name in metric.over) / under if under else None


def _fairness(counts: Counts) -> float | None:
    """Return Jain's index: (sum x)^2 / (n * sum x^2)."""
    work = [
        tested / pages for tested, pages in zip(counts.tested, counts.pages, strict=True) if pages
    ]
    squares = math.fsum(x * x for x in work)
    if not squares:
        return 1.0 if work else None
    return math.fsum(work) ** 2 / (len(work) * squares)


def require_sound(policy: Policy, device: SlotsConfig, workload: Workload) -> None:
    """Run a workload with a policy under observation, and refuse a policy that fails.

    Parameters
    ----------
    policy : Policy
        Made by `swapsim.policy`.
    device : SlotsConfig
        Where it runs; its own ``policy`` is not used.
    workload : ChurnConfig or StreamsConfig
        The calls under which it is observed; calls that do not occur are not checked.

    Raises
    ------
    InputError
        The policy raises, does not end, or returns neither a slot nor next nor base; or its
        ``initial`` returns no slot. The message names its file or cell, the line and the call.

    Examples
    --------
    >>> import swapsim
    >>> from swapsim import slots
    >>> @swapsim.policy(base_of="cpu")
    ... def beyond(highest):
    ...     return highest + 1
    >>> slots.require_sound(beyond, slots.SlotsConfig(), slots.ChurnConfig())
    Traceback (most recent call last):
        ...
    swapsim.errors.InputError: ...policy beyond: returns 1048576, which is no slot, at the call ...
    """
    observed = Observation(policy)
    try:
        measure(replace(device, policy=observed.policy), workload)
    except InputError as error:
        raise fault(policy.function, str(error).partition(": ")[2]) from error
    observed.check()


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One run of a sweep: its factor and setting, and the configs."""

    factor: str
    setting: str
    device: SlotsConfig
    workload: Workload
    meter: MeterConfig | None


def measure_point(point: Point) -> pl.DataFrame:
    """Measure one run of a sweep; schema SLOT_SWEEP."""
    frame = measure(point.device, point.workload, meter=point.meter)
    return frame.select(
        pl.lit(point.factor).alias("factor"), pl.lit(point.setting).alias("setting"), pl.all()
    )


_FACTORS: Final = ("cpus", "gigabytes", "possible_cpus")
"""Factors that change more than a field of their name."""


def _changed(
    device: SlotsConfig, workload: Workload, factor: str, value: Any
) -> tuple[SlotsConfig, Workload]:
    if factor == "cpus" and device.online_cpus is None:
        return replace(device, possible_cpus=value), workload
    if factor == "cpus":
        possible = max(value, device.possible_cpus)
        return replace(device, possible_cpus=possible, online_cpus=value), workload
    if factor == "possible_cpus":
        return replace(device, possible_cpus=value, online_cpus=device.online), workload
    if factor == "gigabytes":
        return replace(device, slots=round(value * GIGABYTE_SLOTS)), workload
    of_workload = [field.name for field in fields(workload)]
    if factor in of_workload:
        return device, replace(workload, **{factor: value})
    known = {field.name for field in fields(device)} - {"policy", "seed", "address_spaces"}
    if factor in known:
        return replace(device, **{factor: value}), workload
    names = [*_FACTORS, *sorted(known - {*_FACTORS}), *of_workload]
    raise InputError(
        f"factor {factor!r}: {suggestion(factor, names)}choose one of {', '.join(names)}"
    )


def grid_points(
    device: SlotsConfig,
    workload: Workload,
    factors: Mapping[str, Sequence[object]],
    *,
    policies: Sequence[str | Policy] = POLICIES,
    seeds: int = 20,
    meter: MeterConfig | None = None,
) -> list[Point]:
    """Return the runs of `one_at_a_time`, which has the same parameters."""
    check_number("seeds", seeds, 1)
    return [
        Point(
            factor=factor,
            setting=str(value),
            device=replace(changed, policy=policy, seed=seed),
            workload=changed_workload,
            meter=meter,
        )
        for factor, values in factors.items()
        for value in values
        for changed, changed_workload in [_changed(device, workload, factor, value)]
        for policy in policies
        for seed in range(1, seeds + 1)
    ]


def one_at_a_time(
    device: SlotsConfig,
    workload: Workload,
    factors: Mapping[str, Sequence[object]],
    *,
    policies: Sequence[str | Policy] = POLICIES,
    seeds: int = 20,
    meter: MeterConfig | None = None,
    **how: Unpack[study.How],
) -> pl.DataFrame:
    """Measure each policy at each setting of each factor, everything else as in the base case.

    Parameters
    ----------
    device : SlotsConfig
        The base case; its policy and seed are ignored.
    workload : FillConfig, ChurnConfig or StreamsConfig
        The base case.
    factors : mapping of str to sequence
        Name of a factor -> its settings: ``cpus`` (that are online, and at least as many
        possible), ``gigabytes`` (of the device), ``possible_cpus`` (the online ones stay), or a
        field of the device or the workload, such as ``used_share``, ``cluster_size``.
    policies : sequence of str or Policy
    seeds : int
        Runs of each, seeds 1 to this. The tasks draw the same under each policy.
    meter : MeterConfig, optional
    **how
        The executor, progress and folder of `study.run`; default: new processes, which import a
        script, whose work then stands below ``if __name__ == "__main__":``.

    Returns
    -------
    polars.DataFrame
        Schema SLOT_SWEEP: factors, settings, policies and seeds in the order given.

    Examples
    --------
    >>> from swapsim import frames, slots, study
    >>> measures = slots.one_at_a_time(
    ...     slots.SlotsConfig(), slots.ChurnConfig(), {"used_share": [0.5, 0.9]},
    ...     policies=["shared", "percpu"], seeds=2,
    ... )
    >>> frames.show(slots.means(measures, ["scanned", "lock.moved.add"]))
    factor: used_share
    setting  policy     scanned  lock.moved.add
                     slots/slot           share
        0.5  shared        2.70           0.982
        0.5  percpu       14.6            0.680
        0.9  shared        6.38           0.980
        0.9  percpu       34.7            0.856
    """
    require_some(factors, "factors")
    for factor, settings in factors.items():
        require_some(settings, f"factors[{factor!r}]")
    require_some(policies, "policies")
    points = grid_points(device, workload, factors, policies=policies, seeds=seeds, meter=meter)
    frames = study.run(measure_point, points, **how)
    return pl.concat([pl.DataFrame(schema=SLOT_SWEEP.schema), *frames])


def cluster_next(
    folder: Path | str,
    *,
    policies: Sequence[str | Policy] = POLICIES,
    seeds: int = 20,
    meter: MeterConfig | None = None,
    executor: Executor | None = None,
    progress: bool = False,
    store: Path | str | None = None,
) -> pl.DataFrame:
    """Serve the requests of a slot trace under each policy, and count from the first free on.

    The recorded order of tasks follows the emulator's time slices and is dropped: each task keeps
    its own order, and all tasks run at one rate. Before the first free the device only fills, from
    free clusters, where no base matters. Seeds 1 to ``seeds`` draw the order of tasks within a
    round, and the policies' bases. The other arguments are those of `one_at_a_time`, ``store`` its
    folder; without an executor this starts processes, too. The one factor of the SLOT_SWEEP
    returned is the share of the rows before the counted ones.

    Examples
    --------
    >>> from swapsim import frames, slots, study
    >>> rows = slots.cluster_next(
    ...     "slots-1-percpu-rerandomise", policies=["shared"], seeds=1,
    ... )
    >>> frames.show(rows.filter(rows["metric"].is_in(["scanned", "run"])))
    factor: skipped_share, setting: 0.339205, policy: shared
    n_cpus  seed  metric   value  unit
         1     1  scanned   2.00  slots/slot
         1     1  run       1.11  slots
    """
    requests = request_streams(folder)
    skipped = round(first_free(requests, folder) / requests.height, 6)
    return one_at_a_time(
        traced_device(folder),
        StreamsConfig(requests=requests, skipped_share=skipped),
        {"skipped_share": [skipped]},
        policies=policies,
        seeds=seeds,
        meter=meter,
        executor=executor,
        progress=progress,
        folder=store,
    )


def ranking(measures: pl.DataFrame, metric: str, *, confidence: float = CONFIDENCE) -> pl.DataFrame:
    """Rank the policies of SLOT_SWEEP by the median of one metric at each setting, the best first.

    The columns are ``factor, setting, policy, n_cpus, metric, unit, seeds, mean, median, low,
    high`` (the median's interval: `study.ranking.interval`), ``lowest, highest``, and ``rank,
    better_than, tied_with`` by the differences of each seed (`study.ranking.rank`). Runs without a
    value are left out.

    Examples
    --------
    >>> from swapsim import frames, slots, study
    >>> measures = slots.one_at_a_time(
    ...     slots.SlotsConfig(), slots.ChurnConfig(), {"cpus": [8]}, seeds=5,
    ...     policies=["shared", "percpu"],
    ... )
    >>> ranking = slots.ranking(measures, "lock.moved.add")
    >>> frames.show(ranking.select("rank", "policy", "median", "low", "high"))
    rank: 1-2
    policy  median    low   high
    percpu   0.858  0.857  0.981
    shared   0.980  0.980  0.981
    """
    check_confidence(confidence)
    chosen = _sweep(measures).filter(metric=metric)
    better = METRICS[metric].better
    if not chosen["value"].count():
        raise InputError(f"no run has a value of {metric!r}: measure it", field="metric")
    return pl.concat(
        ranked(case, better, confidence=confidence)
        for case in chosen.partition_by("factor", "setting", maintain_order=True)
    )


def _sweep(measures: pl.DataFrame) -> pl.DataFrame:
    """Return rows of SLOT_SWEEP; the error for another table says what makes this one."""
    try:
        return SLOT_SWEEP.check(measures)
    except InputError as error:
        makers = "slots.one_at_a_time or slots.cluster_next"
        raise InputError(f"{error}; make the table with {makers}") from None


def means(measures: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return the means of some metrics over the seeds, a column for each.

    Parameters
    ----------
    measures : polars.DataFrame
        Schema SLOT_SWEEP, as of `one_at_a_time` and `cluster_next`.
    metrics : sequence of str
        Names of METRICS, in the order of the columns.

    Returns
    -------
    polars.DataFrame
        A row for each ``factor``, ``setting`` and ``policy``, with a column for each metric in its
        own unit, rounded to four digits, null where no run has a value.

    Examples
    --------
    >>> from swapsim import frames, slots, study
    >>> measures = slots.one_at_a_time(
    ...     slots.SlotsConfig(), slots.ChurnConfig(), {"cpus": [2, 8]}, policies=["percpu"],
    ...     seeds=2,
    ... )
    >>> frames.show(slots.means(measures, ["trunk.pairs", "run"]))
    factor: cpus, policy: percpu
    setting  trunk.pairs    run
                   pairs  slots
          2        0.996   1.61
          8       20.6     1.59
    """
    known = {name: METRICS[name] for name in metrics}
    chosen = _sweep(measures).filter(pl.col("metric").is_in([*known]))
    rows = chosen.select("factor", "setting", "policy", "seed", "metric", "value")
    found = over(rows, statistic="mean").drop("runs", "low", "high")
    rounded = found.with_columns(pl.col("middle").round_sig_figs(4))
    cells = rows.drop("seed", "value").unique(maintain_order=True)
    complete = cells.join(rounded, on=cells.columns, how="left", maintain_order="left")
    return wide(complete, value="middle", only=metrics)


def chance_of_trunks_apart(cpus: int, trunks: int) -> float:
    """Return the probability that no two CPUs share a trunk if each draws one at random."""
    for name, value in (("cpus", cpus), ("trunks", trunks)):
        if value < 1:
            raise InputError(f"{value} is too few: choose at least 1", field=name)
    return math.prod((trunks - taken) / trunks for taken in range(cpus))


def require_later_requests(measures: pl.DataFrame, folder: Path) -> None:
    """Refuse what `cluster_next` counted on a trace that hands out no slot after its first free."""
    if not measures.filter(metric="run")["value"].count():
        raise InputError(
            "no request follows the first free, so no base matters: choose a longer one",
            path=folder / FILE,
        )


def ranked_metrics(measures: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return the policies of one setting, ranked by each metric that has a value (RANKING)."""
    rows = SLOT_SWEEP.check(measures).select("metric", "policy", "seed", "value")
    valued = rows.drop_nulls("value")["metric"].unique().to_list()
    known = {name: METRICS[name] for name in metrics if name in valued}
    return ranking_of(rows, known, POLICIES)


def same_rows(measures: pl.DataFrame, folder: Path) -> list[str]:
    """Return a line for each group of policies with the same means on a trace, and why."""
    cpus = scan_event(folder, "slot_events").select(pl.col("cpu").n_unique()).collect().item()
    found = means(measures, LEADING)
    groups = found.group_by(pl.exclude("policy"), maintain_order=True).agg("policy")["policy"]
    return [
        f"{', '.join(names)} come out the same{_why_same(names, cpus)}"
        for names in groups.to_list()
        if len(names) > 1
    ]


def _why_same(names: Sequence[str], cpus: int) -> str:
    begins = "a call that gets a free cluster ignores where its base begins"
    if cpus == 1:
        return f": one CPU takes slots and meets no other's base, and {begins}"
    if {*names}.isdisjoint(_RERANDOMISE):
        return f": each stores the next slot as its base, and {begins}"
    return ": where a base went on leaving a trunk made no difference"


_RERANDOMISE: Final = ("percpu-rerandomise", "avoid")  # they may store another slot than the next
