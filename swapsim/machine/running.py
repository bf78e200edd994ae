# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the contention machine: one, what a change of it gains, and many."""

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import median
from typing import Any, Final, Unpack

import polars as pl

from swapsim import study
from swapsim.errors import InputError, check_choice, check_number, require_some
from swapsim.ffi import POLICIES
from swapsim.machine._native import Window, run_window
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs_by_name, costs_of
from swapsim.policies import Policy
from swapsim.published.data import Row, results

PAGE_KIB: Final = 4
PAGES_MOVED: Final = "pages moved"  # out and in, a second: the metric that policies are ranked by
TABLE_SEEDS: Final = tuple(range(1, 21))  # of the runs over which a table is the mean

FIGURES: Final = ("swap_out", "swap_in", "written", "accesses", "throughput", "waits")
"""What `sweep` reports of a run, and `gain` compares, all but the waits."""

_SECOND_NS: Final = 1_000_000_000
_TIMES: Final = ("run_ns", "hold_ns", "wait_ns", "idle_ns")

_LOCK_PARTS: Final = {"tree_lock": "swap cache's lock", "si_lock": "si->lock"}
_INTERRUPTS: Final = "other CPUs' interrupts"
_PER_CPU_LOCKS: Final = ("alloc_lock", "free_lock")  # of its own slot caches
_NESTED: Final = (
    r"\.cluster_lock\.|\.clear_shadow_from_swap_cache$"
    r"|\.swap_cgroup_record\.(mem_cgroup_swapout|swapcache_free_entries)$"
)
"""Sites inside si->lock or the swap cache's lock, whose hold already includes them."""

_BINDS: Final = 10.0  # percent of busy time in waits from which a lock, not work, bounds a run
_SATURATED: Final = 95.0  # percent of its acquisitions that find a saturated lock held
_SEEDS_OF_A_DRIFT: Final = 3
_DRIFT: Final = 2.0  # percent, below which halves that differ in all seeds are alike
_QUEUES: Final = 100  # queues of all CPUs that a window has to be as long as
_CYCLE: Final = 4
"""In a window a node has to swap out one in so many of its frames: two thirds of patch D's."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a machine with its seed, without its warm-up.

    ``rows`` (RESULTS) has a row for each metric: ``swap_out, swap_in, written`` (KiB/s),
    ``accesses`` (a second), ``busy`` (ns of all CPUs a page), ``elapsed`` (ns); for each place
    where a lock is taken ``cycles.LOCK.FUNCTION`` (waits, percent of busy time), ``acquisitions,
    contended, moved, wait, hold`` a page swapped out, ``longest_wait, longest_hold`` (ns); ``run,
    hold, wait, idle`` of each kind of CPU (percent); ``slots.WORK`` a slot handed out. ``halves``
    are the pages out and in of the first and of the second half; None of streams.
    """

    machine: Machine
    rows: pl.DataFrame
    halves: tuple[int, int] | None = None

    def value(self, metric: str) -> float:
        """Return the value of a metric."""
        return float(self.rows.filter(metric=metric)["value"].item())

    @property
    def swap_out(self) -> float:
        """Rate at which pages are swapped out, in KiB a second."""
        return self.value("swap_out")

    @property
    def swap_in(self) -> float:
        """Rate at which pages are swapped in, in KiB a second."""
        return self.value("swap_in")

    @property
    def throughput(self) -> float:
        """Pages that are swapped out and in, a second."""
        return (self.swap_out + self.swap_in) / PAGE_KIB

    @property
    def waits(self) -> float:
        """Share of the CPUs' busy time in waits for locks, in percent."""
        cycles = pl.col("metric").str.starts_with("cycles.")
        return math.fsum(self.rows.filter(cycles)["value"])

    @property
    def locks(self) -> pl.DataFrame:
        """A row for each lock, the longest waited for first.

        ``lock``; ``acquisitions`` a page swapped out; ``contended`` and ``transfers``, percent of
        them that find it held, and that fetch its cache line from another CPU; ``wait_ns`` and
        ``hold_ns`` a page.
        """
        parts = pl.col("metric").str.extract_groups(r"^(\w+)\.(\w+)\.(.+)$")
        found = self.rows.select(part=parts.struct[0], lock=parts.struct[1], value="value")
        if self.machine.kernel == "4.8":  # before 4.11 the map bytes are under si->lock
            found = found.with_columns(pl.col("lock").replace("map_lock", "si_lock"))
        names = ["acquisitions", "contended", "moved", "wait", "hold"]
        wide = (
            found.drop_nulls("lock")
            .filter(pl.col("part").is_in(names))
            .pivot("part", index="lock", values="value", aggregate_function="sum", on_columns=names)
        )
        share = [100 * pl.col(name) / pl.col("acquisitions") for name in ("contended", "moved")]
        return (
            wide.filter(pl.col("acquisitions") > 0)
            .select(
                "lock",
                "acquisitions",
                contended=share[0],
                transfers=share[1],
                wait_ns="wait",
                hold_ns="hold",
            )
            .sort("wait_ns", descending=True, maintain_order=True)
        )

    @property
    def time_per_page(self) -> pl.DataFrame:
        """Where the CPUs' time goes between two pages out: ``part, microseconds, percent``."""
        return time_per_page(self.rows)

    @property
    def bound_by(self) -> str:
        """The lock that is waited for longest; "work" if less than a tenth of the busy time is."""
        busy, first = self.value("busy"), self.locks.row(0, named=True)
        return str(first["lock"]) if 100 * first["wait_ns"] / busy >= _BINDS else "work"

    @property
    def saturated(self) -> bool:
        """Whether `bound_by` is a lock that 95 % of its acquisitions find held."""
        bound = self.bound_by
        return bound != "work" and self.locks.filter(lock=bound)["contended"][0] >= _SATURATED

    def __repr__(self) -> str:
        """Return its rates and its lock in a line."""
        full = ", saturated" if self.saturated else ""
        return (
            f"Run(swap_out={self.swap_out:,.0f} KiB/s, swap_in={self.swap_in:,.0f} KiB/s, "
            f"waits={self.waits:.0f} %, bound_by={self.bound_by!r}{full})"
        )


