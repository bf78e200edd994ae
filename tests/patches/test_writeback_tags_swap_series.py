# SPDX-License-Identifier: GPL-2.0-or-later
"""The swap series of 2017: four kernels on one machine, and one share derived from the first."""

from dataclasses import fields, replace
from typing import Any

import polars as pl
import pytest

from swapsim.claims import results
from swapsim.claims.tables import RESULTS
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import Fitted
from swapsim.machine.life import live
from swapsim.machine.tables import FIT, SWAP_SERIES
from swapsim.patches import writeback_tags as patch
from swapsim.patches.writeback_tags import studies, swap_series
from swapsim.patches.writeback_tags.prediction import (
    LONGEST_TAGS_NS,
    MAP_SHARE,
    TAG_SHARE,
    TAG_SHARES,
    life_machine,
)


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run for a short time, with a converged fit for each share."""
    usual = swap_series.series_machine

    def tiny(step: str, **given: Any) -> MachineConfig:
        whole = usual(step, **given)
        return replace(whole, frames=whole.frames // 3, accesses=whole.accesses // 3)

    def fit(*, tag_share: float, map_share: float, constants: pl.DataFrame | None = None) -> Fitted:
        del tag_share, constants
        tree_ns = dict(costs().select("name", "value").iter_rows())["tree_ns"]
        constants = change_costs(costs(), {"map_ns": max(round(map_share * tree_ns), 1)})
        return Fitted(
            constants=constants, residuals=pl.DataFrame(schema=FIT.schema), converged=True
        )

    monkeypatch.setattr(swap_series, "series_machine", tiny)
    monkeypatch.setattr(swap_series.prediction, "fit", fit)
    monkeypatch.setattr(swap_series.prediction, "swapped_share", lambda _constants: 0.5)


def test_the_steps_add_what_the_series_adds() -> None:
    """First one lock for all, then the clusters', then the trunks', then caches of slots."""
    usual = life_machine(tags=False, swapped=0.5)
    steps = {step: swap_series.series_machine(step, swapped=0.5) for step in swap_series.STEPS}
    assert {one.writers for one in steps.values()} == {32}
    assert not any(one.swap_writeback_tags for one in steps.values())
    base, locks, trunks, caches = steps.values()
    changed = [field.name for field in fields(base) if getattr(base, field.name) != getattr(usual, field.name)]  # fmt: skip  # noqa: E501
    assert changed == ["writers", "accesses", "slots"]
    assert (base.writers * base.accesses) == (usual.writers * usual.accesses)
    assert base.kernel == "4.8"
    assert locks.slots >> locks.trunk_shift == 1
    assert replace(locks, trunk_shift=14) == trunks
    assert replace(trunks, slot_cache=True, exit_holds_device=False) == caches


@pytest.mark.usefixtures("_tiny")
def test_at_the_share_the_two_locks_have_the_ratio_of_the_series() -> None:
    """Below it tree_lock has more of the waiting than there, above it si->lock has."""
    share = patch.map_share_of_series(tag_share=0.1, seeds=[1])
    wanted = swap_series.figure_of("4.9-rc8", "tree_lock : si->lock")
    assert wanted == pytest.approx((13.94 + 13.75) / (7.05 + 7.03 + 7.02 + 6.83))
    ratios = [
        swap_series.metrics_of(
            "4.9-rc8",
            swap_series.prediction.fit(tag_share=0.1, map_share=factor * share).constants,
            swapped=0.5,
        )["tree_lock : si->lock"]
        for factor in (0.8, 1.25)
    ]
    assert ratios[0] > wanted > ratios[1]


@pytest.mark.usefixtures("_tiny")
def test_a_rate_is_that_of_a_complete_run() -> None:
    """Fill and exit count, so the rate is below that of the phase of swapping."""
    found = swap_series.metrics_of("patches 1-9", costs(), swapped=0.5)
    life = live(swap_series.series_machine("patches 1-9", swapped=0.5), costs())
    assert found["vmstat.swap.so"] == life.swap_out < life.metrics("swap")["swap_out"]
    rows = life.metrics("run")
    assert found["si->lock in get_swap_pages"] == rows["cycles.si_lock.get_swap_pages"]


@pytest.mark.usefixtures("_tiny")
def test_each_step_is_predicted_with_each_fit() -> None:
    """A fit for each share of tags, and the derived share with its rows."""
    predicted = patch.predict_series(0.1, seeds=[1])
    assert predicted.schema == RESULTS.schema
    assert predicted["kernel"].unique(maintain_order=True).to_list() == list(swap_series.STEPS)
    assert set(predicted["policy"]) == {"tags 0.1"}
    share = predicted.filter(metric="map_share")["value"].unique().to_list()
    step = swap_series.predict_step("patches 1-2", tag_share=0.1, map_share=share[0])
    assert predicted.filter(kernel="patches 1-2").equals(step)
    held = patch.compare_series(predicted)
    assert held["low"].equals(held["high"].alias("low"))


def predicted(swap_out: float, fit: str) -> pl.DataFrame:
    """Return RESULTS of the first step by hand."""
    labels = {"patch": patch.PATCH, "kernel": "4.9-rc8", "policy": fit, "n_tasks": 32, "seed": 1}
    return results([("vmstat.swap.so", swap_out, "KiB/s")], labels)


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ((1.40e6, 1.45e6), "holds"),
        ((1.45e6, 1.50e6), "near"),
        ((1.70e6, 1.80e6), "misses"),
        ((1.20e6, 1.70e6), "open"),
    ],
)
def test_a_rate_is_judged_by_fifteen_percent(ends: tuple[float, float], verdict: str) -> None:
    """The series has 1,428,002 KiB/s; what was not predicted has no verdict."""
    held = patch.compare_series(
        pl.concat(predicted(rate, f"tags {at}") for at, rate in enumerate(ends))
    )
    assert held.schema == SWAP_SERIES.schema
    rates = held.filter(step="4.9-rc8", metric="vmstat.swap.so").row(0, named=True)
    assert (rates["low"], rates["high"], rates["verdict"]) == (*ends, verdict)
    assert rates["tolerance"] == pytest.approx(0.15 * 1_428_002)
    others = held.filter(pl.col("metric") != "vmstat.swap.so")
    assert others["verdict"].null_count() == others.height
    assert held["fitted"].sum() == 2


def test_only_the_ratio_is_fitted() -> None:
    """Of the first kernel's two locks, what they are together is predicted."""
    held = patch.compare_series(predicted(1.4e6, "tags 0.1"))
    assert held.filter("fitted")["metric"].to_list() == ["tree_lock : si->lock", "map_share"]
    both = held.filter(metric="both locks").row(0, named=True)
    assert both["published"] == pytest.approx(55.62)
    assert both["tolerance"] == pytest.approx(0.131 * 55.62)


