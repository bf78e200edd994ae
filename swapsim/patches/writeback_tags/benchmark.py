# SPDX-License-Identifier: GPL-2.0-or-later
"""Prediction of what vm-scalability's swap-w-seq reports on a kernel with some features."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from swapsim.checks import check_number, checked
from swapsim.claims.published import published_tables
from swapsim.errors import ConfigError, require_some
from swapsim.ffi import FRAMES_KEPT, MACHINE_TASKS_MAX, SLOTS_KEPT
from swapsim.machine.config import MachineConfig
from swapsim.machine.life import Life, live
from swapsim.patches.writeback_tags import fits, prediction, studies

_PAGES_OF_GB: Final = 2**18
_MOST_SLOTS: Final = 2**24
_KIB_OF_GB: Final = 2**20  # the sixth version prints 3957091 KiB/s as 3.77 GB/s
_OLD: Final = {"cluster_locks": False, "trunk_mb": None, "slot_caches": False}
_TRUNKS_MB: Final = tuple(2**shift for shift in range(1, 15))


@checked
def swap_w_seq(
    *,
    processes: int,
    memory_gb: float,
    swap_gb: float,
    written_gb: float | None = None,
    tags: bool = False,
    cluster_locks: bool = True,
    trunk_mb: int | None = 64,
    slot_caches: bool = True,
    seeds: Sequence[int] = (1,),
    constants: Mapping[str, pl.DataFrame] | None = None,
) -> pl.DataFrame:
    """Predict what swap-w-seq reports with pages of 4 KB: swap-out rate, throughput, elapsed time.

    Processes on a two-socket machine write new pages, each its share, to memory and then to one
    swap device that is as fast as memory, and exit. The simulated machine has much less memory and
    the same proportions: rates do not depend on it, the elapsed time is scaled.

    Parameters
    ----------
    processes : int
        Tasks that write, each on its own CPU, 1 to 2048.
    memory_gb, swap_gb : float
        Memory that the tasks can use, and the device, in GB (2**30 bytes).
    written_gb : float, optional
        What the tasks write together; default: 3/4 of memory and swap, as the test's script does.
    tags : bool
        Whether the swap cache has writeback tags; False from 4.9 on (patch A).
    cluster_locks : bool
        Whether the swap map is under a lock for each cluster (from 4.11 on) or under si->lock.
    trunk_mb : int or None
        Part of the device that has its own lock of the swap cache, a power of 2 from 2 to 16384 (64
        from 4.11 on); None: one lock for the device, as without cluster locks.
    slot_caches : bool
        Whether CPUs have caches of slots, and slots are freed in batches (from 4.11 on).
    seeds : sequence of int
        Seeds of the runs, over which a figure is the mean.
    constants : mapping of str to polars.DataFrame, optional
        Name -> CONSTANTS, the first of which gives the value and all the range; default: those of
        patch A's base that it leaves open (`stored_fits`).

    Returns
    -------
    polars.DataFrame
        ``metric, value`` (with the first constants), ``low, high`` (over all) and ``unit``. If swap
        is smaller than what memory does not hold, the row ``out of swap`` is 1, and the rates are
        those of the tasks up to then.

    Notes
    -----
    The call is for a machine without transparent huge pages. With them a fault takes and zeroes
    512 pages at once, and reclaim splits a huge page, under locks of its own, before its pages go
    out; the machine has neither, and no argument stands for it.

    Source
    ------
    vm-scalability's case-swap-w-seq and usemem.c; the windows of data/published/windows.csv.

    Examples
    --------
    Three mails print rates of this test with huge pages, which the call does not predict. The rates
    of swap-out were compared with them before these rows were stored, the throughputs were not, and
    nothing is fitted to either; percentages are those by which the call is off.

    >>> from swapsim import frames
    >>> from swapsim.patches.writeback_tags import benchmark
    >>> compared = benchmark.against_huge_pages().drop("off_low", "off_high")
    >>> frames.show(compared, "%", ["off"])
    mail                      metric                     published  simulated    off
                                                                                   %
    S-huge-pages-rfc          vmstat.swap.so             1,118,821  1,270,208   13.5
    S-huge-pages-rfc          vm-scalability.throughput  2,460,636  2,774,868   12.8
    S-huge-pages-v6           vm-scalability.throughput  7,043,990  4,765,300  -32.3
    S-huge-pages-v6           vmstat.swap.so             3,957,091  2,170,369  -45.2
    S-huge-pages-second-step  vmstat.swap.so             6,092,227  3,346,936  -45.1
    """
    written = 0.75 * (memory_gb + swap_gb) if written_gb is None else written_gb
    for name, size in (("memory_gb", memory_gb), ("swap_gb", swap_gb), ("written_gb", written)):
        if not 0.001 <= size <= 2**20:
            raise ConfigError(f"{name}={size!r}: choose 0.001 to {2**20} GB")
    check_number("processes", processes, 1, MACHINE_TASKS_MAX)
    require_some(seeds, "seeds")
    fits = stored_fits() if constants is None else constants
    require_some(list(fits), "constants")
    config, scale = _scaled(processes, memory_gb, swap_gb, written)
    config = replace(config, swap_writeback_tags=tags)
    config = _with_features(config, cluster_locks, trunk_mb, slot_caches)
    lives = [[live(replace(config, seed=seed), fit) for seed in seeds] for fit in fits.values()]
    rows = []
    for figure, (unit, value) in _FIGURES.items():
        means = [math.fsum(value(life, scale) for life in of) / len(seeds) for of in lives]
        rows.append((figure, means[0], min(means), max(means), unit))
    return pl.DataFrame(rows, schema=["metric", "value", "low", "high", "unit"], orient="row")


_HUGE_PAGES: Final[Mapping[str, Mapping[str, Any]]] = {
    "S-huge-pages-rfc": _OLD | {"tags": True, "processes": 16},
    "S-huge-pages-v6": {"processes": 8},
    "S-huge-pages-second-step": {"processes": 16},
}
"""The arguments of `swap_w_seq` by the mails of data/published/stored-before.md, "Huge pages"."""


def against_huge_pages() -> pl.DataFrame:
    """Compare `swap_w_seq` with the rates that three mails print of machines with huge pages."""
    printed = published_tables().filter(pl.col("mail").is_in(list(_HUGE_PAGES)))
    rows = []
    for mail, given in _HUGE_PAGES.items():
        rates = {row[0]: row for row in swap_w_seq(memory_gb=32, swap_gb=64, **given).iter_rows()}
        for cell in printed.filter(mail=mail).iter_rows(named=True):
            rate = cell["value"] * (_KIB_OF_GB if cell["unit"] == "GB/s" else 1)
            metric = cell["metric"] if cell["metric"] in rates else prediction.SWAP_OUT
            off = [100 * (value / rate - 1) for value in rates[metric][1:4]]
            rows.append((mail, metric, round(rate), round(rates[metric][1]), *off))
    schema = ["mail", "metric", "published", "simulated", "off", "off_low", "off_high"]
    return pl.DataFrame(rows, schema, orient="row")


def stored_fits() -> dict[str, pl.DataFrame]:
    """Return the constants of the stored fits of patch A's base, the headlines' first."""
    rows = fits.with_tags_up_to(studies.by_tag_share())
    found = fits.of_rows(rows.with_columns(policy=pl.format("tags {}", "tag_share")))
    names = sorted(found, key=lambda name: name != f"tags {prediction.TAG_SHARE:g}")
    return {name: found[name].constants for name in names}


def _with_features(
    config: MachineConfig, cluster_locks: bool, trunk_mb: int | None, slot_caches: bool
) -> MachineConfig:
    """Return a machine whose kernel has some features."""
    for name, flag in (("cluster_locks", cluster_locks), ("slot_caches", slot_caches)):
        if not isinstance(flag, bool):
            raise ConfigError(f"{name}={flag!r}: choose True or False")
    if not cluster_locks:
        if slot_caches or trunk_mb is not None:
            raise ConfigError(
                f"cluster_locks=False with slot_caches={slot_caches} and trunk_mb={trunk_mb}: "
                "kernels without cluster locks have neither; choose False and None"
            )
        return replace(config, kernel="4.8")
    if trunk_mb is not None and trunk_mb not in _TRUNKS_MB:
        raise ConfigError(
            f"trunk_mb={trunk_mb!r}: choose a power of 2 from {_TRUNKS_MB[0]} to {_TRUNKS_MB[-1]}, "
            "or None for one lock"
        )
    shift = 31 if trunk_mb is None else trunk_mb.bit_length() + 7
    return replace(
        config,
        kernel="5.7",
        trunk_shift=shift,
        slot_cache=slot_caches,
        exit_holds_device=not slot_caches,
    )


def _scaled(
    processes: int, memory_gb: float, swap_gb: float, written_gb: float
) -> tuple[MachineConfig, float]:
    """Return the simulated machine, and how many times more pages the real one writes.

    The device has its real size up to _MOST_SLOTS, because trunks and clusters do not shrink with
    memory; only one that is too small for what memory does not hold is scaled.
    """
    usual = prediction.machine(tags=False)
    per_node = -(-processes // usual.nodes) + 1
    frames = max(usual.frames, 4 * FRAMES_KEPT * per_node)
    per_gb = usual.nodes * frames / memory_gb
    pages = max(round(per_gb * written_gb / processes), 1)
    slots = round(per_gb * swap_gb)
    if written_gb - memory_gb <= swap_gb:
        real = min(round(swap_gb * _PAGES_OF_GB), _MOST_SLOTS)
        slots = max(real, round(per_gb * written_gb))
    slots += 2 * SLOTS_KEPT * usual.nodes * per_node
    config = replace(usual, writers=processes, frames=frames, accesses=pages, slots=slots)
    return config, written_gb * _PAGES_OF_GB / (pages * processes)


_FIGURES: Final[dict[str, tuple[str, Callable[[Life, float], float]]]] = {
    prediction.SWAP_OUT: ("KiB/s", lambda life, _: life.swap_out),
    prediction.THROUGHPUT: ("KiB/s", lambda life, _: life.throughput),
    "vm-scalability.time.elapsed_time": ("s", lambda life, scale: life.elapsed_ns * scale / 1e9),
    "swapped out": ("%", lambda life, _: 100 * life.swapped),
    "out of swap": ("1: yes", lambda life, _: float(life.out_of_swap)),
}
"""Figure -> its unit, and its value in a life of which the real one has so many times the pages."""
