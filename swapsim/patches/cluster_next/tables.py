# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of patch D: the locks of its mail's profile, and policies side by side."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.patches.cluster_next.machines import PATCH
from swapsim.slots.tables import SLOT_SWEEP

LEADING: Final = (
    "lock.moved.add",
    "lock.moved.free",
    "trunk.pairs",
    "scanned",
    "scanned.again",
    "run",
)
"""The metrics that tell most of a policy: moved lock lines, wasted scanning, locality."""


def profile() -> pl.DataFrame:
    """Lay out the lock rows of patch D's mail: percent of cycles, before and after.

    Returns
    -------
    polars.DataFrame
        ``waiting_in`` (the function that waits for its lock, and its callers), ``before``,
        ``after``: null where a list does not have the row.

    Source
    ------
    data/published, table "perf profile" of 04-percpu-cluster-next.
    """
    return (
        claims.published_tables()
        .filter(patch=PATCH, table="perf profile")
        .with_columns(waiting_in=pl.col("metric").str.splitn(".", 2).struct[1])
        .pivot("kernel", index="waiting_in", values="value")
    )


def means(measures: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Set the means of some metrics side by side, one row a policy and setting.

    Parameters
    ----------
    measures : polars.DataFrame
        Schema SLOT_SWEEP.
    metrics : sequence of str
        Of ``slots.METRICS``, in the order of the columns.

    Returns
    -------
    polars.DataFrame
        ``factor, setting, policy`` and a column per metric, rounded to four digits.
    """
    SLOT_SWEEP.check(measures)
    return (
        measures.filter(pl.col("metric").is_in(metrics))
        .group_by("factor", "setting", "policy", "metric", maintain_order=True)
        .agg(pl.col("value").sort_by("seed").mean().round_sig_figs(4))
        .pivot("metric", index=["factor", "setting", "policy"], values="value")
        .select("factor", "setting", "policy", *metrics)
    )
