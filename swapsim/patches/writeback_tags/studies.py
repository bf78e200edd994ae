# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch A, stored in data/simulated, and the headlines that use them."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Final

import polars as pl

from swapsim.claims.published import published_of
from swapsim.machine.costs import costs
from swapsim.machine.what_if import Case, Trial, by_constant, case_of, gain, ranges, trials
from swapsim.patches.writeback_tags import questions
from swapsim.patches.writeback_tags.fitting import MAP_SHARE, PATCH, TAG_SHARE, headline_fit
from swapsim.patches.writeback_tags.prediction import (
    MAP_SHARES,
    TAG_SHARES,
    fits_at,
    judged_ranges,
    predict,
    predict_at_shares,
    with_tags_up_to,
)
from swapsim.patches.writeback_tags.swap_series import (
    predict_series,
    predict_step,
    predict_with_series_share,
)
from swapsim.study import Study, picked
from swapsim.study.constants import Moved, ends

THREE_TAG_SHARES: Final = (0.01, TAG_SHARE, 0.2)
"""Of TAG_SHARES the least, the middle and the largest whose holds a benchmark allows
(`prediction.LONGEST_TAGS_NS`)."""

_study = partial(Study, reads=("costs.csv", partial(published_of, PATCH)))
_gains = partial(_study, run=gain, group=case_of, reduce=ranges)


def _predict_again(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    return predict_at_shares(picked(rows, ["tag_share", "map_share"], pick))


by_shares: Final = _study(
    name="writeback-tags-by-shares",
    points=tuple(product(TAG_SHARES, MAP_SHARES)),
    run=predict_at_shares,
)
"""The patch predicted at each pair of shares that the base leaves open (PREDICTED_BY_SHARES)."""


def _with_three_fits(cases: Callable[[], list[Case]]) -> list[Trial]:
    return trials(cases(), fits_at((tag_share, MAP_SHARE) for tag_share in THREE_TAG_SHARES))


gain_by_writers: Final = _gains(
    name="writeback-tags-gain-by-writers",
    points=partial(_with_three_fits, questions.cases_by_writers),
)
"""The gain by the number of writers, over three fits (WHAT_IF_RANGES)."""

gain_by_trunk_size: Final = _gains(
    name="writeback-tags-gain-by-trunk-size",
    points=partial(_with_three_fits, questions.cases_by_trunk_size),
)
"""The gain by the size of a trunk, over three fits (WHAT_IF_RANGES)."""

gain_by_drive: Final = _gains(
    name="writeback-tags-gain-by-drive",
    points=partial(_with_three_fits, questions.cases_by_drive),
)
"""The gain by a drive's latency and queue, over three fits (WHAT_IF_RANGES)."""


def _ends() -> list[Moved]:
    return ends(costs(), questions.OTHER_COSTS)


gain_by_constant: Final = _study(
    name="writeback-tags-gain-by-constant",
    points=_ends,
    run=questions.gain_at_end,
    group=lambda moved: moved.constant,
    reduce=by_constant,
)
"""The gain with each assumed constant at its low and high, the base fitted again (SENSITIVITY)."""


def _one_step(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    """Predict a step with the share that was found: the search for it takes long."""
    step, policy, seed = picked(rows, ["kernel", "policy", "seed"], pick)
    row = rows.filter(kernel=step, policy=policy, seed=seed, metric="map_share").row(0, named=True)
    tag_share = float(policy.removeprefix("tags "))
    return predict_step(step, tag_share=tag_share, map_share=row["value"], seed=seed)


swap_series: Final = _study(
    name="writeback-tags-swap-series",
    points=THREE_TAG_SHARES,
    run=predict_series,
    sample=_one_step,
)
"""The swap series of 2017 predicted with the three tag shares of the what-ifs (RESULTS)."""

by_tag_share: Final = _study(
    name="writeback-tags-by-tag-share",
    points=TAG_SHARES,
    run=predict_with_series_share,
    sample=_predict_again,
)
"""The patch predicted at each share of tags, with the series' map_share (PREDICTED_BY_SHARES)."""


def headline_results(seeds: Sequence[int]) -> pl.DataFrame:
    """Simulate the mail's table with some seeds, and add the steps of the series (RESULTS)."""
    series = swap_series().filter(policy=f"tags {TAG_SHARE:g}")
    return pl.concat([predict(headline_fit().constants, seeds), series])


def headline_ranges() -> pl.DataFrame:
    """Return the range of each of the mail's claims (RANGES).

    The map share is that of the series, and tags are held as long as the benchmark allows.
    """
    return judged_ranges(with_tags_up_to(by_tag_share()))