@pytest.mark.usefixtures("_tiny")
def test_the_patch_is_predicted_with_the_series_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each share of tags has the map_share that the series has with it."""
    given: list[tuple[float, float]] = []
    monkeypatch.setattr(swap_series.prediction, "predict_at_shares", given.append)
    monkeypatch.setattr(swap_series, "map_share_of_series", lambda *, tag_share: 2 * tag_share)
    swap_series.predict_with_series_share(0.1)
    assert given == [(0.1, 0.2)]


def test_the_headlines_share_is_that_of_the_series() -> None:
    """At the headlines' map share the two locks have the ratio of the series."""
    wanted = swap_series.figure_of("4.9-rc8", "tree_lock : si->lock")
    ratios = []
    for factor in (0.93, 1.07):
        fitted = patch.fit(tag_share=TAG_SHARE, map_share=factor * MAP_SHARE)
        assert fitted.converged
        swapped = swap_series.prediction.swapped_share(fitted.constants)
        found = swap_series.metrics_of("4.9-rc8", fitted.constants, swapped=swapped)
        ratios.append(found["tree_lock : si->lock"])
    assert ratios[0] > wanted > ratios[1]


def test_the_what_ifs_use_tag_holds_that_the_benchmark_allows() -> None:
    """The largest share of the grid below the bound, the least, and the headlines'."""
    least, middle, largest = studies.THREE_TAG_SHARES
    assert (least, middle) == (min(TAG_SHARES), TAG_SHARE)
    longer = TAG_SHARES[TAG_SHARES.index(largest) + 1]
    for share, allowed in ((largest, True), (longer, False)):
        found = patch.fit(tag_share=share, map_share=MAP_SHARE).constants
        tag_ns = found.filter(name="tag_ns")["value"].item()
        assert (tag_ns <= LONGEST_TAGS_NS) is allowed