def run(machine: Machine, *, seed: int | None = None) -> Run:
    """Run a machine once.

    Parameters
    ----------
    machine : Machine
    seed : int, optional
        In place of the machine's own.

    Returns
    -------
    Run
        ``swap_out`` and ``swap_in`` (KiB/s), ``throughput`` (pages/s), ``waits`` (percent),
        ``locks`` and ``time_per_page`` (frames), ``bound_by``, ``saturated``, and all ``rows``.

    Raises
    ------
    InputError
        A cost is as long as the run, the devices fill up, all tasks end within the warm-up, or the
        requests of streams cannot be processed.

    Warns
    -----
    UserWarning
        No page was swapped out, and why; or critical sections are not much shorter than the run.

    Examples
    --------
    >>> from swapsim import machine
    >>> machine.run(machine.Machine(kernel="4.8", walkers=8))
    Run(swap_out=971,680 KiB/s, swap_in=967,520 KiB/s, waits=47 %, bound_by='tree_lock', saturated)
    """
    chosen = machine if seed is None else machine.replace(seed=seed)
    made = _once(chosen)
    _warn_of_long_holds([made])
    return made


def _once(machine: Machine) -> Run:
    window = _window_of(machine, change_costs(costs_of(), machine.costs))
    return Run(machine, results([*window_metrics(window)], labels(machine)), window.halves)


