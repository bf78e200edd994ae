# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch A's notebook shows and takes long to run: kept in data/simulated."""

import math
from functools import partial
from typing import Final

import polars as pl

from swapsim.machine.what_if import MEMORY
from swapsim.patches.writeback_tags import questions
from swapsim.patches.writeback_tags.machines import PATCH
from swapsim.patches.writeback_tags.shares import fits_at, predict_by_shares
from swapsim.sweep import SerialExecutor
from swapsim.sweep.kept import kept, picked

TAG_SHARE: Final = 0.1
MAP_SHARE: Final = 0.2
"""Of what the base leaves open, the geometric middle: of 0.01 to 1, and of 0.05 to 0.8."""

THREE_SHARES: Final = ((0.01, MAP_SHARE), (TAG_SHARE, MAP_SHARE), (1.0, MAP_SHARE))
"""Pairs of ``tag_share`` and ``map_share``, behind each what-if: the ends of what the base leaves
open, and the middle."""


def _one_pair_of_shares(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    tag_share, map_share = picked(rows, ["tag_share", "map_share"], pick)
    return predict_by_shares(
        tag_shares=[tag_share], map_shares=[map_share], executor=SerialExecutor()
    )


@kept("writeback-tags-by-shares", patch=PATCH, sample=_one_pair_of_shares)
def by_shares(progress: bool) -> pl.DataFrame:
    """Predict the patch at each pair of shares that the base leaves open (PREDICTED_BY_SHARES)."""
    return predict_by_shares(progress=progress)


def _gain_at_one_number(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (writers,) = picked(rows, ["setting"], pick)
    return questions.gain_by_writers(
        fits_at(THREE_SHARES), [int(writers)], executor=SerialExecutor()
    )


@kept("writeback-tags-gain-by-writers", patch=PATCH, sample=_gain_at_one_number)
def gain_by_writers(progress: bool) -> pl.DataFrame:
    """Say what the patch gains by the number of writers, over three fits (WHAT_IF_RANGES)."""
    return questions.gain_by_writers(fits_at(THREE_SHARES), progress=progress)


def _gain_at_one_size(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (megabytes,) = picked(rows, ["setting"], pick)
    shift = round(math.log2(megabytes)) + 8
    return questions.gain_by_trunk_size(fits_at(THREE_SHARES), [shift], executor=SerialExecutor())


@kept("writeback-tags-gain-by-trunk-size", patch=PATCH, sample=_gain_at_one_size)
def gain_by_trunk_size(progress: bool) -> pl.DataFrame:
    """Say what the patch gains by the size of a trunk, over three fits (WHAT_IF_RANGES)."""
    return questions.gain_by_trunk_size(fits_at(THREE_SHARES), progress=progress)


def _gain_at_one_drive(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    (channels,) = picked(rows, ["setting"], pick)
    others = [int(channels)] if channels != MEMORY else []
    return questions.gain_by_drive(fits_at(THREE_SHARES), others, executor=SerialExecutor())


@kept("writeback-tags-gain-by-drive", patch=PATCH, sample=_gain_at_one_drive)
def gain_by_drive(progress: bool) -> pl.DataFrame:
    """Say what the patch gains by the drive's speed, over three fits (WHAT_IF_RANGES)."""
    return questions.gain_by_drive(fits_at(THREE_SHARES), progress=progress)


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
