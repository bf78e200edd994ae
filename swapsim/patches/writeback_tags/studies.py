# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch A, stored in data/simulated, their cases, and the headlines of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Final

import polars as pl

from swapsim.ffi import FRAMES_KEPT
from swapsim.machine.constants import Moved, change_costs, costs, ends
from swapsim.machine.fitting import Fitted
from swapsim.machine.running import TABLE_SEEDS
from swapsim.patches import what_if
from swapsim.patches.writeback_tags import fits, prediction
from swapsim.published.data import published_of
from swapsim.study import Study

OTHER_COSTS: Final = tuple(
    f"{name}_ns"
    for name in (
        *("travel_same_socket", "travel_other_socket", "irq_save", "fault", "touch", "reference"),
        *("copy", "transfer", "descent", "slot", "device", "test", "avail", "lru_page"),
        "zone_page",
    )
)
"""The constants that patch A's test uses and its fit does not change."""

POLICIES: Final = {kernel: {"tags": tags} for kernel, tags in prediction.KERNELS.items()}
"""The mail's kernels, in the what-ifs."""

_USUAL: Final = prediction.machine(tags=True)


def _writers(count: int) -> str:
    return f"{count} writers" if count > 1 else "1 writer"


def by_writers(writers: Sequence[int] = what_if.CPUS) -> list[what_if.Case]:
    """Return patch A's test with other numbers of writers, on its two sockets.

    More writers have more memory, all of whose pages go out twice before a window begins.
    """
    return [
        what_if.Case(
            what_if.at(count, _writers(count)),
            replace(
                _USUAL,
                writers=count,
                frames=_frames(count),
                slots=2**22,
                warmup_ns=_WARMUP_NS * _frames(count) // _USUAL.frames,
            ),
        )
        for count in writers
    ]


_WARMUP_NS: Final = 400_000_000
"""In which the mail's eight writers write their memory two and a half times."""


def by_trunk_size() -> list[what_if.Case]:
    """Return patch A's test on 5.8, which has a lock per trunk."""
    return what_if.by_trunk_size(replace(_USUAL, kernel="5.8"))


