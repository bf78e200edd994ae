# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of cluster allocators, stored in data/simulated."""

from typing import Final

import polars as pl

from swapsim.clusters import questions as asked
from swapsim.clusters.alternatives import SEEDS, TRACES, generated_stream, measure, shipped_stream
from swapsim.study import Study


def _measure_stream(point: tuple[str, int]) -> pl.DataFrame:
    """Serve a shipped trace, or a generated stream of a seed, under all alternatives."""
    name, seed = point
    return measure([generated_stream(seed) if seed else shipped_stream(name)])


alternatives: Final = Study(
    name="newer-kernels-alternatives",
    points=[*((name, 0) for name in TRACES), *(("generated", at + 1) for at in range(SEEDS))],
    run=_measure_stream,
    reads=tuple(f"traces/{name}/*" for name in TRACES),
)
"""Alternatives to the rules of 7.3 on identical requests."""

questions: Final = Study(
    name="newer-kernels-questions",
    points=asked.points(),
    run=asked.measured,
    reads=tuple(f"traces/{name}/*" for each in asked.QUESTIONS.values() for name in each.recorded),
)
"""Answers to what the allocator's authors ask."""
