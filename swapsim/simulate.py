# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the contention machine: counts become time, by the costs alone."""

from typing import Final

import polars as pl

from swapsim.config import MachineConfig
from swapsim.config.policies import Policy
from swapsim.errors import InputError
from swapsim.machine.costs import check_costs, costs
from swapsim.native import machine as native_machine
from swapsim.schemas import RESULTS, SOURCE, require

PAGE_KIB: Final = 4
DEVICE_GIGABYTES: Final = 48
"""Of each of the two devices of patch D's mails (facts on V1 to V3: memmap=48G)."""

_SECOND_NS: Final = 1_000_000_000
_TIMES: Final = ("run_ns", "hold_ns", "wait_ns", "idle_ns")


def writeback_tags(*, tags: bool, seed: int = 1) -> MachineConfig:
    """Return the machine of patch A's mail: 8 writers and 2 kswapds on one pmem under 4.8.

    Parameters
    ----------
    tags : bool
        Whether the swap cache keeps writeback tags: True is the base, False the patch.
    seed : int

    Returns
    -------
    MachineConfig

    Notes
    -----
    Memory is a cut-out: what the tasks wrote last, for what lies longer in memory is not touched
    again. The device starts empty, as swap-w-seq finds it.

    Source
    ------
    Seed A (8 processes, Xeon E5 v3, one pmem); facts on who contends: two sockets, a kswapd each.
    """
    return MachineConfig(
        patch="01-writeback-tags",
        kernel="4.8",
        swap_writeback_tags=tags,
        policy="shared",
        nodes=2,
        devices=1,
        writers=8,
        frames=2**15,
        slots=2**20,
        warmup_ns=20_000_000,
        duration_ns=100_000_000,
        seed=seed,
    )


def cluster_next(
    *,
    policy: str | Policy,
    seed: int = 1,
    kernel: str = "5.7+scan-more",
    gigabytes: int = DEVICE_GIGABYTES,
) -> MachineConfig:
    """Return the machine of patch D's mail: 16 walkers on two pmems, 8 each, fragmented.

    Parameters
    ----------
    policy : str or Policy
        "shared" is the base, "percpu" V1 of the patch, "percpu-rerandomise" what was merged.
    seed : int
    kernel : str
        "5.7+scan-more" is what V1 was measured on; "5.8" has the memory cgroup's charge of V2 and
        V3's base, without lru_lock.
    gigabytes : int
        Of each device; memory and pages keep their share of it.

    Returns
    -------
    MachineConfig

    Notes
    -----
    The devices have the 48 GB of the mail, so that trunks are as many. What memory and pages the
    test had it does not say: here 3 of 8 pages are in memory, so that as many accesses miss as in
    the mail (2.84 GB/s swapped in, 16 x 68280 accesses a second: 0.63), and the devices are two
    fifths full. The warm-up lasts until memory's free pages are used up and tasks reclaim for
    themselves. A window is short beside a scan's way around a device (20 s): it sees the bases
    where the fill left them, not where they drift to.

    Source
    ------
    Seed D (16 pmbench processes, 80/20, random, a RAM disk per socket); the base holds "scan more".
    """
    return MachineConfig(
        patch="04-percpu-cluster-next",
        kernel=kernel,
        policy=policy,
        nodes=2,
        devices=2,
        walkers=16,
        frames=gigabytes * 2**16,
        pages=gigabytes * 2**20 // DEVICE_GIGABYTES,
        slots=gigabytes * 2**18,
        cluster_size=512,
        fragmented=True,
        warmup_ns=20_000_000 + gigabytes * 1_250_000,
        duration_ns=100_000_000,
        seed=seed,
    )


def run(config: MachineConfig, constants: pl.DataFrame | None = None) -> pl.DataFrame:
    """Run a machine and say what it did.

    Parameters
    ----------
    config : MachineConfig
    constants : polars.DataFrame, optional
        Schema COSTS; default: data/costs.csv.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, source simulated, one row per metric: ``swap_out``, ``swap_in`` and
        ``written`` (KiB/s), ``accesses`` (accesses/s), ``cycles.SITE`` (the time spent in that
        lock's function, in % of the busy time of all CPUs), ``acquisitions.SITE``,
        ``contended.SITE``, ``moved.SITE``, ``wait.SITE`` and ``hold.SITE`` (a page swapped out),
        ``run.ACTOR``, ``hold.ACTOR``, ``wait.ACTOR`` and ``idle.ACTOR`` (% of these CPUs' time),
        ``slots.WORK`` (a slot handed out), ``busy`` (time of all CPUs, waits for locks included, ns
        a page swapped out), ``elapsed`` (ns). The policy of a 4.8 machine is "tags"
        or "no tags".

    Raises
    ------
    ConfigError
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
    metrics = [
        *_rates(window),
        *_site_metrics(window),
        *_actor_metrics(window),
        *_slot_metrics(window),
        ("busy", _busy_ns(window) / _pages(window), "ns of all CPUs per page"),
        ("elapsed", float(window.elapsed_ns), "ns"),
    ]
    frame = pl.DataFrame(
        metrics,
        schema={"metric": pl.String, "value": pl.Float64, "unit": pl.String},
        orient="row",
    ).select(
        patch=pl.lit(config.patch),
        source=pl.lit("simulated", dtype=SOURCE),
        kernel=pl.lit(config.kernel),
        policy=pl.lit(_policy_name(config)),
        n_tasks=pl.lit(config.tasks, dtype=pl.UInt32),
        seed=pl.lit(config.seed, dtype=pl.UInt64),
        metric="metric",
        value="value",
        unit="unit",
    )
    return require(frame, RESULTS, "RESULTS")


_Metric = tuple[str, float, str]


def _policy_name(config: MachineConfig) -> str:
    if config.kernel == "4.8":
        return "no tags" if config.swap_writeback_tags is False else "tags"
    return config.policy if isinstance(config.policy, str) else config.policy.name


def _per_second(column: str, window: native_machine.Window) -> float:
    return float(window.cpus[column].sum()) * _SECOND_NS / window.elapsed_ns


def _rates(window: native_machine.Window) -> list[_Metric]:
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


def _site_metrics(window: native_machine.Window) -> list[_Metric]:
    busy, pages = _busy_ns(window), _pages(window)
    metrics: list[_Metric] = []
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
    return metrics


def _actor_metrics(window: native_machine.Window) -> list[_Metric]:
    sums = (
        window.cpus.filter(pl.col("actor") != "none")
        .group_by("actor")
        .agg(pl.col(_TIMES).sum())
        .sort("actor")
    )
    metrics: list[_Metric] = []
    for row in sums.iter_rows(named=True):
        whole = max(sum(row[name] for name in _TIMES), 1)
        metrics += [
            (f"{name.removesuffix('_ns')}.{row['actor']}", 100 * row[name] / whole, "% of time")
            for name in _TIMES
        ]
    return metrics


def _slot_metrics(window: native_machine.Window) -> list[_Metric]:
    given = max(window.slots["given"], 1)
    return [
        (f"slots.{name}", count / given, "per slot")
        for name, count in window.slots.items()
        if name != "given"
    ]
