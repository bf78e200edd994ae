# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch C, stored in data/simulated: the mail's tests, varied."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any, Final

import polars as pl

from swapsim.patches.stall_decisions import what_if
from swapsim.patches.stall_decisions.fitting import fit, fit_sample
from swapsim.patches.stall_decisions.mail import BASE, PATCH, RULES
from swapsim.patches.stall_decisions.runs import (
    TARGETS,
    Run,
    by_second,
    mail_rows,
    rounds_until_file,
)
from swapsim.published.data import published_of
from swapsim.study import Study

_PUBLISHED: Final = partial(published_of, PATCH)
_study = partial(Study, reads=("reclaim.csv",))
_of_the_mail = partial(Study, reads=("reclaim.csv", _PUBLISHED))


def _of_first_file(
    points: Sequence[Run | tuple[str, Run]], run: Callable[[Any], pl.DataFrame]
) -> Callable[[pl.DataFrame, int], pl.DataFrame]:
    """Return a sample of runs that end with the round of their first file: its client's rows."""

    def sample(_rows: pl.DataFrame, pick: int) -> pl.DataFrame:
        point = points[pick % len(points)]
        until = rounds_until_file
        short = until(point) if isinstance(point, Run) else (point[0], until(point[1]))
        return run(short).filter(pl.col("metric").str.contains(": Ops ", literal=True))

    return sample


fitted: Final = _of_the_mail(name="stall-decisions-fit", points=(BASE,), run=fit, sample=fit_sample)
"""The free constants fitted to mmotm's column (FIT_ROWS)."""

SEEDS: Final = tuple(range(201, 221))
"""Stored before the first run."""

tables: Final = _of_the_mail(
    name="stall-decisions-tables",
    points=tuple(Run(rules=r, target=t, seed=s) for t, r, s in product(TARGETS, RULES, SEEDS)),
    run=mail_rows,
    # A sample is of the disk: over NFS the end of a run reaches into its last round.
    sample=_of_first_file([Run(rules=r, seed=s) for r, s in product(RULES, SEEDS)], mail_rows),
)
"""Both tests of the mail by its three kernels (RESULTS)."""

machines: Final = _study(
    name="stall-decisions-what-if",
    points=what_if.machine_points,
    run=what_if.run_machine,
    quick=lambda point: point[0].factor != "memory, GB" or point[0].setting < 16,
)
"""The mail's three kernels on other machines."""

by_time: Final = _study(name="stall-decisions-by-time", points=RULES, run=by_second)
"""One round by each kernel, once per simulated second (BY_TIME)."""

node: Final = _study(
    name="stall-decisions-node",
    points=what_if.node_points,
    run=what_if.run_node,
    sample=_of_first_file(what_if.node_points(), what_if.run_node),
)
"""The mail's first test with lists per zone, and with lists per node (RESULTS)."""
