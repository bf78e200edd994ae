# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch C, stored in data/simulated."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Final

import polars as pl

from swapsim import reclaim
from swapsim.claims.published import published_of
from swapsim.patches.stall_decisions import (
    fitting,
    guest,
    node,
    over_nfs,
    over_time,
    unknowns,
    what_if,
)
from swapsim.patches.stall_decisions.lab import STEPS
from swapsim.patches.stall_decisions.mail import PATCH, RULES
from swapsim.patches.stall_decisions.worlds import SEEDS, TARGETS, Run, told
from swapsim.study import Study

_PUBLISHED: Final = partial(published_of, PATCH)
_study = partial(Study, reads=("world.csv",))
_of_the_mail = partial(Study, reads=("world.csv", _PUBLISHED))

fitted: Final = _of_the_mail(
    name="stall-decisions-world-fit",
    points=(fitting.BASE,),
    run=fitting.fit,
    sample=fitting.figures_again,
)
"""The free constants fitted to 3.9's column (FIT_ROWS)."""

tables: Final = _of_the_mail(
    name="stall-decisions-world",
    points=tuple(Run(rules=r, target=t, seed=s) for t, r, s in product(TARGETS, RULES, SEEDS)),
    run=told,
)
"""Both tests of the mail by its three kernels, 20 seeds (RESULTS)."""

STEP_SEEDS: Final = tuple(range(1, 6))
"""Fewer than for the tables, for nine rule sets."""

steps: Final = _of_the_mail(
    name="stall-decisions-world-steps",
    points=tuple(Run(rules=r, target=t, seed=s) for t, r, s in product(TARGETS, STEPS, STEP_SEEDS)),
    run=told,
)
"""Both tests by each state of the series, one patch a step (RESULTS)."""

by_unknown: Final = Study(
    name="stall-decisions-world-open",
    points=unknowns.runs,
    run=unknowns.run_moved,
    reads=("world.csv", "published/world-tolerances.csv", _PUBLISHED),
)
"""Each constant at the ends of its range (SIMULATED_OPEN)."""

TOGETHER: Final = {"program_pages": "low", "submit_ns": "high"}
"""Two constants at ends of their ranges. They were chosen when their single ends had been seen by
all three kernels, so what they come to together explains a miss and predicts nothing."""

TOGETHER_SEEDS: Final = tuple(range(1, 11))


def _together() -> list[Run]:
    ends = {row["name"]: row for row in reclaim.constants().iter_rows(named=True)}
    moved = {name: ends[name][end] for name, end in TOGETHER.items()}
    return [
        Run(rules=rules, seed=seed, constants=moved)
        for rules, seed in product(RULES, TOGETHER_SEEDS)
    ]


together: Final = _of_the_mail(name="stall-decisions-world-together", points=_together, run=told)
"""The mail's test on a disk with two constants moved at once (RESULTS)."""

servers: Final = _of_the_mail(
    name="stall-decisions-world-servers", points=over_nfs.servers, run=over_nfs.run_with
)
"""The mail's test over NFS with each pair of rates (SIMULATED_SERVERS)."""

by_machine: Final = _study(
    name="stall-decisions-world-what-if",
    points=what_if.points,
    run=what_if.run_point,
    quick=lambda point: point.case.factor != "memory, GB" or point.case.setting < 16,
)
"""The mail's three kernels on other machines (SIMULATED_WHAT_IF)."""

by_time: Final = _study(name="stall-decisions-world-by-time", points=RULES, run=over_time.by_second)
"""One round by each kernel, once a simulated second (SIMULATED_BY_TIME)."""

lives: Final = _study(name="stall-decisions-world-lives", points=RULES, run=over_time.life_spans)
"""A hundred pages through one round by each kernel (SIMULATED_PAGE_SPANS)."""

on_a_node: Final = _study(
    name="stall-decisions-node", points=node.node_cases, run=node.told_on_a_node
)
"""The mail's first test with lists by zone, and with those of a node (RESULTS)."""

guests: Final = Study(
    name="stall-decisions-guest",
    points=guest.guest_runs,
    run=guest.told_by_guest,
    reads=("guest.csv",),
)
"""The lab's test in the simulator, by each rule set and at what is open (RESULTS)."""


def headline_results(seeds: Sequence[int]) -> pl.DataFrame:
    """Return the stored runs of some seeds (RESULTS)."""
    return tables.load().filter(pl.col("seed").is_in(list(seeds)))
