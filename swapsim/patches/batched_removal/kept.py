# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch B's notebook shows and takes long to run: kept in data/simulated."""

import polars as pl

from swapsim.patches.batched_removal import questions
from swapsim.patches.batched_removal.machines import PATCH
from swapsim.patches.batched_removal.prediction import judged_ranges, predict_by_points
from swapsim.patches.batched_removal.unknowns import Point
from swapsim.study import SerialExecutor
from swapsim.study.kept import kept, picked


def _one_point(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    tag_share, next_share, again = picked(rows, ["tag_share", "next_share", "again"], pick)
    point = Point(tag_share=tag_share, next_share=next_share, again=again)
    return predict_by_points([point], executor=SerialExecutor())


@kept("batched-removal-by-points", patch=PATCH, sample=_one_point)
def by_points(progress: bool) -> pl.DataFrame:
    """Predict both tables at each point that the mail leaves open (PREDICTED_BY_POINTS)."""
    return predict_by_points(progress=progress)


def headline_ranges() -> pl.DataFrame:
    """Say from where to where the mail's claims go, over all that it leaves open (RANGES)."""
    return judged_ranges(by_points())


def _gain_at_one_length(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    pages, label, share = picked(rows, ["setting", "label", "fit"], pick)
    tasks = int(label.split()[0])
    return questions.gain_by_list([int(pages)], [tasks], [float(share)], executor=SerialExecutor())


@kept("batched-removal-gain-by-list", patch=PATCH, sample=_gain_at_one_length)
def gain_by_list(progress: bool) -> pl.DataFrame:
    """Map the gain by length of lists, hold per removal and tasks (WHAT_IF)."""
    return questions.gain_by_list(progress=progress)


def _gain_of_cures(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    del rows, pick
    return questions.gain_by_cure(executor=SerialExecutor())


@kept("batched-removal-gain-by-cure", patch=PATCH, sample=_gain_of_cures)
def gain_by_cure(progress: bool) -> pl.DataFrame:
    """Set batching beside trunks of 64 MB and beside both (WHAT_IF_RANGES)."""
    return questions.gain_by_cure(progress=progress)


def _gain_beside_some(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (nodes,) = picked(rows, ["setting"], pick)
    return questions.gain_by_kswapds([int(nodes)], executor=SerialExecutor())


@kept("batched-removal-gain-by-kswapds", patch=PATCH, sample=_gain_beside_some)
def gain_by_kswapds(progress: bool) -> pl.DataFrame:
    """Say what one thread gains by the number of kswapds beside it (WHAT_IF_RANGES)."""
    return questions.gain_by_kswapds(progress=progress)


def _holds_at_one_length(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    pages, share = picked(rows, ["list_pages", "next_share"], pick)
    return questions.holds_by_list([pages], [share], executor=SerialExecutor())


@kept("batched-removal-holds-by-list", patch=PATCH, sample=_holds_at_one_length)
def holds_by_list(progress: bool) -> pl.DataFrame:
    """Say how long a hold is and an add waits behind it, by length of lists (HOLDS_BY_LIST)."""
    return questions.holds_by_list(progress=progress)
