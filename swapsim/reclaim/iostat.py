# SPDX-License-Identifier: GPL-2.0-or-later
"""A world's disk as the mail prints it: iostat's samples, their mean and their greatest."""

from typing import Final

import polars as pl

from swapsim.reclaim.run import SECOND_NS, World

SAMPLE_NS: Final = 10 * SECOND_NS
"""Time between two of iostat's lines, as mmtests has it."""

_SUMS: Final = ("reads", "writes", "read_ns", "write_ns", "queue_ns")


def iostat(world: World) -> pl.DataFrame:
    """Return the rows of the mail's disk table.

    Parameters
    ----------
    world : World
        Sampled at least every SAMPLE_NS.

    Returns
    -------
    polars.DataFrame
        Columns ``metric`` and ``value``: the queue's length in requests and waits in ms, the mean
        over samples and the greatest. A sample without a request counts 0, as iostat prints it.

    Source
    ------
    mmtests' iostat monitor: a line every 10 s; a wait is that of the requests done in a sample.
    """
    window = pl.col("t_ns").sub(1).clip(0).floordiv(SAMPLE_NS).alias("window")
    sums = world.activity.select("t_ns", *_SUMS).cast(pl.Int64)
    by_window = sums.group_by(window, maintain_order=True).last()
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
