# SPDX-License-Identifier: GPL-2.0-or-later
"""What a simulation counted, under the names that the mail prints."""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from swapsim.reclaim._native import Result
from swapsim.reclaim.parallelio import MIB_PAGES, SECOND_NS, WARM_UP

PAGE_KIB: Final = 4
SAMPLE_NS: Final = 10 * SECOND_NS  # time between two lines of iostat, as mmtests sets it
_SUMS: Final = ("reads", "writes", "read_ns", "write_ns", "queue_ns")


def vmstat(result: Result) -> pl.DataFrame:
    """Return ``metric`` and ``value`` of the mail's vmstat block, as far as it is simulated.

    They are of all rounds with the warm-up: faults, swap, pages scanned and reclaimed, velocities
    in pages per second of simulated time, writes from reclaim (of files and of swap), and the
    disk's traffic in KiB, which the mail calls sectors. An efficiency is 100 where nothing was
    scanned.
    """
    counters = dict(result.counters.select(["name", "value"]).iter_rows())
    sums = dict(zip(result.zones.columns[1:], result.zones.drop("zone").sum().row(0), strict=True))
    seconds = result.elapsed_ns / 1e9
    scanned = sums["scanned_kswapd"] + sums["scanned_direct"]
    by_zone = result.zones.reverse().select(
        "zone", pl.col("scanned_kswapd") + pl.col("scanned_direct")
    )
    rows = [
        ("Minor Faults", counters["minor_faults"]),
        ("Major Faults", counters["major_faults"]),
        ("Swap Ins", counters["swapped_in"]),
        ("Swap Outs", counters["swapped_out"]),
        ("Direct pages scanned", sums["scanned_direct"]),
        ("Kswapd pages scanned", sums["scanned_kswapd"]),
        ("Kswapd pages reclaimed", sums["reclaimed_kswapd"]),
        ("Direct pages reclaimed", sums["reclaimed_direct"]),
        ("Kswapd efficiency", _efficiency(sums, "kswapd")),
        ("Kswapd velocity", sums["scanned_kswapd"] / seconds),
        ("Direct efficiency", _efficiency(sums, "direct")),
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
    return _table(rows)


def ops(result: Result, warm_up: int = WARM_UP) -> pl.DataFrame:
    """Return ``metric`` and ``value`` of the mail's parallelio table, without the warm-up's rounds.

    For each size, named by its file in MiB: operations per second, seconds for the file, pages
    swapped in and out, and swapped in, faults. As in mmtests' ExtractParallelio of May 2013, of the
    iterations of a size the first one with the fewest operations per second is reported.
    """
    rows: list[tuple[str, float]] = []
    worst = (
        result.rounds.slice(warm_up)
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
    return _table(rows)


def _table(rows: Sequence[tuple[str, float]]) -> pl.DataFrame:
    return pl.DataFrame(
        [(metric, float(value)) for metric, value in rows],
        schema={"metric": pl.String, "value": pl.Float64},
        orient="row",
    )


def _efficiency(sums: Mapping[str, int], caller: str) -> int:
    scanned = sums[f"scanned_{caller}"]
    return 100 * sums[f"reclaimed_{caller}"] // scanned if scanned else 100


def iostat(result: Result) -> pl.DataFrame:
    """Return ``metric`` and ``value`` of the mail's disk table, as mmtests prints iostat's lines.

    They are the queue's length in requests and waits in ms, mean and maximum over samples of 10 s;
    one without a request counts as 0. The result is sampled at least every SAMPLE_NS.
    """
    sample = pl.col("t_ns").sub(1).clip(0).floordiv(SAMPLE_NS).alias("sample")
    sums = result.activity.select("t_ns", *_SUMS).cast(pl.Int64)
    by_window = sums.group_by(sample, maintain_order=True).last()
    since = {name: pl.col(name) - pl.col(name).shift(fill_value=0) for name in ("t_ns", *_SUMS)}
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
            metric=pl.format("{} sda-{}", pl.lit(word), "metric"), value=pl.col("value").cast(float)
        )
        for word, found in (("Mean", lines.mean()), ("Max", lines.max()))
    )


def _wait(ns: pl.Expr, requests: pl.Expr) -> pl.Expr:
    return pl.when(requests > 0).then(ns / requests / 1e6).otherwise(0.0)
