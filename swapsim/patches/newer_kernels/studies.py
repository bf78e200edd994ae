# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies of the allocators of newer kernels, stored in data/simulated."""

from dataclasses import replace
from typing import Final

import polars as pl

from swapsim.clusters import ranking
from swapsim.clusters.events import ClusterRows
from swapsim.clusters.ranking import churn
from swapsim.patches.newer_kernels import global_lock as one_lock
from swapsim.patches.newer_kernels import meetings
from swapsim.study import Study

_SEEDS: Final = range(1, ranking.SEEDS + 1)


def _ranked(point: tuple[str, int]) -> pl.DataFrame:
    """Serve a shipped trace, or a generated stream of a seed, under all alternatives."""
    name, seed = point
    made = ranking.generated_stream(seed) if seed else ranking.shipped_stream(name)
    return ranking.measure([made])


alternatives: Final = Study(
    name="newer-kernels-alternatives",
    points=[*((name, 0) for name in ranking.TRACES), *(("generated", seed) for seed in _SEEDS)],
    run=_ranked,
    reads=tuple(f"traces/{name}/*" for name in ranking.TRACES),
)
"""Alternatives to the rules of 7.3 on identical requests."""


PER_DEVICE: Final = (
    ranking.Alternative(name=ranking.BASE),
    ranking.Alternative(
        name="per-device", switches={"shared_next": False, "turns_each_call": True}
    ),
)
"""A cluster in each device, where equal ones alternate, as in the RFC of swap tiers (version 3)."""

TIERS: Final = ("clusters-7.3-devices-4", "clusters-7.3-tiers-4")
"""Shipped traces on devices of several priorities."""

UPPER: Final = 0.6
LOWER: Final = 1.0
"""Slots of the devices of the highest priority, and of all others, by the stream's peak: the upper
tier runs full, the lower one does not. Fixed before the first run."""


def tiered_stream(name: str, seed: int = 0) -> ranking.Stream:
    """Return one of TIERS, or with a seed a generated stream, with a second device below its own.

    The upper tier runs full: its devices hold UPPER of the peak, the others LOWER.
    """
    if not seed:
        made = ranking.shipped_stream(name)
    else:
        rows, groups = churn(seed)
        own, below = rows.devices, {"device": 1, "slots": rows.cluster_size, "priority": -2}
        second = own.with_columns(
            pl.lit(value, own.schema[field]).alias(field) for field, value in below.items()
        )
        rows = ClusterRows(events=rows.events, devices=pl.concat([own, second]))
        made = ranking.stream(rows, name, seed=seed, groups=groups)
    peak, size = ranking.peak_of(made.rows.events), made.rows.cluster_size
    is_upper = (pl.col("priority") == pl.col("priority").max()).alias("upper")
    devices = made.rows.devices.with_columns(is_upper)
    share = pl.col("slots") / pl.col("slots").sum().over("upper")
    wanted = share * peak * pl.when("upper").then(UPPER).otherwise(LOWER) / size
    slots = (max(2, round(each)) * size for each in devices.select(wanted).to_series())
    return replace(made, slots=tuple(slots))


def _tiered(point: tuple[str, int]) -> pl.DataFrame:
    """Serve a stream on devices of two priorities by the rules of 7.3, and a cluster in each."""
    return ranking.measure([tiered_stream(*point)], PER_DEVICE)


tiers: Final = Study(
    name="newer-kernels-tiers",
    points=[*((name, 0) for name in TIERS), *(("two tiers", seed) for seed in _SEEDS)],
    run=_tiered,
    reads=tuple(f"traces/{name}/*" for name in TIERS),
)
"""One cluster for all devices of a CPU, or one in each."""


meeting: Final = Study(
    name="newer-kernels-meetings",
    points=meetings.points,
    run=meetings.of_point,
    quick=meetings.is_of_a_trace,
    reads=tuple(f"traces/{name}/*" for name in meetings.TRACES),
)
"""How often two CPUs use one lock under four allocators."""

global_lock: Final = Study(
    name="newer-kernels-global-lock",
    points=one_lock.settings,
    run=one_lock.of_setting,
    reads=("costs.csv",),
)
"""What one global lock taken twice a page would cost."""
