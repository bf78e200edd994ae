# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the contention machine: counts become time, by the costs alone."""

from typing import Final

import polars as pl

from swapsim.claims import Row, results
from swapsim.errors import ConfigError, InputError
from swapsim.machine import _native as native_machine
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import check_costs, costs

PAGE_KIB: Final = 4
TABLE_SEEDS: Final = tuple(range(1, 21))
"""Of the runs that a table is the mean of."""

_SECOND_NS: Final = 1_000_000_000
_TIMES: Final = ("run_ns", "hold_ns", "wait_ns", "idle_ns")


def run(config: MachineConfig, constants: pl.DataFrame | None = None) -> pl.DataFrame:
    """Run a machine and say what it did.

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
        ``contended.SITE``, ``moved.SITE``, ``wait.SITE`` and ``hold.SITE`` (a page swapped out),
        ``longest_wait.SITE`` and ``longest_hold.SITE`` (ns, one of them since the machine began),
        ``run.ACTOR``, ``hold.ACTOR``, ``wait.ACTOR`` and ``idle.ACTOR`` (% of these CPUs' time),
        ``slots.WORK`` (a slot handed out), ``busy`` (time of all CPUs, waits for locks included, ns
        a page swapped out), ``elapsed`` (ns). Labels are those of `labels`.

    Raises
    ------
    ConfigError
        All tasks end within the warm-up.
    InputError
        A cost does not fit (see `costs.check_costs`), is as long as the run, the devices fill
        up, or the requests of streams cannot be done.
    NativeMemoryError
    """
    checked = costs() if constants is None else check_costs(constants)
    unused = () if config.channels else ("channel_ns", "interrupt_ns")
    # Streams take as long as they take: no cost is longer.
    for row in checked.iter_rows(named=True) if config.streams is None else ():
        if row["value"] >= config.duration_ns and row["name"] not in unused:
            raise InputError(
                f"cost {row['name']!r} of {row['value']} ns is as long as the run "
                f"(duration_ns={config.duration_ns}): watch for longer",
                field="value",
            )
    window = native_machine.watch(config, dict(checked.select("name", "value").iter_rows()))
    if not window.elapsed_ns:
        raise ConfigError(
            f"warmup_ns={config.warmup_ns}: all tasks ended before the watch began; "
            "let it begin earlier, or give them more accesses"
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


def metric_values(config: MachineConfig, constants: pl.DataFrame) -> dict[str, float]:
    """Run a machine and return each metric's value."""
    return dict(run(config, constants).select("metric", "value").iter_rows())


def labels(
    config: MachineConfig, *, kernel: str | None = None, policy: str | None = None
) -> dict[str, str | int]:
    """Return what RESULTS say of each run of a machine.

    Parameters
    ----------
    config : MachineConfig
    kernel, policy : str, optional
        The names that a mail or a real kernel's switch has for them; default: the machine's own.
    """
    return {
        "patch": config.patch,
        "kernel": config.kernel if kernel is None else kernel,
        "policy": policy_of(config) if policy is None else policy,
        "n_tasks": config.tasks,
        "seed": config.seed,
    }


def policy_of(config: MachineConfig) -> str:
    """Return what a machine is known by: where a scan begins, or whether it keeps tags.

    The latter, "tags" or "no tags", if it is told so, or is a 4.8.
    """
    tags = config.swap_writeback_tags
    if tags is not None or config.kernel == "4.8":
        return "no tags" if tags is False else "tags"
    return config.policy if isinstance(config.policy, str) else config.policy.name


def _per_second(column: str, window: native_machine.Window) -> float:
    return float(window.cpus[column].sum()) * _SECOND_NS / window.elapsed_ns


def _rates(window: native_machine.Window) -> list[Row]:
    return [
        ("swap_out", PAGE_KIB * _per_second("pages_out", window), "KiB/s"),
        ("swap_in", PAGE_KIB * _per_second("pages_in", window), "KiB/s"),
        ("written", PAGE_KIB * _per_second("touched", window), "KiB/s"),
        ("accesses", _per_second("accesses", window), "accesses/s"),
    ]


def _busy_ns(window: native_machine.Window) -> int:
    return max(
        int(window.cpus.select(pl.sum_horizontal("run_ns", "hold_ns", "wait_ns").sum()).item()), 1
    )


def _pages(window: native_machine.Window) -> int:
    return max(int(window.cpus["pages_out"].sum()), 1)


def _site_metrics(window: native_machine.Window) -> list[Row]:
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


def _actor_metrics(window: native_machine.Window) -> list[Row]:
    sums = (
        window.cpus.filter(pl.col("actor") != "none")
        .group_by("actor")
        .agg(pl.col(_TIMES).sum())
        .sort("actor")
    )
    metrics: list[Row] = []
    for row in sums.iter_rows(named=True):
        whole = max(sum(row[name] for name in _TIMES), 1)
        metrics += [
            (f"{name.removesuffix('_ns')}.{row['actor']}", 100 * row[name] / whole, "% of time")
            for name in _TIMES
        ]
    return metrics


def _slot_metrics(window: native_machine.Window) -> list[Row]:
    given = max(window.slots["given"], 1)
    return [
        (f"slots.{name}", count / given, "per slot")
        for name, count in window.slots.items()
        if name != "given"
    ]
