# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch A's notebook shows and takes long to run: kept in data/simulated."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import polars as pl

from swapsim.machine.what_if import Case, gain_ranges, picked_case
from swapsim.patches.writeback_tags import questions
from swapsim.patches.writeback_tags.fitting import MAP_SHARE, TAG_SHARE, headline_fit
from swapsim.patches.writeback_tags.machines import PATCH
from swapsim.patches.writeback_tags.prediction import predict
from swapsim.patches.writeback_tags.shares import (
    TAG_SHARES,
    fits_at,
    judged_ranges,
    predict_by_shares,
    with_tags_up_to,
)
from swapsim.patches.writeback_tags.swap_series import (
    predict_series,
    predict_step,
    predict_with_series_share,
)
from swapsim.study import SerialExecutor
from swapsim.study.kept import kept, picked

TOLD_SHARES: Final = (0.01, TAG_SHARE, 0.2)
"""Of TAG_SHARES the least, the middle and the largest whose holds a benchmark allows
(`shares.LONGEST_TAGS_NS`)."""

THREE_SHARES: Final = tuple((tag_share, MAP_SHARE) for tag_share in TOLD_SHARES)
"""Pairs of ``tag_share`` and ``map_share``, behind each what-if."""


def _one_pair_of_shares(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    tag_share, map_share = picked(rows, ["tag_share", "map_share"], pick)
    return predict_by_shares(
        tag_shares=[tag_share], map_shares=[map_share], executor=SerialExecutor()
    )


@kept("writeback-tags-by-shares", patch=PATCH, sample=_one_pair_of_shares)
def by_shares(progress: bool) -> pl.DataFrame:
    """Predict the patch at each pair of shares that the base leaves open (PREDICTED_BY_SHARES)."""
    return predict_by_shares(progress=progress)


def _gain_of_one_case(
    cases: Callable[[], list[Case]], rows: pl.DataFrame, pick: int
) -> pl.DataFrame:
    case = picked_case(cases(), rows, pick)
    return gain_ranges(case, fits_at(THREE_SHARES), executor=SerialExecutor())


def _gains(cases: Callable[[], list[Case]], progress: bool) -> pl.DataFrame:
    return gain_ranges(cases(), fits_at(THREE_SHARES), progress=progress)


_BY_WRITERS: Final = questions.cases_by_writers
_BY_TRUNK_SIZE: Final = questions.cases_by_trunk_size
_BY_DRIVE: Final = questions.cases_by_drive


@kept("writeback-tags-gain-by-writers", patch=PATCH, sample=partial(_gain_of_one_case, _BY_WRITERS))
def gain_by_writers(progress: bool) -> pl.DataFrame:
    """Say what the patch gains by the number of writers, over three fits (WHAT_IF_RANGES)."""
    return _gains(_BY_WRITERS, progress)


@kept(
    "writeback-tags-gain-by-trunk-size",
    patch=PATCH,
    sample=partial(_gain_of_one_case, _BY_TRUNK_SIZE),
)
def gain_by_trunk_size(progress: bool) -> pl.DataFrame:
    """Say what the patch gains by the size of a trunk, over three fits (WHAT_IF_RANGES)."""
    return _gains(_BY_TRUNK_SIZE, progress)


@kept("writeback-tags-gain-by-drive", patch=PATCH, sample=partial(_gain_of_one_case, _BY_DRIVE))
def gain_by_drive(progress: bool) -> pl.DataFrame:
    """Say what the patch gains by a drive's latency and queue, over three fits (WHAT_IF_RANGES)."""
    return _gains(_BY_DRIVE, progress)


_fits_by_constant = partial(questions.fits_by_constant, tag_share=TAG_SHARE, map_share=MAP_SHARE)


def _gain_at_one_constant(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (name,) = picked(rows, ["constant"], pick)
    fits = _fits_by_constant(names=[name], executor=SerialExecutor())
    return questions.gain_by_constant(fits, executor=SerialExecutor())


@kept("writeback-tags-gain-by-constant", patch=PATCH, sample=_gain_at_one_constant)
def gain_by_constant(progress: bool) -> pl.DataFrame:
    """Say what the patch gains with each assumed constant at its low and high, fitted anew."""
    fits = _fits_by_constant(progress=progress)
    return questions.gain_by_constant(fits, progress=progress)


def _one_step(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    step, policy, seed = picked(rows, ["kernel", "policy", "seed"], pick)
    row = rows.filter(kernel=step, policy=policy, seed=seed, metric="map_share").row(0, named=True)
    tag_share = float(policy.removeprefix("tags "))
    return predict_step(step, tag_share=tag_share, map_share=row["value"], seed=seed)


@kept("writeback-tags-swap-series", patch=PATCH, sample=_one_step)
def swap_series(progress: bool) -> pl.DataFrame:
    """Predict the swap series of 2017 with the three tag shares of the what-ifs (RESULTS)."""
    return predict_series(tag_shares=TOLD_SHARES, progress=progress)


@kept("writeback-tags-by-tag-share", patch=PATCH, sample=_one_pair_of_shares)
def by_tag_share(progress: bool) -> pl.DataFrame:
    """Predict the patch at each share of tags, with the series' map_share (PREDICTED_BY_SHARES)."""
    return predict_with_series_share(TAG_SHARES, progress=progress)


def headline_results(seeds: Sequence[int]) -> pl.DataFrame:
    """Simulate the mail's table, and the steps of the series, with the fits behind the headlines.

    Parameters
    ----------
    seeds : sequence of int
        Of the mail's table.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS.
    """
    series: pl.DataFrame = swap_series().filter(policy=f"tags {TAG_SHARE:g}")
    return pl.concat([predict(headline_fit().constants, seeds), series])


def headline_ranges() -> pl.DataFrame:
    """Say from where to where the mail's claims go: the series' share, tags as the benchmark says.

    Returns
    -------
    polars.DataFrame
        Schema RANGES.
    """
    return judged_ranges(with_tags_up_to(by_tag_share()))
