# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of patch C that several callers draw."""

import altair as alt
import polars as pl

from swapsim.charts import colours, general


def agreement(pairs: pl.DataFrame, trace: str) -> alt.ConcatChart:
    """Draw on how many lists two rule sets take the same decisions (`stall.replay`)."""
    return general.heat(
        *(pairs, "one", "other", "alike"),
        title=f"Lists of {trace} that two rule sets decide alike, %",
        subtitle="the same flags, sleeps and waits; naps are left out",
        words={"alike": "alike, %"},
        domain=(0, 100),
        figures=".1f",
    )


def by_patch(steps: pl.DataFrame, subtitle: str) -> alt.ConcatChart:
    """Draw what each patch changes (`lab.steps`), coloured where the sign is sure."""
    return general.heat(
        *(steps, "policy", "metric", "seen"),
        text="text",
        title="What each patch changes against the state before it",
        subtitle=subtitle,
        words={"seen": "by its rounds, the figure", "policy": "up to patch"},
        colour=colours.SIGNS,
        width=560,
    )
