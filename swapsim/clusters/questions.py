# SPDX-License-Identifier: GPL-2.0-or-later
"""What the allocator's authors ask in 2025 and 2026, ranked on identical requests.

Tiers are devices of several priorities. Does a CPU have one current cluster for all devices, as on
7.3, or one in each? What does a mask of devices, as a memory cgroup's tier would be, cost? And
are frag lists by emptiness better, on streams whose entries live long, which builds hide?
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from swapsim.clusters import alternatives
from swapsim.clusters.alternatives import BASE, SEEDS, Alternative, Stream
from swapsim.clusters.churn import KEPT, churn
from swapsim.clusters.events import ClusterRows

UPPER: Final = 0.6
LOWER: Final = 1.0
"""Slots of the devices of the highest priority, and of all others, by the stream's peak: the upper
tier runs full, the lower one does not. Fixed before the first run."""

PER_DEVICE: Final = {"shared_next": False, "turns_each_call": True}
"""As the fourth patch of swap tiers (RFC, version 3) has it: equal devices alternate."""

TIERS: Final = (
    Alternative(name=BASE, asks="one cluster for all devices"),
    Alternative(name="per-device", asks="a cluster in each device?", switches=PER_DEVICE),
    Alternative(
        name="per-device, kept", asks="and a CPU stays in one of equal devices?",
        switches={"shared_next": False},
    ),
    Alternative(name="masks", asks="a mask of devices for each cgroup?", masks=True),
    Alternative(
        name="masks, per-device", asks="the same with a cluster in each device?",
        switches=PER_DEVICE, masks=True,
    ),
)  # fmt: skip

FRAG_LISTS: Final = (
    Alternative(name=BASE, asks="one frag list for each order"),
    Alternative(name="4 frag lists", asks="four by emptiness?", switches={"frag_classes": 4}),
    Alternative(name="16 frag lists", asks="sixteen by emptiness?", switches={"frag_classes": 16}),
)

OF_TIERS: Final = ("misses", "lower device", "inversions", "fallbacks")
OF_FRAG_LISTS: Final = ("fallbacks", "visits", "free clusters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Alternatives, the streams on which they are ranked, and the metrics that answer."""

    alternatives: Sequence[Alternative]
    recorded: Sequence[str] = ()
    generated: str
    metrics: Sequence[str]


QUESTIONS: Final = {
    "tiers": Question(
        alternatives=TIERS,
        recorded=("clusters-7.3-devices-4", "clusters-7.3-tiers-4"),
        generated="two tiers",
        metrics=OF_TIERS,
    ),
    "frag lists": Question(
        alternatives=FRAG_LISTS,
        recorded=("clusters-7.3-full-4", "clusters-7.3-orders-8", "clusters-7.3-zram-1"),
        generated="short-lived",
        metrics=OF_FRAG_LISTS,
    ),
    "frag lists, long-lived": Question(
        alternatives=FRAG_LISTS, generated="long-lived", metrics=OF_FRAG_LISTS
    ),
}


def points(seeds: int = SEEDS) -> list[tuple[str, str, int]]:
    """Return question, stream and seed of each run; a recording has the seed 0."""
    return [
        (name, stream, seed)
        for name, asked in QUESTIONS.items()
        for stream, seed in (
            *((each, 0) for each in asked.recorded),
            *((asked.generated, at + 1) for at in range(seeds)),
        )
    ]


def measured(point: tuple[str, str, int]) -> pl.DataFrame:
    """Serve a stream under the alternatives of a question."""
    question, name, seed = point
    made = alternatives.shipped_stream(name) if not seed else _generated(name, seed)
    if question == "tiers":
        made = replace(made, slots=_slots_of_tiers(made))
    return alternatives.measure([made], QUESTIONS[question].alternatives)


def _generated(name: str, seed: int) -> Stream:
    """Return a stream of `churn`; on two tiers it was recorded on the upper one."""
    rows, groups = churn(seed, kept=KEPT if name == "long-lived" else 0)
    if name == "two tiers":
        upper, size = rows.devices, rows.cluster_size
        lower = {"device": 1, "slots": size, "priority": -2}
        added = upper.with_columns(
            pl.lit(value, upper.schema[field]).alias(field) for field, value in lower.items()
        )
        rows = ClusterRows(events=rows.events, devices=pl.concat([upper, added]))
    return alternatives.stream(rows, name, seed=seed, groups=groups)


def _slots_of_tiers(made: Stream) -> tuple[int, ...]:
    """Return sizes of devices by which the upper tier runs full, and the lower one does not."""
    peak, size = alternatives.peak_of(made.rows.events), made.rows.cluster_size
    upper = (pl.col("priority") == pl.col("priority").max()).alias("upper")
    devices = made.rows.devices.with_columns(upper)
    share = pl.col("slots") / pl.col("slots").sum().over("upper")
    wanted = share * peak * pl.when("upper").then(UPPER).otherwise(LOWER) / size
    return tuple(max(2, round(each)) * size for each in devices.select(wanted).to_series())


def ranked(measures: pl.DataFrame, question: str) -> pl.DataFrame:
    """Rank the answers to a question (RANKING)."""
    asked = QUESTIONS[question]
    mine = measures.filter(pl.col("stream").is_in([*asked.recorded, asked.generated]))
    return alternatives.ranked(mine, asked.metrics, asked.alternatives)
