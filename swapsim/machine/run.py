# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the contention machine, as metrics or as single waits, holds and sleeps."""

from typing import Final

import polars as pl

from swapsim.claims import Row, results
from swapsim.errors import ConfigError, InputError
from swapsim.machine._native import Window, run_window
from swapsim.machine._native_log import MachineLog
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs_by_name
from swapsim.machine.tables import MACHINE_SPANS

PAGE_KIB: Final = 4
TABLE_SEEDS: Final = tuple(range(1, 21))
"""Seeds of the runs over which a table is the mean."""

_SECOND_NS: Final = 1_000_000_000
_TIMES: Final = ("run_ns", "hold_ns", "wait_ns", "idle_ns")


def run(config: MachineConfig, constants: pl.DataFrame | None = None) -> pl.DataFrame:
    """Run a machine and return its metrics.

    Parameters
    ----------
    config : MachineConfig
    constants : polars.DataFrame, optional
        Schema CONSTANTS; default: data/costs.csv.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, source simulated, one row per metric: ``swap_out``, ``swap_in`` and
        ``written`` (KiB/s), ``accesses`` (accesses/s), ``cycles.SITE`` (the time spent in that
        lock's function, in % of the busy time of all CPUs), ``acquisitions.SITE``,
        ``contended.SITE``, ``moved.SITE``, ``wait.SITE`` and ``hold.SITE`` (per page swapped out),
        ``longest_wait.SITE`` and ``longest_hold.SITE`` (ns, of one acquisition since the start),
        ``run.ACTOR``, ``hold.ACTOR``, ``wait.ACTOR`` and ``idle.ACTOR`` (% of these CPUs' time),
        ``slots.WORK`` (per slot handed out), ``busy`` (time of all CPUs with their waits, ns per
        page swapped out), ``elapsed`` (ns). Labels are those of `labels`.

    Raises
    ------
    ConfigError
        All tasks end within the warm-up.
    InputError
        A cost does not fit (see `costs.check_costs`) or is as long as the run, the devices fill
        up, or the requests of streams cannot be processed.
    NativeMemoryError
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
        raise ConfigError(
            f"warmup_ns={config.warmup_ns}: all tasks ended within the warm-up; "
            "make it shorter, or give them more accesses"
        )
    metrics = [
        *_rates(window),
        *_site_metrics(window),
        *_actor_metrics(window),
        *_slot_metrics(window),
        ("busy", _busy_ns(window) / _pages(window), "ns of all CPUs per page"),
        ("elapsed", float(window.elapsed_ns), "ns"),
    ]
    return results(metrics, labels(config))


def spans(config: MachineConfig, constants: pl.DataFrame | None = None) -> pl.DataFrame:
    """Run a machine and return each wait for a lock with its holder, each hold and each sleep."""
    log = MachineLog(config, costs_by_name(constants))
    parts = [sample.spans for sample in log.samples(config.duration_ns)]
    return MACHINE_SPANS.check(pl.concat(parts))


def metric_values(config: MachineConfig, constants: pl.DataFrame) -> dict[str, float]:
    """Run a machine and return each metric's value."""
    return dict(run(config, constants).select("metric", "value").iter_rows())


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
