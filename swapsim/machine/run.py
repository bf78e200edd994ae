# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the contention machine, as metrics, and under policies."""

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Unpack

import polars as pl

from swapsim import study
from swapsim.claims import Row, results
from swapsim.errors import InputError, require_some
from swapsim.ffi import POLICIES
from swapsim.machine._native import Window, run_window
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs_by_name
from swapsim.policies import Policy

PAGE_KIB: Final = 4
PAGES_MOVED: Final = "pages moved"
"""Pages out and in, a second: the metric that policies are ranked by."""
TABLE_SEEDS: Final = tuple(range(1, 21))
"""Seeds of the runs over which a table is the mean."""

_SECOND_NS: Final = 1_000_000_000
_TIMES: Final = ("run_ns", "hold_ns", "wait_ns", "idle_ns")


def run(config: MachineConfig, constants: pl.DataFrame | None = None) -> pl.DataFrame:
    """Run a machine once.

    Parameters
    ----------
    config : MachineConfig
        The machine: kernel, tasks, memory, devices, length of the run and seed.
    constants : polars.DataFrame, optional
        Schema CONSTANTS, how long each step takes, most in ns; default: those of data/costs.csv.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, a row for each metric of the run without its warm-up, such as ``swap_out``
        (KiB a second) or ``wait.si_lock.get_swap_pages`` (ns a page); the table MACHINE_METRICS has
        their names, units and meanings.

    Raises
    ------
    InputError
        A cost is as long as the run, the devices fill up, or the requests of streams cannot be
        processed.
    InputError
        All tasks end within the warm-up.

    Warns
    -----
    UserWarning
        No page was swapped out, and why.

    Examples
    --------
    >>> from swapsim.machine import MachineConfig
    >>> from swapsim.machine.run import run
    >>> results = run(MachineConfig(kernel="6.1", walkers=4))
    >>> round(results.filter(metric="swap_out")["value"].item())
    903596
    """
    cost = costs_by_name(constants)
    unused = () if config.channels else ("channel_ns", "interrupt_ns")
    # Streams run until they are done, so a cost of any length fits.
    for name, value in cost.items() if config.streams is None else ():
        if value >= config.duration_ns and name not in unused:
            raise InputError(
                f"cost {name!r} of {value} ns is as long as the run "
                f"(duration_ns={config.duration_ns}): run for longer",
                field="value",
            )
    window = run_window(config, cost)
    if not window.elapsed_ns:
        raise InputError(
            f"warmup_ns={config.warmup_ns}: all tasks ended within the warm-up; "
            "make it shorter, or give them more accesses"
        )
    if not window.cpus["pages_out"].sum():
        warnings.warn(_why_idle(config), stacklevel=3)  # one level is that of `checked`
    return results(window_metrics(window), labels(config))


def _why_idle(config: MachineConfig) -> str:
    """Return a line on why a machine did not swap."""
    memory = f"frames={config.frames} of {config.nodes} node{'s' * (config.nodes > 1)}"
    if not config.writers and config.walkers * config.pages <= config.nodes * config.frames:
        why = (
            f"the pages of its tasks (walkers={config.walkers}, pages={config.pages} each) fit "
            f"into memory ({memory}); choose more pages or fewer frames"
        )
    else:
        why = f"memory ({memory}) had not run short; choose fewer frames or a longer warmup_ns"
    return f"the machine swapped no page out: {why}"


def window_metrics(window: Window) -> list[Row]:
    """Return the metrics of a window of a run: name, value and unit."""
    return [
        *_rates(window),
        *_site_metrics(window),
        *_actor_metrics(window),
        *_slot_metrics(window),
        ("busy", _busy_ns(window) / _pages(window), "ns of all CPUs per page"),
        ("elapsed", float(window.elapsed_ns), "ns"),
    ]


def metric_values(config: MachineConfig, constants: pl.DataFrame | None = None) -> dict[str, float]:
    """Run a machine and return each metric's value."""
    return dict(run(config, constants).select("metric", "value").iter_rows())


