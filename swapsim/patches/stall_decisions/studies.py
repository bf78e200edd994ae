# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch C, stored in data/simulated."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Final

import polars as pl

from swapsim import reclaim
from swapsim.claims.published import published_of
from swapsim.patches.stall_decisions import simulated
from swapsim.patches.stall_decisions.lab import STEPS
from swapsim.patches.stall_decisions.mail import PATCH, RULES
from swapsim.patches.stall_decisions.simulated import FITTED_KERNEL, TARGETS, Run, mail_rows
from swapsim.study import Study

_PUBLISHED: Final = partial(published_of, PATCH)
_study = partial(Study, reads=("reclaim.csv",))
_of_the_mail = partial(Study, reads=("reclaim.csv", _PUBLISHED))

fitted: Final = _of_the_mail(
    name="stall-decisions-fit",
    points=(FITTED_KERNEL,),
    run=simulated.fit,
    sample=simulated.fit_sample,
)
"""The free constants fitted to 3.9's column (FIT_ROWS)."""

SEEDS: Final = tuple(range(1, 21))

tables: Final = _of_the_mail(
    name="stall-decisions-tables",
    points=tuple(Run(rules=r, target=t, seed=s) for t, r, s in product(TARGETS, RULES, SEEDS)),
    run=mail_rows,
)
"""Both tests of the mail by its three kernels (RESULTS)."""

STEP_SEEDS: Final = tuple(range(1, 6))
"""Fewer than for the tables, for nine rule sets."""

steps: Final = _of_the_mail(
    name="stall-decisions-steps",
    points=tuple(Run(rules=r, target=t, seed=s) for t, r, s in product(TARGETS, STEPS, STEP_SEEDS)),
    run=mail_rows,
)
"""Both tests by each state of the series, one more patch per step (RESULTS)."""

open_constants: Final = Study(
    name="stall-decisions-open-constants",
    points=simulated.open_points,
    run=simulated.run_open,
    reads=("reclaim.csv", "published/simulation-tolerances.csv", _PUBLISHED),
)
"""Each constant at the ends of its range (SIMULATED_OPEN)."""

TOGETHER: Final = {"program_pages": "low", "submit_ns": "high"}
"""Two constants at ends of their ranges. They were chosen after each had been moved alone for all
three kernels, so moving both explains a miss and predicts nothing."""

TOGETHER_SEEDS: Final = tuple(range(1, 11))


def _together() -> list[Run]:
    ends = {row["name"]: row for row in reclaim.constants().iter_rows(named=True)}
    moved = {name: ends[name][end] for name, end in TOGETHER.items()}
    return [
        Run(rules=rules, seed=seed, constants=moved)
        for rules, seed in product(RULES, TOGETHER_SEEDS)
    ]


together: Final = _of_the_mail(name="stall-decisions-together", points=_together, run=mail_rows)
"""The mail's test on a disk with two constants moved at once (RESULTS)."""

servers: Final = _of_the_mail(
    name="stall-decisions-servers",
    points=simulated.server_points,
    run=simulated.run_server,
)
"""The mail's test over NFS with each pair of rates (SIMULATED_SERVERS)."""

machines: Final = _study(
    name="stall-decisions-what-if",
    points=simulated.machine_points,
    run=simulated.run_machine,
    quick=lambda point: point[0].factor != "memory, GB" or point[0].setting < 16,
)
"""The mail's three kernels on other machines (SIMULATED_WHAT_IF)."""

by_time: Final = _study(name="stall-decisions-by-time", points=RULES, run=simulated.by_second)
"""One round by each kernel, once per simulated second (SIMULATED_BY_TIME)."""

page_spans: Final = _study(
    name="stall-decisions-page-spans", points=RULES, run=simulated.page_spans
)
"""A hundred pages in one round by each kernel (SIMULATED_PAGE_SPANS)."""

node: Final = _study(
    name="stall-decisions-node", points=simulated.node_points, run=simulated.run_node
)
"""The mail's first test with lists per zone, and with lists per node (RESULTS)."""

lab_guest: Final = Study(
    name="stall-decisions-lab-guest",
    points=simulated.guest_points,
    run=simulated.run_guest,
    reads=("reclaim-lab-guest.csv",),
)
"""The lab's test by each rule set, as set and in each variant (RESULTS)."""


def headline_results(seeds: Sequence[int]) -> pl.DataFrame:
    """Return the stored runs of some seeds (RESULTS)."""
    return tables.load().filter(pl.col("seed").is_in(list(seeds)))
