# SPDX-License-Identifier: GPL-2.0-or-later
"""One round of the mail's test over time, and the lives of some pages in it."""

from typing import Final

import polars as pl

from swapsim import reclaim
from swapsim.patches.stall_decisions.tables import (
    SIMULATED_BY_TIME,
    SIMULATED_PAGE_SPANS,
    SIMULATED_SUMMED,
)
from swapsim.patches.stall_decisions.worlds import Run

FILE_MIB: Final = 2385
"""Of the round that is looked at: the first file that 3.9 does not bear."""

_MIB_PAGES: Final = 256
_SECOND_NS: Final = 1_000_000_000
_ROUND: Final = {"files": (FILE_MIB * _MIB_PAGES,)}

LOOK_NS: Final = 50_000_000
"""Between two looks at a page: what lasts for less is not seen."""

PAGES: Final = 100
"""That are followed, evenly spaced in the pool."""


def one_life(spans: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Return the life of the page that came back most often.

    Parameters
    ----------
    spans : polars.DataFrame
        Schema SIMULATED_PAGE_SPANS.
    rules : str

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_PAGE_SPANS, of one page: the first of those with the most returns.
    """
    own = SIMULATED_PAGE_SPANS.check(spans).filter(rules=rules)
    outs = own.group_by("page", maintain_order=True).agg((pl.col("where") == "swapped-out").sum())
    page = outs.sort("where", descending=True, maintain_order=True)["page"][0]
    return own.filter(page=page)


def summed(found: pl.DataFrame) -> pl.DataFrame:
    """Add a round up.

    Parameters
    ----------
    found : polars.DataFrame
        Schema SIMULATED_BY_TIME.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_SUMMED, one row per rules.
    """
    frame = (
        SIMULATED_BY_TIME.check(found)
        .group_by("rules", maintain_order=True)
        .agg(
            pl.col("client_waits", "writer_throttled", "kswapd_sleeps", "tasks_sleep").sum(),
            pl.col("scanned_normal", "scanned_dma32").sum(),
            most_swapped=pl.col("swap_used").max(),
        )
    )
    return SIMULATED_SUMMED.check(frame.cast(SIMULATED_SUMMED.schema))


def by_second(rules: str) -> pl.DataFrame:
    """Run the round and return its memory once a simulated second, and what was done in each.

    Parameters
    ----------
    rules : str
        Of RECLAIM_RULES.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_BY_TIME.
    """
    config, found = Run(rules=rules, fields=_ROUND).world()
    world = reclaim.run(config, found, sample_ns=_SECOND_NS)
    looks = world.memory.unique(["t_ns", "zone"], keep="last", maintain_order=True)
    memory = looks.group_by("t_ns").agg(pl.exclude("zone", "flags").cast(pl.Int64).sum())
    scanned = looks.pivot("zone", index="t_ns", values="scanned_kswapd")
    done = world.activity.unique("t_ns", keep="last").join(memory, on="t_ns")
    op_ns = dict(found.select("name", "value").iter_rows())["op_ns"]
    sums = _by_second(
        done.join(scanned, on="t_ns")
        .sort("t_ns")
        .with_columns(waited=_waited(world.rounds["serve_ns"][0], config.serve_ns, op_ns))
    )
    file = pl.col("inactive_file") + pl.col("active_file")
    written = pl.min_horizontal("writeback", file - pl.col("dirty"))
    since = {
        name: pl.col(name).cast(pl.Int64).diff().fill_null(pl.col(name).cast(pl.Int64))
        for name in sums.columns
    }
    return sums.select(
        pl.lit(rules).alias("rules"),
        (pl.col("t_ns") // _SECOND_NS).alias("t_s"),
        pl.col("free"),
        pl.col("active_anon"),
        pl.col("inactive_anon"),
        (file - pl.col("dirty") - written).alias("clean"),
        pl.col("dirty"),
        written.alias("written"),
        pl.col("swap_used").cast(pl.Int64),
        since["normal"].alias("scanned_normal"),
        since["dma32"].alias("scanned_dma32"),
        (since["kswapd_slept_ns"] / _SECOND_NS).alias("kswapd_sleeps"),
        (since["tasks_slept_ns"] / _SECOND_NS).alias("tasks_sleep"),
        (since["throttled_ns"] / _SECOND_NS).alias("writer_throttled"),
        (since["waited"] / _SECOND_NS).alias("client_waits"),
    ).cast(SIMULATED_BY_TIME.schema)


def _by_second(samples: pl.DataFrame) -> pl.DataFrame:
    """Return what was last seen at each whole second: a sample waits for the next event."""
    seconds = int(samples["t_ns"][-1]) // _SECOND_NS
    times = pl.int_range(1, seconds + 1, eager=True).cast(pl.UInt64) * _SECOND_NS
    return pl.DataFrame({"t_ns": times}).join_asof(samples, on="t_ns")


def _waited(begin_ns: int, serve_ns: int, op_ns: int) -> pl.Expr:
    """Return how long the client has waited so far.

    All operations up to another actor's event are counted at once, so a sample may be ahead of
    its time; what was waited for never falls.
    """
    served = (pl.col("t_ns").cast(pl.Int64) - begin_ns).clip(0, serve_ns)
    return (served - pl.col("ops").cast(pl.Int64) * op_ns).clip(0).cum_max()


def life_spans(rules: str) -> pl.DataFrame:
    """Run the round and return where PAGES pages of the pool were (SIMULATED_PAGE_SPANS)."""
    config, found = Run(rules=rules, fields=_ROUND).world()
    pool = config.items * config.item_pages
    changes = reclaim.follow_pages(
        config, range(0, pool, pool // PAGES)[:PAGES], found, step_ns=LOOK_NS
    )
    end = pl.col("t_ns").shift(-1).over("page")
    spans = changes.with_columns(end=end).drop_nulls("end")
    return spans.select(
        pl.lit(rules).alias("rules"),
        "page",
        pl.col("where").cast(pl.String),
        pl.col("zone").cast(pl.String),
        begin_s=pl.col("t_ns") / _SECOND_NS,
        end_s=pl.col("end") / _SECOND_NS,
    ).cast(SIMULATED_PAGE_SPANS.schema)