def _frames(tasks: int) -> int:
    """Return pages for a node's memory, more than its CPUs cache."""
    per_node = -(-tasks // _USUAL.nodes) + 1
    return max(_USUAL.frames, 4 * FRAMES_KEPT * per_node)


THREE_TAG_SHARES: Final = (0.01, prediction.TAG_SHARE, 0.5)
"""Of TAG_SHARES the least, the middle and the largest whose holds a benchmark allows
(LONGEST_TAGS_NS)."""

_study = partial(Study, reads=("costs.csv", partial(published_of, prediction.PATCH)))
_fits = partial(_study, run=fits.predict_at_shares, sample=fits.again)

three_fits: Final = _fits(
    name="writeback-tags-three-fits",
    points=tuple((tag_share, prediction.MAP_SHARE) for tag_share in THREE_TAG_SHARES),
)
"""The fits of the what-ifs; that at TAG_SHARE gives the headlines."""

by_shares: Final = _fits(
    name="writeback-tags-by-shares",
    points=tuple(product(prediction.TAG_SHARES, prediction.MAP_SHARES)),
)
"""The fit and its prediction at each pair of shares that the base leaves open."""

by_tag_share: Final = _study(
    name="writeback-tags-by-tag-share",
    points=prediction.TAG_SHARES,
    run=fits.predict_at_tag_share,
    sample=fits.again,
)
"""The fit and its prediction at each share of tags, with its `map_share_at`."""


def headline_fit() -> Fitted:
    """Return the stored fit of the base with TAG_SHARE and MAP_SHARE."""
    return fits.of_rows(three_fits.load().filter(tag_share=prediction.TAG_SHARE)).popitem()[1]


def predict_headline(point: tuple[str, int]) -> pl.DataFrame:
    """Predict one of the mail's kernels with one seed and the headline fit (RESULTS)."""
    kernel, seed = point
    rows = three_fits.load().filter(tag_share=prediction.TAG_SHARE)
    (name, fitted) = fits.of_rows(rows).popitem()
    swapped = fits.swapped_of(rows, name)
    return prediction.predict_kernel(kernel, fitted.constants, swapped=swapped, seed=seed)


headline: Final = _study(
    name="writeback-tags-headline",
    points=tuple((kernel, seed) for seed in TABLE_SEEDS for kernel in prediction.KERNELS),
    run=predict_headline,
)
"""The table of the mail predicted with the headline fit (RESULTS)."""


def _with_three_fits(cases: Callable[[], list[what_if.Case]]) -> list[what_if.Trial]:
    found = fits.of_rows(three_fits.load())
    constants = {name: fit.constants for name, fit in found.items()}
    return what_if.trials(cases(), constants, POLICIES, (1, 2))


_gains = partial(_study, run=partial(what_if.report, "swap_out"))

gain_by_writers: Final = _gains(
    name="writeback-tags-gain-by-writers",
    points=partial(_with_three_fits, by_writers),
    quick=lambda trial: trial.machine.writers <= 16,
)
gain_by_trunk_size: Final = _gains(
    name="writeback-tags-gain-by-trunk-size", points=partial(_with_three_fits, by_trunk_size)
)
gain_by_drive: Final = _gains(
    name="writeback-tags-gain-by-drive",
    points=partial(_with_three_fits, partial(what_if.by_drive, _USUAL)),
)


def _ends() -> list[Moved]:
    return ends(costs(), OTHER_COSTS)


def fit_at_end(moved: Moved) -> pl.DataFrame:
    """Fit the base again with a constant at an end of its range, and predict both kernels."""
    return fits.predict_at_shares(
        (prediction.TAG_SHARE, prediction.MAP_SHARE),
        name=moved.label,
        seeds=(1,),
        constants=change_costs(costs(), {moved.constant: moved.value}),
    )


fits_by_constant: Final = _study(
    name="writeback-tags-fits-by-constant", points=_ends, run=fit_at_end, sample=fits.again
)
"""The headline fit with each assumed constant at its low and at its high."""


def _at_ends() -> list[what_if.Trial]:
    found = fits.of_rows(fits_by_constant.load())
    constants = {name: fit.constants for name, fit in found.items()}
    return what_if.at_ends(lambda _: _USUAL, constants, POLICIES, (1, 2))


EDGE_SHARES: Final = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
"""``map_ns / tree_ns`` at which the waits for si->lock are looked at."""

CONTENDED_NS: Final = (0, 20, 118)
"""What a contended critical section takes longer: nothing, a write to a line that another CPU polls
(tests/bench/polled_line.c), and a transfer from the other socket."""


def at_the_edge(point: tuple[int, float]) -> pl.DataFrame:
    """Fit the base with a ``contended_ns`` and a map share; return waits, rate and 2017's ratio.

    The waits are those for tree_lock and si->lock in percent of cycles, with tags and without. A
    base that cannot be met has no rows.
    """
    contended, map_share = point
    fitted, swapped = prediction.fit_and_share(
        prediction.TAG_SHARE, map_share, contended_ns=contended
    )
    names = {"contended_ns": contended, "map_share": map_share}
    ratio = prediction.ratio_of_locks(fitted.constants, swapped=swapped, contended_ns=contended)
    rows = [{**names, "tags": False, "seed": 1, "metric": "ratio of 2017", "value": ratio}]
    for tags, seed in product((True, False), (1, 2)):
        config = prediction.life_machine(
            tags=tags, swapped=swapped, contended_ns=contended, seed=seed
        )
        value = prediction.reported(config, fitted.constants)
        found = {
            "tree_lock": prediction.waits(value, prediction.TREE_ROWS),
            "si->lock": prediction.waits(value, prediction.DEVICE_SITES),
            prediction.THROUGHPUT: value[prediction.THROUGHPUT],
        }
        rows += [
            {**names, "tags": tags, "seed": seed, "metric": metric, "value": one}
            for metric, one in found.items()
        ]
    return pl.DataFrame(rows).clear() if not fitted.converged else pl.DataFrame(rows)


edge: Final = _study(
    name="writeback-tags-edge", points=tuple(product(CONTENDED_NS, EDGE_SHARES)), run=at_the_edge
)
"""Waits for si->lock by map share, with critical sections that lengthen under contention."""

gain_by_constant: Final = _gains(name="writeback-tags-gain-by-constant", points=_at_ends)
"""The gain with each assumed constant at its low and high, the base fitted again."""
