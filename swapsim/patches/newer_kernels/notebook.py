# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 07 alone draws: meetings on a lock, and one global lock."""

import altair as alt
import polars as pl

from swapsim.charts import general
from swapsim.charts.colours import LOCKS


def meetings_by_cpus(shares: pl.DataFrame) -> alt.ConcatChart:
    """Draw how often a lock meets another CPU, a line per kernel and lock (`meetings.shares`)."""
    lines = shares.with_columns(which=pl.concat_str("kernel", "lock", separator=": "))
    return general.lines(
        lines,
        "cpus",
        "share",
        "which",
        log="x",
        format="%",
        colour=dict(zip(lines["which"].unique(maintain_order=True), LOCKS, strict=True)),
        title="Uses of the swap cache's lock that meet another CPU",
        subtitle="on a fragmented device",
        words={
            "cpus": "CPUs, for 32 trunks or 1,024 clusters",
            "share": "uses that meet another CPU",
        },
    )


def global_lock_by_tasks(changes: pl.DataFrame) -> alt.ConcatChart:
    """Draw what one global lock changes of throughput, with its range (`global_lock.changes`)."""
    return general.lines(
        changes,
        "tasks",
        "change",
        log="x",
        title="Throughput with one global lock taken twice a page, relative to 7.3",
        words={"tasks": "tasks", "change": "change of throughput, %"},
    )