def gain(
    machine: Machine,
    *,
    metric: str = "swap_out",
    seeds: int = 6,
    executor: Executor | None = None,
    progress: bool = False,
    **changed: Any,
) -> pl.DataFrame:
    """Return what a change of a machine gains, over seeds that both have.

    Parameters
    ----------
    machine : Machine
        The base.
    metric : {"swap_out", "swap_in", "written", "accesses", "throughput"}
    seeds : int
        Both run with seeds 1 to so many, which decide where tasks and scans begin.
    executor, progress
        As those of `study.run`.
    **changed
        Fields of the machine, or costs by their names, with a value or a list of values, as
        ``tags=False`` or ``copy_ns=[300, 1000]``; all combinations are compared with the base.

    Returns
    -------
    polars.DataFrame
        A row for each combination: the fields, ``middle, low, high`` (median, least and greatest
        gain of a seed in percent, with the digits that this range deserves), and the lock that
        the changed machine is ``bound_by``, and whether that is ``saturated``.

    Warns
    -----
    UserWarning
        A change makes no difference, and why; the window is less than a cycle of reclaim; or the
        halves of the window differ by more than their scatter over three seeds or more; or critical
        sections are not much shorter than the window.

    Examples
    --------
    >>> from swapsim import machine
    >>> a = machine.preset("A-2016")
    >>> machine.gain(a, tags=False).rows()
    [(False, 31.1, 30.2, 31.5, 'si_lock', False)]
    """
    check_choice("metric", metric, FIGURES[:-1])
    check_number("seeds", seeds, 1)
    combinations = _combinations(changed)
    machines = [machine, *(machine.replace(**each) for each in combinations)]
    points = [each.replace(seed=seed) for each in machines for seed in range(1, seeds + 1)]
    runs = study.run(_once, points, executor=executor, progress=progress)
    by_machine = [runs[at : at + seeds] for at in range(0, len(runs), seeds)]
    rates = [[_figures(each)[metric] for each in group] for group in by_machine]
    if not all(rates[0]):
        raise InputError(f"metric={metric!r}: the machine has none; choose another one")
    for one, group in zip(machines, by_machine, strict=True):
        _warn_of_window(one, group)
        _warn_of_drift(one, group)
        _warn_of_long_holds(group)
    rows = []
    for each, group, own in zip(combinations, by_machine[1:], rates[1:], strict=True):
        gains = [100 * (new / old - 1) for new, old in zip(own, rates[0], strict=True)]
        if not any(gains):
            _warn_of_no_gain(machine, each)
        names = {name: _named(value) for name, value in each.items()}
        names |= dict(zip(("middle", "low", "high"), rounded(gains), strict=True))
        locks = [one.bound_by for one in group]
        names["bound_by"] = max(locks, key=locks.count)
        rows.append(names | {"saturated": all(one.saturated for one in group)})
    return pl.DataFrame(rows)


def sweep(
    machine: Machine,
    *,
    seeds: int = 3,
    executor: Executor | None = None,
    progress: bool = False,
    **fields: Any,
) -> pl.DataFrame:
    """Run a machine with each combination of some fields.

    Parameters
    ----------
    machine : Machine
        Its other fields stay.
    seeds : int
        Each runs with seeds 1 to so many.
    executor, progress
        As those of `study.run`.
    **fields
        Fields of the machine, or costs by their names, with the values of each.

    Returns
    -------
    polars.DataFrame
        The fields, ``seed, metric, value``: a row for each run and figure, of which ``swap_out``,
        ``swap_in`` and ``written`` are KiB/s, ``accesses`` are a second, ``throughput`` is pages/s
        out and in, and ``waits`` percent of busy time. `study.over` and `study.against` take it.

    Warns
    -----
    UserWarning
        The halves of a machine's window differ by more than their scatter over three seeds or more,
        or critical sections are not much shorter than it.

    Examples
    --------
    >>> from swapsim import machine, study
    >>> rows = machine.sweep(machine.Machine(kernel="4.8"), seeds=2, walkers=[2, 8])
    >>> study.over(rows.filter(metric="throughput")).select("walkers", "runs").rows()
    [(2, 2), (8, 2)]
    """
    points = [
        ({**each, "seed": seed}, machine.replace(**each, seed=seed))
        for each in _combinations(fields)
        for seed in range(1, seeds + 1)
    ]
    runs = study.run(_once, [each for _, each in points], executor=executor, progress=progress)
    for at in range(0, len(runs), seeds):
        _warn_of_drift(points[at][1], runs[at : at + seeds])
        _warn_of_long_holds(runs[at : at + seeds])
    return pl.DataFrame(
        {**{key: _named(of) for key, of in names.items()}, "metric": name, "value": value}
        for (names, _), one in zip(points, runs, strict=True)
        for name, value in _figures(one).items()
    )


