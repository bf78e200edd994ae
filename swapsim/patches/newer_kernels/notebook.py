# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 07 alone draws: meetings on a lock, and one global lock."""

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.charts.colours import LOCKS


def meetings_by_cpus(shares: pl.DataFrame) -> alt.ConcatChart:
    """Draw how often a lock meets another CPU, a line per kernel and lock (`meetings.shares`)."""
    lines = shares.with_columns(which=pl.concat_str("kernel", "lock", separator=": "))
    return charts.lines(
        lines,
        "cpus",
        "share",
        "which",
        log="x",
        format="%",
        colour=dict(zip(lines["which"].unique(maintain_order=True), LOCKS, strict=True)),
        title="On 7.3 CPUs hardly meet on a lock of the swap cache",
        subtitle="on a fragmented device; lines: means of five seeds, bands: ranges",
        words={
            "cpus": "CPUs, for 32 trunks or 1,024 clusters",
            "share": "uses that meet another CPU",
        },
    )


def global_lock_by_tasks(changes: pl.DataFrame) -> alt.ConcatChart:
    """Draw what one global lock changes of throughput, with its range (`global_lock.changes`)."""
    return charts.lines(
        changes,
        "tasks",
        "change",
        log="x",
        title="One global lock costs a few percent at usual costs, up to a third at others",
        subtitle="throughput with a lock taken twice a page, from that of 7.3; band: three costs",
        words={"tasks": "tasks", "change": "change of throughput, %"},
    )
