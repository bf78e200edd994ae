# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of patch C that several callers draw."""

from itertools import combinations

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.charts import colours
from swapsim.ffi import STALL_RULES


def alike(decided: pl.DataFrame) -> pl.DataFrame:
    """Return on how many lists (`decided_lists`) two rule sets decide alike, ``one`` the older."""
    acts = pl.col("flags_set") + 8 * pl.col("forced") + 16 * pl.col("waits")
    coded = {
        str(rules): rows["acts"].to_numpy()
        for (rules,), rows in decided.select("rules", acts=acts).group_by("rules")
    }
    pairs = combinations([name for name in STALL_RULES if name in coded], 2)
    shares = [(one, other, 100 * (coded[one] == coded[other]).mean()) for one, other in pairs]
    share = pl.col("alike")
    return pl.DataFrame(shares, schema=["one", "other", "alike"], orient="row").with_columns(
        alike=pl.when(share < 100).then(pl.min_horizontal(share.round(1), 99.9)).otherwise(share)
    )


def agreement(pairs: pl.DataFrame, trace: str) -> alt.ConcatChart:
    """Draw on how many lists two rule sets take the same decisions (`alike`)."""
    return charts.heat(
        *(pairs, "one", "other", "alike"),
        title=f"Lists of {trace} that two rule sets decide alike, %",
        subtitle="the same flags, sleeps and waits; naps are left out",
        words={"alike": "alike, %"},
        domain=(0, 100),
        figures=".1f",
    )


def by_patch(steps: pl.DataFrame, subtitle: str) -> alt.ConcatChart:
    """Draw what each patch changes (`lab.steps`), coloured where the sign is sure."""
    return charts.heat(
        *(steps, "policy", "metric", "seen"),
        text="text",
        title="What each patch changes against the state before it",
        subtitle=subtitle,
        words={"seen": "by its rounds, the figure", "policy": "up to patch"},
        colour=colours.SIGNS,
        width=560,
    )
