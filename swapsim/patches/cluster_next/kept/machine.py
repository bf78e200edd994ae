# SPDX-License-Identifier: GPL-2.0-or-later
"""Kept: fits of patch D's bases, predictions and what-ifs with them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import polars as pl

from swapsim.machine.fit import Fitted
from swapsim.machine.fit_rows import met_anew, of_rows, to_rows
from swapsim.machine.what_if import Case, gain_ranges, picked_case
from swapsim.patches.cluster_next import questions
from swapsim.patches.cluster_next.fitting import FIT_RUNS, VERSIONS, fit, to_meet
from swapsim.patches.cluster_next.machines import PATCH
from swapsim.patches.cluster_next.prediction import predict
from swapsim.study import SerialExecutor
from swapsim.study.kept import kept, picked

CONSTANTS_ASKED: Final = ("map_ns", "free_ns", "fault_ns", "travel_same_socket_ns")
"""Constants that are put at their low and high, one at a time."""

WHAT_IF_SEEDS: Final = (1, 2, 3)
"""Of each case and fit."""


def _one_fit(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (version,) = picked(rows, ["fit"], pick)
    return met_anew(rows, version, *to_meet(version), runs=FIT_RUNS)


@kept("cluster-next-fits", patch=PATCH, sample=_one_fit, shown=of_rows)
def fits(_progress: bool) -> pl.DataFrame:
    """Fit the base of the first mail and of the third: their names -> `Fitted`."""
    return to_rows({version: fit(version=version) for version in VERSIONS})


def headline_fit() -> Fitted:
    """Return the fit of the first mail's base, the one that prints rows of all locks."""
    return fits()["V1"]


def _predicted_for_one_seed(version: str, rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    return predict(fits.load()[version].constants, picked(rows, ["seed"], pick), version=version)


@kept("cluster-next-predicted", patch=PATCH, sample=partial(_predicted_for_one_seed, "V1"))
def predicted(_progress: bool) -> pl.DataFrame:
    """Simulate the first mail's table for each seed (RESULTS)."""
    return predict(fits.load()["V1"].constants)


@kept("cluster-next-predicted-v3", patch=PATCH, sample=partial(_predicted_for_one_seed, "V3"))
def predicted_v3(_progress: bool) -> pl.DataFrame:
    """Simulate the third mail's table for each seed (RESULTS)."""
    return predict(fits.load()["V3"].constants, version="V3")


def headline_results(seeds: Sequence[int]) -> pl.DataFrame:
    """Return the third mail's simulated table for some of its seeds (RESULTS): what was merged."""
    return predicted_v3().filter(pl.col("seed").is_in(seeds))


def _both() -> dict[str, pl.DataFrame]:
    return {version: fitted.constants for version, fitted in fits.load().items()}


def _gains(cases: Callable[[], list[Case]], progress: bool) -> pl.DataFrame:
    return gain_ranges(
        cases(), _both(), metric=questions.SCORE, seeds=WHAT_IF_SEEDS, progress=progress
    )


def _gain_of_one_case(
    cases: Callable[[], list[Case]], rows: pl.DataFrame, pick: int
) -> pl.DataFrame:
    case = picked_case(cases(), rows, pick)
    return gain_ranges(
        case, _both(), metric=questions.SCORE, seeds=WHAT_IF_SEEDS, executor=SerialExecutor()
    )


_BY_TASKS: Final = questions.cases_by_tasks
_BY_TRUNK_SIZE: Final = questions.cases_by_trunk_size
_BY_DRIVE: Final = questions.cases_by_drive


@kept("cluster-next-gain-by-tasks", patch=PATCH, sample=partial(_gain_of_one_case, _BY_TASKS))
def gain_by_tasks(progress: bool) -> pl.DataFrame:
    """Say what the patch gains by the number of tasks, over both fits (WHAT_IF_RANGES)."""
    return _gains(_BY_TASKS, progress)


@kept(
    "cluster-next-gain-by-trunk-size",
    patch=PATCH,
    sample=partial(_gain_of_one_case, _BY_TRUNK_SIZE),
)
def gain_by_trunk_size(progress: bool) -> pl.DataFrame:
    """Say what the patch gains by the size of a trunk, over both fits (WHAT_IF_RANGES)."""
    return _gains(_BY_TRUNK_SIZE, progress)


@kept("cluster-next-gain-by-drive", patch=PATCH, sample=partial(_gain_of_one_case, _BY_DRIVE))
def gain_by_drive(progress: bool) -> pl.DataFrame:
    """Say what the patch gains by the drives' latency and queue (WHAT_IF_RANGES)."""
    return _gains(_BY_DRIVE, progress)


def _one_fit_by_constant(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (name,) = picked(rows, ["fit"], pick)
    base = to_meet("V1", in_memory=questions.in_memory_of(name))
    return met_anew(rows, name, *base, runs=FIT_RUNS)


@kept("cluster-next-fits-by-constant", patch=PATCH, sample=_one_fit_by_constant, shown=of_rows)
def fits_by_constant(progress: bool) -> pl.DataFrame:
    """Fit the first mail's base with each assumed constant at its low and high."""
    return to_rows(questions.fits_by_constant(CONSTANTS_ASKED, progress=progress))


def _one_gain_by_constant(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    name, seed = picked(rows, ["fit", "seed"], pick)
    fitted = {name: fits_by_constant.load()[name]}
    return questions.gains_by_constant(fitted, seeds=[seed], executor=SerialExecutor())


@kept(
    "cluster-next-gain-by-constant",
    patch=PATCH,
    sample=_one_gain_by_constant,
    shown=questions.by_constant,
)
def gain_by_constant(progress: bool) -> pl.DataFrame:
    """Say what V1 gains with each assumed constant at its low and high, fitted anew."""
    return questions.gains_by_constant(fits_by_constant.load(), progress=progress)