def run_policies(
    machine: Callable[..., MachineConfig],
    policies: Sequence[str | Policy] = POLICIES,
    *,
    seeds: int = 5,
    constants: pl.DataFrame | None = None,
    **how: Unpack[study.How],
) -> pl.DataFrame:
    """Run a machine under each policy with seeds 1 to ``seeds`` (RESULTS).

    ``machine`` takes ``policy=`` and ``seed=``: a patch's machine, or a ``functools.partial`` of
    it. The metrics are ``pages moved`` (pages/s, out and in), ``waits`` (% of the busy time of all
    CPUs, in waiting for locks), ``tested`` (slots tested for one that is handed out) and
    ``si->lock`` (acquisitions a page swapped out). `claims.medians` and `claims.ranks` put them in
    order. The other arguments are those of `study.run`.
    """
    require_some(policies, "policies")
    if seeds < 1:
        raise InputError(f"seeds={seeds}: choose at least 1")
    task = partial(run_policy, machine, constants=constants)
    points = [(policy, seed) for policy in policies for seed in range(1, seeds + 1)]
    return study.table(task, points, **how)


def run_policy(
    machine: Callable[..., MachineConfig],
    point: tuple[str | Policy, int],
    *,
    constants: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Run a machine under one policy with one seed; return the rows of `run_policies`."""
    policy, seed = point
    config = machine(policy=policy, seed=seed)
    value = metric_values(config, constants)

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
    config: MachineConfig, *, kernel: str | None = None, policy: str | None = None
) -> dict[str, str | int]:
    """Return the labels of RESULTS for a run of a machine.

    ``kernel`` and ``policy`` are the names of a mail or of a real kernel's switch; by default,
    the names are those of the machine.
    """
    return {
        "patch": config.patch,
        "kernel": config.kernel if kernel is None else kernel,
        "policy": policy_of(config) if policy is None else policy,
        "n_tasks": config.tasks,
        "seed": config.seed,
    }


def policy_of(config: MachineConfig) -> str:
    """Return "tags" or "no tags" if the config sets it or is a 4.8, else the scan's policy."""
    tags = config.swap_writeback_tags
    if tags is not None or config.kernel == "4.8":
        return "no tags" if tags is False else "tags"
    return config.policy if isinstance(config.policy, str) else config.policy.name


def _per_second(column: str, window: Window) -> float:
    return float(window.cpus[column].sum()) * _SECOND_NS / window.elapsed_ns


def _rates(window: Window) -> list[Row]:
    return [
        ("swap_out", PAGE_KIB * _per_second("pages_out", window), "KiB/s"),
        ("swap_in", PAGE_KIB * _per_second("pages_in", window), "KiB/s"),
        ("written", PAGE_KIB * _per_second("touched", window), "KiB/s"),
        ("accesses", _per_second("accesses", window), "accesses/s"),
    ]


def _busy_ns(window: Window) -> int:
    return max(
        int(window.cpus.select(pl.sum_horizontal("run_ns", "hold_ns", "wait_ns").sum()).item()), 1
    )


def _pages(window: Window) -> int:
    return max(int(window.cpus["pages_out"].sum()), 1)


def _site_metrics(window: Window) -> list[Row]:
    busy, pages = _busy_ns(window), _pages(window)
    metrics: list[Row] = []
    for row in window.sites.iter_rows(named=True):
        site = row["site"]
        metrics.append((f"cycles.{site}", 100 * row["wait_ns"] / busy, "% of cycles"))
        for name, unit in (
            ("acquisitions", "per page"),
            ("contended", "per page"),
            ("moved", "per page"),
            ("wait_ns", "ns per page"),
            ("hold_ns", "ns per page"),
        ):
            metrics.append((f"{name.removesuffix('_ns')}.{site}", row[name] / pages, unit))
        for name in ("longest_wait_ns", "longest_hold_ns"):
            metrics.append((f"{name.removesuffix('_ns')}.{site}", float(row[name]), "ns"))
    return metrics


def _actor_metrics(window: Window) -> list[Row]:
    sums = (
        window.cpus.filter(pl.col("actor") != "none")
        .group_by("actor")
        .agg(pl.col(_TIMES).sum())
        .sort("actor")
    )
    metrics: list[Row] = []
    for row in sums.iter_rows(named=True):
        total = max(sum(row[name] for name in _TIMES), 1)
        metrics += [
            (f"{name.removesuffix('_ns')}.{row['actor']}", 100 * row[name] / total, "% of time")
            for name in _TIMES
        ]
    return metrics


def _slot_metrics(window: Window) -> list[Row]:
    given = max(window.slots["given"], 1)
    return [
        (f"slots.{name}", count / given, "per slot")
        for name, count in window.slots.items()
        if name != "given"
    ]
