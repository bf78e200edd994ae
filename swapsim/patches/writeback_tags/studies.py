# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch A, stored in data/simulated, their cases, and the headlines of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from swapsim import claims
from swapsim.claims.published import published_of
from swapsim.ffi import FRAMES_KEPT
from swapsim.machine import what_if
from swapsim.machine.costs import costs
from swapsim.machine.summary import claim_figures
from swapsim.patches.writeback_tags import effects, prediction
from swapsim.patches.writeback_tags.swap_series import (
    predict_series,
    predict_step,
    predict_with_series_share,
)
from swapsim.study import Study, picked
from swapsim.study.constants import Moved, ends

OTHER_COSTS: Final = tuple(
    f"{name}_ns"
    for name in (
        *("travel_same_socket", "travel_other_socket", "irq_save", "fault", "touch", "reference"),
        *("copy", "transfer", "descent", "slot", "device", "test", "avail", "lru_page"),
        "zone_page",
    )
)
"""The constants that patch A's test uses and its fit does not change."""


def _writers(count: int) -> str:
    return f"{count} writers" if count > 1 else "1 writer"


def cases_by_writers(writers: Sequence[int] = what_if.CPUS) -> list[what_if.Case]:
    """Return patch A's test with other numbers of writers, on its two sockets."""
    return [
        _case("cpus", count, _writers(count), writers=count, frames=_frames(count))
        for count in writers
    ]


def cases_by_trunk_size(shifts: Sequence[int] = what_if.TRUNK_SHIFTS) -> list[what_if.Case]:
    """Return patch A's test on 5.8, which has a lock per trunk, with and without tags."""
    return [
        _case(
            "trunk",
            2 ** (shift - 8),
            f"{2 ** (shift - 8)} MB a trunk",
            kernel="5.8",
            trunk_shift=shift,
        )
        for shift in shifts
    ]


def cases_by_drive() -> list[what_if.Case]:
    """Return patch A's test on drives of several latencies and queue depths, and on memory."""
    return what_if.on_drives(_case)


def gain_at_end(moved: Moved) -> pl.DataFrame:
    """Return the gain of the mail's test with a constant at an end of its range (WHAT_IF)."""
    (case,) = cases_by_writers([8])
    return what_if.at_end(
        moved,
        partial(prediction.fit, tag_share=prediction.TAG_SHARE, map_share=prediction.MAP_SHARE),
        case,
    )


