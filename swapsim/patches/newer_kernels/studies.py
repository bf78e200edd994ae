# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies of the allocators of newer kernels, stored in data/simulated."""

from typing import Final

import polars as pl

from swapsim.clusters import ranking
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


def _tiered(point: tuple[str, int]) -> pl.DataFrame:
    """Serve a stream on devices of two priorities by the rules of 7.3, and a cluster in each."""
    return ranking.measure([ranking.tiered_stream(*point)], ranking.PER_DEVICE)


tiers: Final = Study(
    name="newer-kernels-tiers",
    points=[*((name, 0) for name in ranking.TIERS), *(("two tiers", seed) for seed in _SEEDS)],
    run=_tiered,
    reads=tuple(f"traces/{name}/*" for name in ranking.TIERS),
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
