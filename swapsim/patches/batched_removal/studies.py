# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch B, stored in data/simulated."""

from functools import partial
from itertools import product
from typing import Final

import polars as pl

from swapsim.claims.published import published_of
from swapsim.machine.what_if import Trial, case_of, gain, ranges, trials
from swapsim.patches.batched_removal import questions
from swapsim.patches.batched_removal.machines import NEXT_SHARES, PATCH, points
from swapsim.patches.batched_removal.prediction import SEEDS, judged_ranges, predict_point
from swapsim.study import Study

_study = partial(Study, reads=("costs.csv", partial(published_of, PATCH)))

by_points: Final = _study(
    name="batched-removal-by-points", points=tuple(points()), run=predict_point
)
"""Both tables predicted at each point that the mail leaves open (PREDICTED_BY_POINTS)."""


def _by_list() -> list[Trial]:
    fits = questions.fits_by_next_share(questions.MAP_SHARES)
    return trials(questions.cases_by_list(), fits, metric=questions.WRITTEN)


gain_by_list: Final = _study(
    name="batched-removal-gain-by-list",
    points=_by_list,
    run=gain,
    group=lambda trial: (case_of(trial), trial.fit),
)
"""The gain by length of lists (setting), tasks (label) and a removal's share (fit); WHAT_IF."""


def _by_cure() -> list[Trial]:
    fits = questions.fits_by_next_share()
    return trials(questions.cases_by_remedy(), fits, metric=questions.WRITTEN)


gain_by_cure: Final = _study(
    name="batched-removal-gain-by-cure",
    points=_by_cure,
    run=gain,
    group=case_of,
    reduce=ranges,
)
"""The gain of batching, of trunks of 64 MB and of both (WHAT_IF_RANGES)."""


def _by_kswapds() -> list[Trial]:
    fits = questions.fits_by_next_share()
    cases = questions.cases_by_kswapds()
    return trials(cases, fits, metric=questions.WRITTEN, seeds=SEEDS)


gain_by_kswapds: Final = _study(
    name="batched-removal-gain-by-kswapds",
    points=_by_kswapds,
    run=gain,
    group=case_of,
    reduce=ranges,
)
"""What one thread gains by the number of kswapds that run with it (WHAT_IF_RANGES)."""

holds_by_list: Final = _study(
    name="batched-removal-holds-by-list",
    points=tuple(product(NEXT_SHARES, questions.LISTS)),
    run=questions.holds,
)
"""How long a hold is and an add waits behind it, by length of lists (HOLDS_BY_LIST)."""


def headline_ranges() -> pl.DataFrame:
    """Return the range of each of the mail's claims over all that it leaves open (RANGES)."""
    return judged_ranges(by_points())
