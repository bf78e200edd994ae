# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 04 asks of the studies."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import altair as alt
import polars as pl

from swapsim import charts
from swapsim.charts.colours import CPUS
from swapsim.patches import rounds, what_if
from swapsim.patches.cluster_next import machines, studies
from swapsim.published import data
from swapsim.slots.events import slot_events
from swapsim.study import over

LOCK_METRICS: Final = (
    *("slots in a trunk with another CPU", "xa_lock acquisitions"),
    *("xa_lock contended acquisitions", "si->lock acquisitions"),
)
"""Metrics of both locks that the lab kernel's switch changes."""

# Tasks that change CPU, in the lab kernel and on the workbench.

TWINS: Final = {
    "shared": ("shared", "stay", "0"),
    "percpu-rerandomise": ("percpu-rerandomise", "stay", "0"),
    "percpu": ("percpu", "stay", "0"),
    "percpu 1500": ("percpu", "change CPU after 1,025 pages", "1000"),
    "percpu 150": ("percpu", "change CPU after 103 pages", "100"),
    "percpu free": ("percpu", "go where the kernel likes", None),
}
"""A value of the lab's experiment -> its policy, its tasks, and the workbench's pages a CPU."""


def measured_beside_simulated(simulated: pl.DataFrame) -> pl.DataFrame:
    """Return the share of slots in a trunk with another task, of a real kernel and the workbench.

    Source: data/measured/tasks-that-change-cpu, the second half of each run, five rounds.
    """
    results = data.measured_results("tasks-that-change-cpu")
    measured = rounds.medians(results).filter(metric="slots in a trunk with another task")
    chosen = simulated.filter(metric="trunk.shared").select("policy", "setting", "seed", "value")
    found = over(chosen, interval=True)
    twins = pl.DataFrame(
        [(value, *twin) for value, twin in TWINS.items()],
        schema=["value", "policy", "tasks", "setting"],
        orient="row",
    ).with_columns(tasks=pl.format("{}: {}", "policy", "tasks"))
    ends = pl.col("low", "high") * 100
    return pl.concat(
        [
            twins.join(measured, left_on="value", right_on="policy", maintain_order="left").select(
                "tasks", ends, share=pl.col("median") * 100, source=pl.lit("Linux 6.1")
            ),
            twins.join(found, on=["policy", "setting"], maintain_order="left").select(
                "tasks", ends, share=pl.col("middle") * 100, source=pl.lit("workbench")
            ),
        ]
    )


# What-ifs.


def gain_by_fill() -> pl.DataFrame:
    """Return the gains on the aged device of notebook 05 by its fill, young and aged.

    ``fill`` is percent of the slots in use, ``setting`` the milliseconds since the device was full.
    """
    ages = (studies.RACE_AGES_MS[0], studies.RACE_AGES_MS[-1])
    fills = {
        studies.UNDER_HALF: studies.race_under_half(),
        studies.ABOVE_HALF: studies.race_by_age(),
    }
    return pl.concat(
        what_if.gains(rows).select(pl.lit(fill).alias("fill"), pl.all())
        for fill, rows in fills.items()
    ).filter(pl.col("setting").is_in(ages), pl.col("policy").is_in(studies.POSTED))


def gain_by_constant() -> pl.DataFrame:
    """Return V3's gain at the ends of each constant (`what_if.by_constant`)."""
    others = {"in_memory": (machines.IN_MEMORY_LOW, machines.IN_MEMORY_HIGH)}
    return what_if.by_constant(studies.gain_by_constant(), others)


# Charts.

_POINTS: Final = 2400  # slots of a run that are drawn, about


def draw_slots(folders: Mapping[str, Path]) -> alt.ConcatChart:
    """Draw where on the device each CPU's slots lie, in the order handed out, a panel per run."""
    given = {name: slot_events(each).filter(op="alloc") for name, each in folders.items()}
    rows = pl.concat(
        events.with_row_index("nth")
        .select("nth", pl.col("cpu").cast(str), run=pl.lit(name), mebibytes=pl.col("offset") / 256)
        .gather_every(max(events.height // _POINTS, 1))
        for name, events in given.items()
    )
    return charts.points(
        *(rows, "nth", "mebibytes", "cpu"),
        panel="run",
        size=9,
        width=300,
        height=260,
        format=",d",
        colour=dict(zip("01234567", CPUS, strict=False)),
        words={"nth": "slots handed out", "mebibytes": "place on the device, MiB", "cpu": "CPU"},
        title="Where each CPU's slots are, in the order in which they are handed out",
    )


def draw_ranking(
    ranking: pl.DataFrame,
    setting: str,
    figure: str,
    title: str = "Additions that fetch the lock's cache line from another CPU",
) -> alt.ConcatChart:
    """Draw the medians of one metric along the settings of a factor, with intervals."""
    drawn = ranking.drop("better_than", "tied_with")
    rows = drawn.with_columns(pl.col("setting").cast(pl.Int64))
    words = {"setting": setting, "median": f"{figure}, median"}
    return charts.lines(rows, "setting", "median", "policy", log="x", title=title, words=words)


# The verdict, and what the pages on all patches call.


def settled(life: pl.DataFrame) -> str:
    """Return what V1 gains on settled devices, by how often tasks change CPU, as a range."""
    of_v1 = life.filter(pl.col("label").str.starts_with("settled"), policy="percpu")
    ends = of_v1["middle"].to_list()
    return rounds.range_text(min(ends), max(ends))


def last_gain(filled: pl.DataFrame, fill: int) -> float:
    """Return V1's gain at the last age of `gain_by_fill`, with so many percent of slots in use."""
    of_v1 = filled.filter(fill=fill, policy="percpu", setting=studies.RACE_AGES_MS[-1])
    return float(of_v1["middle"].item())
