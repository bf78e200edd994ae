# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 04 asks of the studies, its verdict, and patch D's part of the pages on all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import altair as alt
import polars as pl

from swapsim import claims, slots
from swapsim.charts import general
from swapsim.charts.colours import CPUS
from swapsim.machine import what_if
from swapsim.patches.cluster_next import machines, studies
from swapsim.patches.cluster_next.answered import claims_by_age, slots_matched
from swapsim.study.summary import over

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
    results = claims.measured_results("tasks-that-change-cpu")
    measured = claims.medians(results).filter(metric="slots in a trunk with another task")
    chosen = simulated.filter(metric="trunk.shared").select("policy", "setting", "seed", "value")
    found = over(chosen, statistic="mean", spread="interval")
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


def rows_by_age() -> pl.DataFrame:
    """Return the changes of both mails' claims, published and at each age, a row per claim."""
    stated = claims.published_claims().select("claim", published="change")
    tolerances = claims.tolerances().select("claim", "tolerance")
    ages = claims_by_age().pivot("age", index="claim")
    return (
        stated.join(ages.select("claim"), on="claim", how="semi", maintain_order="left")
        .join(tolerances, on="claim", how="left", maintain_order="left")
        .join(ages, on="claim", how="left", maintain_order="left")
        .filter(~pl.col("claim").str.starts_with("D-prose-contention"))
    )


def gain_by_constant() -> pl.DataFrame:
    """Return young V1's gain at the ends of each constant (`machine.what_if.by_constant`)."""
    others = {"in_memory": (machines.IN_MEMORY_LOW, machines.IN_MEMORY_HIGH)}
    return what_if.by_constant(studies.gain_by_constant(), others)


# Charts.

_POINTS: Final = 2400  # slots of a run that are drawn, about


def draw_slots(folders: Mapping[str, Path]) -> alt.ConcatChart:
    """Draw where on the device each CPU's slots lie, in the order handed out, a panel per run."""
    given = {name: slots.slot_events(each).filter(op="alloc") for name, each in folders.items()}
    rows = pl.concat(
        events.with_row_index("nth")
        .select("nth", pl.col("cpu").cast(str), run=pl.lit(name), mebibytes=pl.col("offset") / 256)
        .gather_every(max(events.height // _POINTS, 1))
        for name, events in given.items()
    )
    return general.points(
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
    mean: str,
    title: str = "Additions that fetch the lock's cache line from another CPU",
) -> alt.ConcatChart:
    """Draw one metric of policies along the settings of a factor, with intervals."""
    rows = ranking.with_columns(pl.col("setting").cast(pl.Int64))
    words = {"setting": setting, "mean": mean}
    return general.lines(rows, "setting", "mean", "policy", log="x", title=title, words=words)


# The verdict, and what the pages on all patches call.


def verdict(
    verified: pl.DataFrame,
    aged: pl.DataFrame,
    texts: pl.DataFrame,
    life: pl.DataFrame,
    *,
    filled: pl.DataFrame,
    tasks: pl.DataFrame,
    drives: pl.DataFrame,
) -> str:
    """Return the lead of notebook 04.

    ``verified`` is VERIFIED_SLOTS and ``aged`` SLOT_SWEEP of the study "ages"; ``texts`` are those
    of all claims; ``life``, ``tasks`` and ``drives`` are `what_if.gains` by V1's age, by the number
    of tasks and by drive; ``filled`` is `gain_by_fill`.
    """
    handed_out, alike = slots_matched(verified)
    moved = aged.filter(metric="lock.moved.add").select("setting", "policy", "seed", "value")
    means = over(moved, statistic="mean").with_columns(pl.col("middle") * 100)
    of = {(age, policy): mean for age, policy, _, mean, *_ in means.iter_rows()}
    first, last = means["setting"][0], means["setting"][-1]
    shared, merged = (of[_WARM_UP, policy] for policy in ("shared", studies.MERGED))
    score = texts.row(by_predicate=pl.col("claim") == "D3-prose-score", named=True)
    slow, many = drives.filter("flips"), tasks.filter("flips")
    return claims.lead_on(
        f"With the merged patch {merged:.0f} % of the additions to the swap cache fetch the "
        f"lock's line from another CPU in place of {shared:.0f} %, "
        f"and the published gain of {score['published']} is {score['simulated_verdict']}.",
        does=f"Each CPU scans from a base of its own, so CPUs are in different trunks and use "
        f"different locks; the model repeats {alike:,} of {handed_out:,} slots of a real kernel. "
        f"As first posted, {of[first, 'percpu']:.0f} % of the additions fetch the line at first "
        f"and {of[last, 'percpu']:.0f} % in the end, when all CPUs are in the same trunks.",
        worth=f"Fitted to the base column of V3's mail, the merged patch gains "
        f"{score['simulated']} in pmbench's score soon after the device was filled "
        f"({score['range']} over its ages). {by_age(life, filled)}",
        when=f"On rotational disks, which have one base, and on drives of {slow['latency'][0]} or "
        f"slower ({_ends(slow)}). Nor with {many['setting'][0]:.0f} tasks or more, where other "
        f"locks decide ({_ends(many)}).",
    )


_WARM_UP: Final = "131072"
"""Setting of the study "ages": the pages swapped out before notebook 05 counts."""


def _ends(ranges: pl.DataFrame) -> str:
    """Return the range over several ranges of a gain."""
    low, high = min(ranges["low"].to_list()), max(ranges["high"].to_list())
    return claims.range_text(low, high, "%", relative=True)


def by_age(life: pl.DataFrame, filled: pl.DataFrame) -> str:
    """Return what V1 gains by age, and on the device of notebook 05, in one sentence."""
    young = claims_by_age().filter(claim="D-prose-score", age="50 ms")["simulated"].item()
    stated = claims.published_claims().filter(claim="D-prose-score")["change"].item()
    fuller = "loses" if last_gain(filled, studies.ABOVE_HALF) < 0 else "gains, too"
    return (
        f"As first posted it gains {young:+.1f} % at first and {settled(life)} in the end, "
        f"by how often tasks change CPU (published: {stated:+.1f} %, open; in notebook 05, on a "
        f"device {studies.ABOVE_HALF} % full, it {fuller} in the end, where scans drop si->lock "
        f"to take slots back)."
    )


def settled(life: pl.DataFrame) -> str:
    """Return what V1 gains on settled devices, by how often tasks change CPU, as a range."""
    of_v1 = life.filter(pl.col("label").str.starts_with("settled"), policy="percpu")
    ends = of_v1["middle"].to_list()
    return claims.range_text(min(ends), max(ends), "%", relative=True)


def last_gain(filled: pl.DataFrame, fill: int) -> float:
    """Return V1's gain at the last age of `gain_by_fill`, with so many percent of slots in use."""
    of_v1 = filled.filter(fill=fill, policy="percpu", setting=studies.RACE_AGES_MS[-1])
    return float(of_v1["middle"].item())