def _frames(tasks: int) -> int:
    """Return pages for a node's memory, more than its CPUs cache."""
    usual = prediction.machine(tags=True)
    per_node = -(-tasks // usual.nodes) + 1
    return max(usual.frames, 4 * FRAMES_KEPT * per_node)


def _case(
    factor: str,
    setting: float,
    label: str,
    *,
    costs: Mapping[str, int] = MappingProxyType({}),
    **fields: Any,
) -> what_if.Case:
    base, patched = (replace(prediction.machine(tags=tags), **fields) for tags in (True, False))
    return what_if.Case(
        factor=factor, setting=setting, label=label, base=base, patched=patched, costs=dict(costs)
    )


THREE_TAG_SHARES: Final = (0.01, prediction.TAG_SHARE, 0.5)
"""Of TAG_SHARES the least, the middle and the largest whose holds a benchmark allows
(LONGEST_TAGS_NS)."""

_study = partial(Study, reads=("costs.csv", partial(published_of, prediction.PATCH)))
_gains = partial(_study, run=what_if.gain, group=what_if.case_of, reduce=what_if.ranges)


def _predict_again(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    return prediction.predict_at_shares(picked(rows, ["tag_share", "map_share"], pick))


by_shares: Final = _study(
    name="writeback-tags-by-shares",
    points=tuple(product(prediction.TAG_SHARES, prediction.MAP_SHARES)),
    run=prediction.predict_at_shares,
)
"""The patch predicted at each pair of shares that the base leaves open (PREDICTED_BY_SHARES)."""


def _with_three_fits(cases: Callable[[], list[what_if.Case]]) -> list[what_if.Trial]:
    return what_if.trials(
        cases(),
        prediction.fits_at((tag_share, prediction.MAP_SHARE) for tag_share in THREE_TAG_SHARES),
    )


gain_by_writers: Final = _gains(
    name="writeback-tags-gain-by-writers", points=partial(_with_three_fits, cases_by_writers)
)
"""The gain by the number of writers, over three fits (WHAT_IF_RANGES)."""

gain_by_trunk_size: Final = _gains(
    name="writeback-tags-gain-by-trunk-size", points=partial(_with_three_fits, cases_by_trunk_size)
)
"""The gain by the size of a trunk, over three fits (WHAT_IF_RANGES)."""

gain_by_drive: Final = _gains(
    name="writeback-tags-gain-by-drive", points=partial(_with_three_fits, cases_by_drive)
)
"""The gain by a drive's latency and queue, over three fits (WHAT_IF_RANGES)."""


def _ends() -> list[Moved]:
    return ends(costs(), OTHER_COSTS)


gain_by_constant: Final = _study(
    name="writeback-tags-gain-by-constant",
    points=_ends,
    run=gain_at_end,
    group=lambda moved: moved.constant,
    reduce=what_if.by_constant,
)
"""The gain with each assumed constant at its low and high, the base fitted again (SENSITIVITY)."""


def _one_step(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    """Predict a step with the share that was found: the search for it takes long."""
    step, policy, seed = picked(rows, ["kernel", "policy", "seed"], pick)
    row = rows.filter(kernel=step, policy=policy, seed=seed, metric="map_share").row(0, named=True)
    tag_share = float(policy.removeprefix("tags "))
    return predict_step(step, tag_share=tag_share, map_share=row["value"], seed=seed)


swap_series: Final = _study(
    name="writeback-tags-swap-series", points=THREE_TAG_SHARES, run=predict_series, sample=_one_step
)
"""The swap series of 2017 predicted with the three tag shares of the what-ifs (RESULTS)."""


def _one_change(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    """Predict all figures of a change with the map share that was found for it."""
    (change,) = picked(rows, ["policy"], pick)
    share = rows.filter(policy=change, metric="map_share").row(0, named=True)["value"]
    return effects.effects_at(change, share)


machine_effects: Final = _study(
    name="writeback-tags-machine-effects",
    points=tuple(effects.CHANGES),
    run=effects.effects,
    sample=_one_change,
)
"""All figures of both mails after each change of the machine (RESULTS)."""

by_tag_share: Final = _study(
    name="writeback-tags-by-tag-share",
    points=prediction.TAG_SHARES,
    run=predict_with_series_share,
    sample=_predict_again,
)
"""The patch predicted at each share of tags, with the series' map_share (PREDICTED_BY_SHARES)."""


def simulated_claims() -> pl.DataFrame:
    """Return the figures of the mail's claims, and of the series' (SIMULATED_CLAIMS).

    The ranges are over the shares of tags that a benchmark allows, each with the series' map share.
    """
    of_mail = claim_figures(
        prediction.with_tags_up_to(by_tag_share()), pl.col("tag_share") == prediction.TAG_SHARE
    )
    stated = claims.published_claims().filter(~pl.col("claim").is_in(of_mail["claim"].implode()))
    of_series = claims.simulated_claims(
        stated.filter(patch=prediction.PATCH),
        swap_series(),
        over="policy",
        at=f"tags {prediction.TAG_SHARE:g}",
    )
    return pl.concat([of_mail, of_series])


def headline_ranges() -> pl.DataFrame:
    """Return the range of each of the mail's claims (RANGES).

    The map share is that of the series, and tags are held as long as the benchmark allows.
    """
    return prediction.judged_ranges(prediction.with_tags_up_to(by_tag_share()))