def _combinations(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all combinations of the values of each field."""
    lists = [each if isinstance(each, list | tuple | range) else [each] for each in fields.values()]
    if not fields or not all(lists):
        raise InputError(f"{fields}: give fields of the machine, as tags=False, with their values")
    return [dict(zip(fields, each, strict=True)) for each in product(*lists)]


def _figures(one: Run) -> dict[str, float]:
    value = dict(one.rows.select("metric", "value").iter_rows())
    return {name: value[name] if name in value else getattr(one, name) for name in FIGURES}


def _named(value: Any) -> Any:
    return value.name if isinstance(value, Policy) else value


def rounded(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the median, the least and the greatest, with the digits that half their range has."""
    found = median(values), min(values), max(values)
    apart = found[2] - found[1]
    digits = 1 if apart == 0 else min(max(-math.floor(math.log10(apart / 2)), 0), 2)
    middle, low, high = (round(each, digits) + 0.0 for each in found)
    return middle, low, high


def _warn_of_window(machine: Machine, runs: Sequence[Run]) -> None:
    """Warn where a window sees a part of reclaim's cycle of inactive lists and refills."""
    least = min(each.swap_out for each in runs)
    pages = least / PAGE_KIB * machine.duration_ns / _SECOND_NS / machine.nodes
    wanted = machine.frames / _CYCLE
    if 0 < pages < wanted and machine.walkers and machine.streams is None:
        warnings.warn(
            f"in the measured time a node swaps out {pages:,.0f} pages, of {machine.frames:,} "
            "frames: a gain depends on where in reclaim's cycle it begins; give "
            f"duration_ns={math.ceil(machine.duration_ns * wanted / pages):,} or more",
            stacklevel=3,
        )


def _warn_of_drift(machine: Machine, runs: Sequence[Run]) -> None:
    """Warn where the second half of a window differs from the first by more than seeds do."""
    halves = [each.halves for each in runs if each.halves and each.halves[0]]
    if len(halves) < _SEEDS_OF_A_DRIFT:
        return
    changes = [100 * (second / first - 1) for first, second in halves]
    if abs(middle := median(changes)) > max(max(changes) - min(changes), _DRIFT):
        more = "more" if middle > 0 else "fewer"
        warnings.warn(
            f"in the second half of the measured time {abs(middle):.1f} % {more} pages move than "
            f"in the first ({min(changes):+.1f} to {max(changes):+.1f} % by seed): the machine has "
            f"not settled; give warmup_ns={max(2 * machine.warmup_ns, machine.duration_ns):,} or "
            "more, or a longer duration_ns",
            stacklevel=3,
        )


def _warn_of_long_holds(runs: Sequence[Run]) -> None:
    """Warn where a queue of all CPUs at the lock that binds takes a hundredth of the window."""
    one = runs[0]
    if one.machine.streams is not None or (bound := one.bound_by) == "work":
        return
    lock = one.locks.filter(lock=bound).row(0, named=True)
    queue = one.machine.cpus * lock["hold_ns"] / lock["acquisitions"]
    if _QUEUES * queue > one.value("elapsed"):
        wanted = math.ceil(_QUEUES * queue)
        warnings.warn(
            f"a queue of all CPUs at {bound} takes {queue:,.0f} ns, more than a hundredth of the "
            f"measured time: critical sections are not much shorter than it; give "
            f"duration_ns={wanted:,} or more",
            stacklevel=3,
        )


def _warn_of_no_gain(machine: Machine, changed: Mapping[str, Any]) -> None:
    same = all(getattr(machine, name, None) == value for name, value in changed.items())
    why = "that is the machine itself" if same else "the runs are the same"
    if not same and "policy" in changed:
        why += ": a call that gets a free cluster ignores cluster_next; give the machine "
        why += "fragmented=True, and more walkers or fewer slots, so that none is free"
    what = ", ".join(f"{name}={_named(value)}" for name, value in changed.items())
    warnings.warn(f"{what}: no gain, for {why}", stacklevel=3)


# What a run reports, and the runs of the patches.


def run_rows(machine: Machine, constants: pl.DataFrame | None = None) -> pl.DataFrame:
    """Run a machine, with other costs if given (CONSTANTS); return its metrics (RESULTS)."""
    own = change_costs(costs_of(), machine.costs) if constants is None else constants
    return results([*window_metrics(_window_of(machine, own))], labels(machine))


def _window_of(machine: Machine, constants: pl.DataFrame) -> Window:
    """Run a machine and return its window; an InputError if there is none, a warning if no page."""
    cost = costs_by_name(constants)
    unused = () if machine.channels else ("channel_ns", "interrupt_ns")
    # Streams run until they are done, so a cost of any length fits.
    for name, value in cost.items() if machine.streams is None else ():
        if value >= machine.duration_ns and name not in unused:
            raise InputError(
                f"cost {name!r} of {value} ns is as long as the run "
                f"(duration_ns={machine.duration_ns}): run for longer"
            )
    window = run_window(machine, cost)
    if not window.elapsed_ns:
        raise InputError(
            f"warmup_ns={machine.warmup_ns}: all tasks ended within the warm-up; "
            "make it shorter, or give them more accesses"
        )
    if not window.cpus["pages_out"].sum():
        warnings.warn(_why_idle(machine), stacklevel=3)
    return window


def _why_idle(machine: Machine) -> str:
    """Return a line on why a machine did not swap."""
    memory = f"frames={machine.frames} of {machine.nodes} node{'s' * (machine.nodes > 1)}"
    if not machine.writers and machine.walkers * machine.pages <= machine.nodes * machine.frames:
        why = (
            f"the pages of its tasks (walkers={machine.walkers}, pages={machine.pages} each) fit "
            f"into memory ({memory}); choose more pages or fewer frames"
        )
    else:
        why = f"memory ({memory}) had not run short; choose fewer frames or a longer warmup_ns"
    return f"the machine swapped no page out: {why}"


def metric_values(machine: Machine, constants: pl.DataFrame | None = None) -> dict[str, float]:
    """Run a machine and return each metric's value."""
    return dict(run_rows(machine, constants).select("metric", "value").iter_rows())


def run_policies(
    machine: Callable[..., Machine],
    policies: Sequence[str | Policy] = POLICIES,
    *,
    seeds: int = 5,
    **how: Unpack[study.How],
) -> pl.DataFrame:
    """Run a patch's machine under each policy with seeds 1 to `seeds` (RESULTS; `run_policy`)."""
    require_some(policies, "policies")
    points = [(policy, seed) for policy in policies for seed in range(1, seeds + 1)]
    return study.table(partial(run_policy, machine), points, **how)


def run_policy(machine: Callable[..., Machine], point: tuple[str | Policy, int]) -> pl.DataFrame:
    """Run a machine under one policy with one seed; return its rates, waits and slots tested."""
    policy, seed = point
    config = machine(policy=policy, seed=seed)
    value = metric_values(config)

    def total(prefix: str) -> float:
        return math.fsum(figure for metric, figure in value.items() if metric.startswith(prefix))

    rows = [
        (PAGES_MOVED, (value["swap_out"] + value["swap_in"]) / PAGE_KIB, "pages/s"),
        ("waits", total("cycles."), "% of cycles"),
        ("tested", total("slots.tested_"), "per slot"),
        ("si->lock", total("acquisitions.si_lock."), "per page"),
    ]
    return results(rows, labels(config))


def labels(
    machine: Machine, *, kernel: str | None = None, policy: str | None = None
) -> dict[str, str | int]:
    """Return the labels of RESULTS for a run; its kernel and policy may have other names."""
    return {
        "patch": machine.patch,
        "kernel": machine.kernel if kernel is None else kernel,
        "policy": policy_of(machine) if policy is None else policy,
        "n_tasks": machine.tasks,
        "seed": machine.seed,
    }


def policy_of(machine: Machine) -> str:
    """Return "tags" or "no tags" if the machine sets it or is a 4.8, else the scan's policy."""
    if machine.tags is not None or machine.kernel == "4.8":
        return "no tags" if machine.tags is False else "tags"
    return str(_named(machine.policy))


def lock_of(metric: str, kernel: str) -> str | None:
    """Return the lock of ``wait.SITE`` or ``hold.SITE``; None inside other holds, or on one CPU."""
    if re.search(_NESTED, metric) or (lock := metric.split(".")[1]) in _PER_CPU_LOCKS:
        return None
    if lock == "map_lock" and kernel == "4.8":
        lock = "si_lock"
    return (_LOCK_PARTS | {"interrupt": _INTERRUPTS}).get(lock, "other locks")


def time_per_page(rows: pl.DataFrame) -> pl.DataFrame:
    """Return ``part, microseconds, percent`` between two pages swapped out.

    A hold of si->lock includes the waits and holds inside it.
    """
    value = dict(rows.select("metric", "value").iter_rows())
    timed = rows.filter(unit="ns per page")
    of = pl.Series([lock_of(each, rows["kernel"][0]) for each in timed["metric"]], dtype=pl.String)
    kind = pl.col("metric").str.extract(r"^(\w+)\.")
    times = timed.select(kind=kind, lock=of, value="value").group_by("lock", "kind").agg(
        pl.col("value").sum()
    )  # fmt: skip
    found = {
        f"{lock}, {word}": times.filter(lock=lock, kind=kind)["value"].sum() / 1000
        for lock in (*_LOCK_PARTS.values(), "other locks", _INTERRUPTS)
        for kind, word in (("wait", "waited for"), ("hold", "held"))
        if (lock, kind) != (_INTERRUPTS, "hold")
    }
    found = {"work without a lock": value["busy"] / 1000 - math.fsum(found.values())} | found
    shares = [100_000 * each / value["busy"] for each in found.values()]
    names = {"part": [*found], "microseconds": [*found.values()]}
    return pl.DataFrame(names | {"percent": shares})


def window_metrics(window: Window) -> Iterator[Row]:
    """Yield the metrics of a window of a run: name, value and unit."""
    cpus = window.cpus
    times = pl.sum_horizontal("run_ns", "hold_ns", "wait_ns")
    busy = max(int(cpus.select(times.sum()).item()), 1)
    pages = max(int(cpus["pages_out"].sum()), 1)
    for name, column, size, unit in (
        ("swap_out", "pages_out", PAGE_KIB, "KiB/s"),
        ("swap_in", "pages_in", PAGE_KIB, "KiB/s"),
        ("written", "touched", PAGE_KIB, "KiB/s"),
        ("accesses", "accesses", 1, "accesses/s"),
    ):
        rate = float(cpus[column].sum()) * _SECOND_NS / window.elapsed_ns
        yield name, size * rate, unit
    for row in window.sites.iter_rows(named=True):
        site = row["site"]
        yield f"cycles.{site}", 100 * row["wait_ns"] / busy, "% of cycles"
        for name in ("acquisitions", "contended", "moved"):
            yield f"{name}.{site}", row[name] / pages, "per page"
        for name in ("wait", "hold"):
            yield f"{name}.{site}", row[f"{name}_ns"] / pages, "ns per page"
        for name in ("longest_wait", "longest_hold"):
            yield f"{name}.{site}", float(row[f"{name}_ns"]), "ns"
    actors = cpus.filter(pl.col("actor") != "none").group_by("actor").agg(pl.col(_TIMES).sum())
    for row in actors.sort("actor").iter_rows(named=True):
        total = max(sum(row[name] for name in _TIMES), 1)
        for name in _TIMES:
            share = 100 * row[name] / total
            yield f"{name.removesuffix('_ns')}.{row['actor']}", share, "% of time"
    given = max(window.slots["given"], 1)
    for name, count in window.slots.items():
        if name != "given":
            yield f"slots.{name}", count / given, "per slot"
    yield "busy", busy / pages, "ns of all CPUs per page"
    yield "elapsed", float(window.elapsed_ns), "ns"
