# SPDX-License-Identifier: GPL-2.0-or-later
"""mmtests' parallelio: memcached with four fifths of memory next to a file that is written.

The constants of the mail's machine are data/reclaim.csv.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim.errors import check_choice, check_number, check_share
from swapsim.ffi import RECLAIM_COST_MAX, RECLAIM_COSTS, RECLAIM_DEFAULTS, RECLAIM_RANGES
from swapsim.machine import constants as files
from swapsim.reclaim._native import ReclaimConfig, simulate

MIB_PAGES: Final = 256
MS_NS: Final = 1_000_000
SECOND_NS: Final = 1_000_000_000
FILES_MIB: Final = (0, 715, 2385, 4055)  # sizes of the mail's files; 0: a round without a file
WARM_UP: Final = 1  # rounds without a file before those that are reported

PAGE_KIB: Final = 4
_MAILED: Final = pl.Schema({"metric": pl.String(), "value": pl.Float64()})
SAMPLE_NS: Final = 10 * SECOND_NS  # time between two lines of iostat, as mmtests sets it
_ROUNDS: Final = {False: 1, True: 5}  # of each size, by nfs: the mail's times are of 1 + 4, 1 + 20

_IN_MS: Final = (
    *("program_interval_ns", "working_interval_ns", "gap_ns", "start_look_ns", "write_delay_ns"),
)
_SHRUNK: Final = (
    *("dma32_pages", "normal_pages", "program_pages", "working_pages", "cached_pages"),
    *("min_free_pages", "start_used_pages", "swap_pages", "disk_pages", "items", "serve_ns"),
    *_IN_MS,
)

MAIL: Final = files.File(
    name="reclaim.csv",
    costs=RECLAIM_COSTS,
    others=(
        *("memory_pages", "pool_pages", "dma32_pages", "other_pages", "program_pages"),
        *("program_interval_ms", "working_pages", "working_interval_ms", "executable_percent"),
        *("read_around_pages", "cached_pages", "cached_normal_percent", "min_free_pages"),
        *("swap_pages", "disk_rate", "seek_near_ns", "seek_far_ns", "nr_requests", "net_rate"),
        *("server_rate", "server_seek_ns", "item_pages", "gap_ms", "start_percent"),
        *("start_look_ms", "write_delay_ms"),
    ),
    most=RECLAIM_COST_MAX,
)
"""What work costs, and what the mail does not print of its machine."""


def constants(root: Path | None = None) -> pl.DataFrame:
    """Read the constants of the mail's machine (CONSTANTS), costs first, from data/reclaim.csv."""
    return files.read(MAIL, root)


