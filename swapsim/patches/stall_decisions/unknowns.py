# SPDX-License-Identifier: GPL-2.0-or-later
"""What is open: each constant of the world at its low and at its high, and what becomes of rows."""

from itertools import product
from typing import Final

import polars as pl

from swapsim import reclaim
from swapsim.patches.stall_decisions.mail import RULES, cells
from swapsim.patches.stall_decisions.tables import (
    SIMULATED_OPEN,
    SIMULATED_ORDERS,
    SIMULATED_RANGES,
)
from swapsim.patches.stall_decisions.worlds import Run, told
from swapsim.study.constants import Moved, ends

OF_THE_SERVER: Final = ("net_rate", "server_rate", "server_seek_ns")

SEED: Final = 1
"""Of the client's draws: the constants are what moves here."""


def runs() -> list[tuple[Moved, str]]:
    """Return each constant at both ends of its range, by each kernel of the mail."""
    return list(product(ends(reclaim.constants()), RULES))


def run_moved(point: tuple[Moved, str]) -> pl.DataFrame:
    """Run the mail's test with a constant at an end of its range and one kernel's rules.

    The others stay, and nothing is fitted again. A constant of the server is moved in the second
    test, all others in the first.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_OPEN.
    """
    moved, rules = point
    target = "nfs" if moved.constant in OF_THE_SERVER else "disk"
    run = Run(rules=rules, target=target, seed=SEED, constants={moved.constant: moved.value})
    return (
        cells(told(run))
        .select(
            pl.lit(moved.constant).alias("constant"),
            pl.lit(moved.end).alias("end"),
            "table",
            "metric",
            "rules",
            "simulated",
            "inside",
        )
        .cast(SIMULATED_OPEN.schema)
    )


def ranges(found: pl.DataFrame, orders: pl.DataFrame) -> pl.DataFrame:
    """Say between what each cell lies, whichever constant moves, and how its row's order fares.

    Parameters
    ----------
    found : polars.DataFrame
        Schema SIMULATED_OPEN.
    orders : polars.DataFrame
        Schema SIMULATED_ORDERS.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_RANGES.
    """
    value = pl.col("simulated")
    frame = (
        SIMULATED_OPEN.check(found)
        .group_by("table", "metric", "rules", maintain_order=True)
        .agg(
            low=value.min(),
            low_by=pl.col("constant").get(value.arg_min()),
            high=value.max(),
            high_by=pl.col("constant").get(value.arg_max()),
            worlds=pl.len(),
            inside=pl.col("inside").sum(),
        )
        .join(_ordered(found, orders), on=["table", "metric"], how="left", maintain_order="left")
    )
    return SIMULATED_RANGES.check(frame.cast(SIMULATED_RANGES.schema))


def _ordered(found: pl.DataFrame, orders: pl.DataFrame) -> pl.DataFrame:
    """Count the worlds in which each row's kernels stand in the mail's order."""
    world = ["constant", "end", "table", "metric"]
    one, other = (
        found.select(*world, pl.col("rules").alias(name), pl.col("simulated").alias(f"of_{name}"))
        for name in ("one", "other")
    )
    pairs = (
        SIMULATED_ORDERS.check(orders)
        .join(one, on=["table", "metric", "one"])
        .join(other, on=[*world, "other"])
    )
    rises = pl.col("of_other") > pl.col("of_one")
    falls = pl.col("of_other") < pl.col("of_one")
    right = pl.when(pl.col("claimed") == "rises").then(rises).otherwise(falls)
    by_world = pairs.group_by(world).agg(right=right.all())
    return by_world.group_by("table", "metric").agg(ordered=pl.col("right").sum())
