# SPDX-License-Identifier: GPL-2.0-or-later
"""What each change of the machine does to every figure of patch A's mail and of the swap series.

The changes are cumulative, in the order of data/published/README.md; the machine of all other
results has the first two. Each has its own fit of patch A's base and its own map share, at
TAG_SHARE.
"""

from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.claims import results
from swapsim.errors import InputError
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import base_figure
from swapsim.machine.run import labels
from swapsim.machine.tables import EFFECTS
from swapsim.patches.writeback_tags import prediction, swap_series

_CHEAP_NS: Final = 20
"""``map_next_ns`` of a map line that is in the CPU's cache (data/costs.csv, its low)."""

_THREE_LINES_NS: Final = 240
"""``device_ns`` if a hold of si->lock fetches three lines, each of either socket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One state of the machine: its costs that differ, and whether an exit holds si->lock."""

    costs: dict[str, int]
    exit_holds_device: bool = True


CHANGES: Final = {
    "complete life": Change(costs={}, exit_holds_device=False),
    "exit holds si->lock": Change(costs={}),
    "further looks cheap": Change(costs={"map_next_ns": _CHEAP_NS}),
    "three lines of the device": Change(
        costs={"map_next_ns": _CHEAP_NS, "device_ns": _THREE_LINES_NS}
    ),
    "zone_page_ns 100": Change(
        costs={"map_next_ns": _CHEAP_NS, "device_ns": _THREE_LINES_NS, "zone_page_ns": 100}
    ),
}
"""Change -> the machine with it and with all before it. The first two are part of the machine; the
others were tried, and improve some rows and spoil others."""


def effects(change: str) -> pl.DataFrame:
    """Predict all figures with one of CHANGES (RESULTS; policy names the change).

    The map share of each change is a metric of the series' base.
    """
    return effects_at(
        change,
        swap_series.map_share_of_series(tag_share=prediction.TAG_SHARE, constants=_table(change)),
    )


def effects_at(change: str, map_share: float, *, seed: int = 1) -> pl.DataFrame:
    """Return `effects` with a map share that is known."""
    table, state = _table(change), CHANGES[change]
    fitted = prediction.fit(tag_share=prediction.TAG_SHARE, map_share=map_share, constants=table)
    swapped = prediction.swapped_share(fitted.constants)
    frames = []
    for kernel, tags in (("base", True), ("base+patch", False)):
        config = prediction.life_machine(tags=tags, swapped=swapped, seed=seed)
        value = prediction.reported(config, fitted.constants, kernel)
        names = {f"cycles.{site}": row for site, row in prediction.TREE_ROWS.items()}
        rows = [
            (names.get(metric, metric), figure, "% of cycles" if metric in names else "KiB/s")
            for metric, figure in value.items()
            if metric in names or not metric.startswith("cycles.")
        ]
        frames.append(results(rows, labels(config, kernel=kernel, policy=change)))
    for step in swap_series.STEPS:
        config = swap_series.series_machine(
            step, swapped=swapped, seed=seed, exit_holds_device=state.exit_holds_device
        )
        series = [
            (metric, figure, swap_series.UNITS.get(metric, "% of cycles"))
            for metric, figure in swap_series.metrics_of_machine(
                step, config, fitted.constants
            ).items()
        ]
        if step == swap_series.BASE:
            series.append(("map_share", map_share, "of tree_ns"))
        frames.append(results(series, labels(config, kernel=step, policy=change)))
    return pl.concat(frames)


def _table(change: str) -> pl.DataFrame:
    if change not in CHANGES:
        raise InputError(f"{change!r}: choose one of {', '.join(CHANGES)}", field="change")
    return change_costs(costs(), CHANGES[change].costs)


def compare_effects(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each figure of both mails with its prediction after each change.

    ``rows`` are those of `effects`. Patch A's two gains are rows of their own, in percent.

    Returns
    -------
    polars.DataFrame
        Schema EFFECTS, a row per figure and change.
    """
    gains = (
        rows.filter(pl.col("metric").is_in([prediction.THROUGHPUT, prediction.SWAP_OUT]))
        .filter(pl.col("kernel").is_in(["base", "base+patch"]))
        .pivot("kernel", index=["metric", "policy"], values="value", maintain_order=True)
        .select(
            kernel=pl.lit("base+patch"),
            metric=pl.format("gain of {}", "metric"),
            change="policy",
            published=pl.col("metric").replace_strict(
                {name: _published_gain(name) for name in _RATES}
            ),
            simulated=100 * (pl.col("base+patch") / pl.col("base") - 1),
        )
    )
    figures = rows.filter(pl.col("metric") != "map_share").select(
        "kernel",
        "metric",
        change="policy",
        published=pl.struct("kernel", "metric").map_elements(
            lambda row: _published(row["kernel"], row["metric"]), return_dtype=pl.Float64
        ),
        simulated="value",
    )
    return EFFECTS.check(pl.concat([gains, figures]).select(EFFECTS.names()))


_RATES: Final = (prediction.THROUGHPUT, prediction.SWAP_OUT)


def _published(kernel: str, metric: str) -> float:
    if kernel in swap_series.STEPS:
        return swap_series.figure_of(kernel, metric)
    return base_figure(prediction.PATCH, kernel, metric)


def _published_gain(metric: str) -> float:
    base, patched = (_published(kernel, metric) for kernel in ("base", "base+patch"))
    return 100 * (patched / base - 1)