def change_constants(frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the mail's constants with other values, and ranges that hold these."""
    return files.change(MAIL, frame, values)


def values(frame: pl.DataFrame | None) -> dict[str, int]:
    """Return each constant's value; without a frame those of data/reclaim.csv."""
    return files.values(MAIL, files.read(MAIL) if frame is None else frame)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a simulation gives: the mail's rows, and tables of fields of ``reclaim.h``.

    Attributes
    ----------
    rows : polars.DataFrame
        ``metric`` and ``value`` of the mail's three blocks: ``ops``, ``vmstat``, ``iostat``.
    kswapd_scanned, direct_scanned, file_written, swapped_out : int
        Pages that kswapd scanned, that tasks scanned, that reclaim wrote of files and to swap.
    elapsed_ns, events : int
        The simulated time, and the events of the simulation.
    out_of_memory : bool
        Whether that ended it before all rounds were done.
    rounds : polars.DataFrame
        A row per round that began: ``round`` from 0, ``file_pages``, the fields of ``struct
        sws_reclaim_round``, and ``ops_per_second`` of serving.
    counters : dict of str to int
        ``struct sws_reclaim_counts``.
    zones, sleeps : polars.DataFrame
        A row per ``zone`` (``struct sws_reclaim_zone``); one per ``reason`` for a throttle: how
        many ``slept``, how many were ``declined``, and ``slept_ns``.
    memory, activity : polars.DataFrame
        Each second and at the end, a row per zone (``t_ns``, the fields by zone of ``struct
        sws_reclaim_state``, those of ``struct sws_reclaim_zone`` so far); and the other fields of
        the state, with the counters so far.
    """

    out_of_memory: bool
    elapsed_ns: int
    events: int
    kswapd_scanned: int
    direct_scanned: int
    file_written: int
    swapped_out: int
    rounds: pl.DataFrame
    counters: dict[str, int]
    zones: pl.DataFrame
    sleeps: pl.DataFrame
    memory: pl.DataFrame
    activity: pl.DataFrame

    @property
    def rows(self) -> pl.DataFrame:
        """The mail's rows."""
        return pl.concat([self.ops, self.vmstat, self.iostat])

    @property
    def vmstat(self) -> pl.DataFrame:
        """The mail's vmstat block, as far as it is simulated.

        All rounds with the warm-up; an efficiency is 100 where nothing was scanned.
        """
        counters, seconds = self.counters, self.elapsed_ns / 1e9
        sums = dict(zip(self.zones.columns[1:], self.zones.drop("zone").sum().row(0), strict=True))
        scanned = sums["scanned_kswapd"] + sums["scanned_direct"]
        by_zone = self.zones.reverse().select(
            "zone", pl.col("scanned_kswapd") + pl.col("scanned_direct")
        )
        efficiency = {
            by: 100 * sums[f"reclaimed_{by}"] // sums[f"scanned_{by}"]
            if sums[f"scanned_{by}"]
            else 100
            for by in ("kswapd", "direct")
        }
        rows = [
            ("Minor Faults", counters["minor_faults"]),
            ("Major Faults", counters["major_faults"]),
            ("Swap Ins", counters["swapped_in"]),
            ("Swap Outs", counters["swapped_out"]),
            ("Direct pages scanned", sums["scanned_direct"]),
            ("Kswapd pages scanned", sums["scanned_kswapd"]),
            ("Kswapd pages reclaimed", sums["reclaimed_kswapd"]),
            ("Direct pages reclaimed", sums["reclaimed_direct"]),
            ("Kswapd efficiency", efficiency["kswapd"]),
            ("Kswapd velocity", sums["scanned_kswapd"] / seconds),
            ("Direct efficiency", efficiency["direct"]),
            ("Direct velocity", sums["scanned_direct"] / seconds),
            ("Percentage direct scans", 100 * sums["scanned_direct"] // (scanned or 1)),
            *((f"Zone {zone} velocity", pages / seconds) for zone, pages in by_zone.iter_rows()),
            ("Page writes by reclaim", counters["reclaim_writes_file"] + counters["swapped_out"]),
            ("Page writes file", counters["reclaim_writes_file"]),
            ("Page writes anon", counters["swapped_out"]),
            ("Page reclaim immediate", counters["reclaim_immediate"]),
            ("Sector Reads", counters["disk_read"] * PAGE_KIB),
            ("Sector Writes", counters["disk_written"] * PAGE_KIB),
        ]
        return pl.DataFrame(rows, _MAILED, orient="row")

    @property
    def ops(self) -> pl.DataFrame:
        """The mail's parallelio table, without the warm-up's rounds.

        As in mmtests' ExtractParallelio of May 2013, of the iterations of a size, in MiB, the first
        one with the fewest operations per second is reported.
        """
        rows: list[tuple[str, float]] = []
        worst = (
            self.rounds.slice(WARM_UP)
            .sort("ops_per_second", maintain_order=True)
            .group_by("file_pages", maintain_order=True)
            .first()
            .sort("file_pages")
        )
        for row in worst.iter_rows(named=True):
            figures = {
                "memcachetest": row["ops_per_second"],
                "io-duration": row["io_ns"] / 1e9,
                "swaptotal": row["swapped_in"] + row["swapped_out"],
                "swapin": row["swapped_in"],
                "minorfaults": row["minor_faults"],
                "majorfaults": row["major_faults"],
            }
            size = row["file_pages"] // MIB_PAGES
            rows += [(f"Ops {name}-{size}M", value) for name, value in figures.items()]
        return pl.DataFrame(rows, _MAILED, orient="row")

    @property
    def iostat(self) -> pl.DataFrame:
        """The mail's disk table, as mmtests prints iostat's lines.

        Queue in requests, waits in ms: mean and maximum over samples of 10 s; one without a request
        counts as 0.
        """
        sample = pl.col("t_ns").sub(1).clip(0).floordiv(SAMPLE_NS).alias("sample")
        sums_of = ("reads", "writes", "read_ns", "write_ns", "queue_ns")
        sums = self.activity.select("t_ns", *sums_of).cast(pl.Int64)
        by_window = sums.group_by(sample, maintain_order=True).last()
        since = {
            name: pl.col(name) - pl.col(name).shift(fill_value=0) for name in ("t_ns", *sums_of)
        }
        requests = since["reads"] + since["writes"]
        waited = since["read_ns"] + since["write_ns"]
        lines = by_window.select(
            avgqz=since["queue_ns"] / since["t_ns"],
            await_=_wait(waited, requests),
            r_await=_wait(since["read_ns"], since["reads"]),
            w_await=_wait(since["write_ns"], since["writes"]),
        ).rename({"await_": "await"})
        return pl.concat(
            found.unpivot(variable_name="metric").with_columns(
                metric=pl.format("{} sda-{}", pl.lit(word), "metric"),
                value=pl.col("value").cast(float),
            )
            for word, found in (("Mean", lines.mean()), ("Max", lines.max()))
        )


def _wait(ns: pl.Expr, requests: pl.Expr) -> pl.Expr:
    return pl.when(requests > 0).then(ns / requests / 1e6).otherwise(0.0)


def config_of(
    rules: str = "3.9",
    constants: pl.DataFrame | None = None,
    *,
    io: Sequence[int] = FILES_MIB,
    nfs: bool = False,
    iterations: int | None = None,
    share: float = 1,
    seed: int = 1,
) -> ReclaimConfig:
    """Return the config of the mail's tables: a warm-up round, then the iterations of each size.

    The file starts when ``start_percent`` of the pool's target, four fifths of memory, are in use;
    other_pages are in use, too, outside of the zones. A share leaves the disk as fast as it is, so
    that each page of a file takes as long.
    """
    check_share("share", share)
    found = values(constants)
    rounds = _ROUNDS[nfs] if iterations is None else iterations
    check_number("iterations", rounds, 1, (RECLAIM_RANGES["rounds"][1] - WARM_UP) // len(io))
    normal = found["memory_pages"] - found["dma32_pages"] - found["other_pages"]
    start = found["memory_pages"] * 4 // 5 * found["start_percent"] // 100 - found["other_pages"]
    fields: dict[str, Any] = {
        **{name: value for name, value in found.items() if name in RECLAIM_DEFAULTS},
        **{name: found[name.replace("_ns", "_ms")] * MS_NS for name in _IN_MS},
        "normal_pages": max(normal, 0),
        "items": found["pool_pages"] // found["item_pages"],
        "start_used_pages": max(start, 0),
    }
    whole = ReclaimConfig(rules=rules, nfs=nfs, seed=seed, **fields)
    sizes = (*[0] * WARM_UP, *(mib * MIB_PAGES for mib in io for _ in range(rounds)))
    parts: dict[str, Any] = {name: int(getattr(whole, name) * share) for name in _SHRUNK}
    return replace(whole, **parts, files=tuple(int(size * share) for size in sizes))


def run_config(
    config: ReclaimConfig,
    constants: pl.DataFrame | None = None,
    *,
    sample_ns: int = SECOND_NS,
    tick: Callable[[int], object] = lambda _now: None,
) -> Run:
    """Run a simulation to its end: all rounds, or out of memory."""
    return Run(**simulate(config, values(constants), sample_ns, tick))


def parallelio(
    rules: str = "3.9",
    *,
    io: Sequence[int] = FILES_MIB,
    nfs: bool = False,
    iterations: int | None = None,
    share: float = 1,
    seed: int = 1,
    **changed: int,
) -> Run:
    """Run the test of patch C's mail by a set of rules: memcached next to a file that is written.

    memcached's pool takes four fifths of memory. Each round serves it for a while, and writes a
    file that competes with it; a round of warm-up comes first.

    Parameters
    ----------
    rules : str
        One of `stall.RULES` up to 3.11; 6.1 keeps its lists per node, without two zones.
    io : sequence of int
        Sizes of the file in MiB, by default the mail's: 0, 715, 2385, 4055.
    nfs : bool
        Whether the file is on a server, as in the mail's second table, or on the disk.
    iterations : int
        Rounds of each size, by default the mail's: 1, over NFS 5.
    share : float
        Share of the memory, the pool, the files and the time; 1/20 takes a second.
    seed : int
        Seed of the random generator.
    **changed : int
        Constants of data/reclaim.csv (``memory_pages``, ``disk_rate``, ...), or fields of the
        simulation (``swappiness``, ``dirty_percent``, ...), that differ from the mail's.

    Returns
    -------
    Run
        Figures by name, and ``rows`` as the mail prints them.

    Raises
    ------
    InputError
        A field is unknown or out of its range, or does not fit to others: it is named.

    Source
    ------
    mmtests' parallelio and memcachetest of May 2013: facts of `patches/03-stall-decisions`.

    Examples
    --------
    >>> from swapsim import reclaim
    >>> small = {kernel: reclaim.parallelio(kernel, share=0.05) for kernel in ("mmotm", "series-8")}
    >>> {kernel: run.kswapd_scanned for kernel, run in small.items()}
    {'mmotm': 663575, 'series-8': 74405}
    """
    of_machine = {name: value for name, value in changed.items() if name in MAIL.names}
    fields: dict[str, Any] = {
        name: value for name, value in changed.items() if name not in of_machine
    }
    for name in fields:
        check_choice("field", name, (*MAIL.names, *RECLAIM_DEFAULTS))
    found = change_constants(constants(), of_machine)
    config = config_of(rules, found, io=io, nfs=nfs, iterations=iterations, share=share, seed=seed)
    return run_config(replace(config, **fields), found)
