# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A: its machine, what it is fitted to, its predictions, and the cases of its what-ifs."""

from dataclasses import fields
from functools import partial
from typing import Any

import polars as pl
import pytest

from swapsim import published
from swapsim.machine.config import Machine
from swapsim.machine.constants import LONGEST_TAGS_NS, change_costs, costs, costs_by_name
from swapsim.machine.fitting import Fitted, residuals
from swapsim.patches import common
from swapsim.patches import writeback_tags as patch
from swapsim.published.data import RESULTS, published_tables


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit in one step to any tolerance, and predict, in a short run on a small device."""
    usual = patch.machine

    def tiny(**given: Any) -> Machine:
        return usual(**given).replace(frames=2**13, slots=2**17, duration_ns=10_000_000)

    monkeypatch.setattr(patch, "machine", tiny)
    monkeypatch.setattr(patch, "fit_costs", partial(patch.fit_costs, rounds=1, tolerance=9))


def headline() -> tuple[pl.DataFrame, dict[str, int], float]:
    """Return the rows of the stored fit at the usual shares, its costs, and its share swapped."""
    rows = patch.three_fits.load().filter(tag_share=patch.TAG_SHARE)
    ((_, found),) = patch.fitted_costs(rows).items()
    return rows, found, rows.filter(metric=patch.SWAPPED)["value"].item()


def test_the_fit_is_to_the_base_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stored fit meets the base, with targets that a mail without the patched column has."""
    wanted = patch.targets()
    base = published_tables().filter(pl.col("kernel").is_in(["base", "before"]))
    monkeypatch.setattr(common, "published_tables", lambda: base)
    common._base_column.cache_clear()
    assert patch.targets() == wanted
    rows, found, _ = headline()
    for target in wanted:
        met = rows.filter(metric=f"met: {target.name}")["value"].item()
        assert met == pytest.approx(target.wanted, rel=0.011)
    for name, share in (("tag_ns", patch.TAG_SHARE), ("map_ns", patch.MAP_SHARE)):
        assert found[name] == pytest.approx(share * found["tree_ns"], abs=1)


def test_a_complete_run_has_the_two_rates_of_the_mail() -> None:
    """The share of pages swapped out makes the exit's part of swap.so that of the mail."""
    _, found, _ = headline()
    swapped = patch.swapped_share(found)
    base, patched = (
        patch.reported(patch.life(found, swapped, tags=tags)) for tags in (True, False)
    )
    assert base["vm-scalability.throughput"] == pytest.approx(2_506_952, rel=0.011)
    assert base["vmstat.swap.so"] == pytest.approx(1_207_402, rel=0.015)
    assert base["swapped"] == pytest.approx(swapped, rel=0.02)
    # The exit does not get faster, so the gain of swap.so is the smaller one.
    gains = [patched[metric] / base[metric] for metric in list(base)[:2]]
    assert gains[0] > gains[1] > 1


@pytest.mark.usefixtures("_tiny")
def test_each_figure_of_the_mail_has_its_row() -> None:
    """Two rates and four lock rows, from base to base+patch, and si->lock, which has none."""
    swapped = patch.swapped_share({})
    found = pl.concat(patch.predict(kernel, {}, swapped, seed=1) for kernel in patch.KERNELS)
    assert found.schema == RESULTS.schema
    printed = published.table("A", "lkp comparison")["metric"].to_list()
    assert set(found["metric"]) == {*printed[:-1], "si->lock"}
    ends = found.filter(pl.col("metric").str.contains("page_writeback"), kernel="base+patch")
    assert set(ends["value"]) == {0.0}


@pytest.mark.usefixtures("_tiny")
def test_a_stored_fit_is_the_fit_and_predicts_the_same() -> None:
    """Costs and predictions of a fit come back from its rows; a sample is a part."""
    points = pl.concat(map(patch.predict_at_shares, [(0.05, 0.2), (0.5, 0.2)]))
    stored = patch.fitted_costs(points)
    assert list(stored) == ["tags 0.05, map 0.2", "tags 0.5, map 0.2"]
    fitted, _ = patch.fit_and_share(0.5, 0.2)
    own = stored["tags 0.5, map 0.2"]
    assert change_costs(costs(), own)["value"].equals(fitted.constants["value"])
    tree_ns = (costs_by_name() | own)["tree_ns"]
    assert own["tag_ns"] == pytest.approx(0.5 * tree_ns, abs=1)
    for pick in (0, 7):
        sample = patch.again(points, pick)
        assert sample.height == 7
        assert sample.join(points, on=points.columns, nulls_equal=True).height == 7


def test_at_the_map_share_two_locks_have_the_ratio_of_another_mail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Below it tree_lock has more of the waiting than there, above it si->lock has."""
    usual, tree_ns = patch.life, costs_by_name()["tree_ns"]

    def tiny(*given: Any, **more: Any) -> Machine:
        whole = usual(*given, **more)
        return whole.replace(frames=whole.frames // 3, accesses=whole.accesses // 3)

    def at_share(map_share: float) -> dict[str, int]:
        return {"map_ns": round(map_share * tree_ns)}

    def fit(_: float, map_share: float) -> tuple[Fitted, float]:
        table = change_costs(costs(), at_share(map_share))
        return Fitted(constants=table, residuals=residuals([]), converged=True), 0.5

    monkeypatch.setattr(patch, "life", tiny)
    monkeypatch.setattr(patch, "fit_and_share", fit)
    share = patch.map_share_at(0.1)
    low, high = (patch.ratio_of_locks(at_share(factor * share), 0.5) for factor in (0.8, 1.25))
    assert low > patch.RATIO_OF_LOCKS > high


def test_the_headlines_map_share_is_the_one_found_for_them() -> None:
    """And the shares of tags in the what-ifs are the least, theirs, and the largest allowed."""
    rows = patch.by_tag_share.load()
    found = rows.filter(tag_share=patch.TAG_SHARE)["map_share"].unique()
    assert found.to_list() == [pytest.approx(patch.MAP_SHARE, rel=0.07)]
    least, middle, largest = patch.THREE_TAG_SHARES
    assert (least, middle) == (min(patch.TAG_SHARES), patch.TAG_SHARE)
    short = rows.filter(pl.col("metric") == "tag_ns", pl.col("value") <= LONGEST_TAGS_NS)
    assert short["tag_share"].max() == largest


def test_the_fitted_ratio_is_not_met() -> None:
    """In no fit of the what-ifs is it half of the mail's, however long critical sections are."""
    rows = patch.by_tag_share.load()
    for share in patch.THREE_TAG_SHARES:
        own = rows.filter(tag_share=share)
        ((_, found),) = patch.fitted_costs(own).items()
        swapped = own.filter(metric=patch.SWAPPED)["value"].item()
        assert patch.ratio_of_locks(found, swapped, seed=2) < patch.RATIO_OF_LOCKS / 2
    ratios = patch.edge.load().filter(metric="ratio of 2017")["value"]
    apart = ratios / patch.RATIO_OF_LOCKS
    assert ((apart > 1.5) | (apart < 1 / 1.5)).all()


def test_the_wait_for_another_lock_jumps_between_two_map_shares() -> None:
    """By more than 5 points in a step, with critical sections of any kind."""
    rows = patch.edge.load().filter(metric="si->lock", tags=False)
    means = rows.group_by("contended_ns", "map_share", maintain_order=True).agg(
        pl.col("value").mean()
    )
    steps = means.group_by("contended_ns", maintain_order=True).agg(pl.col("value").diff().max())
    assert steps["contended_ns"].to_list() == list(patch.CONTENDED_NS)
    assert (steps["value"] > 5).all()


def differing(one: Machine, other: Machine) -> set[str]:
    """Return the fields in which two machines differ."""
    names = [field.name for field in fields(one) if field.init]
    return {name for name in names if getattr(one, name) != getattr(other, name)}


def test_cases_differ_by_the_patch_alone() -> None:
    """Within a case only the tags differ, between cases what is asked and the memory for it."""
    usual = patch.machine()
    for cases, changed in (
        (patch.by_writers(), {"writers", "frames", "slots", "warmup_ns"}),
        (common.by_drive(patch._SETTLED), {"channels", "costs", "warmup_ns"}),
        (patch.by_trunk_size(), {"kernel", "trunk_shift", "warmup_ns"}),
    ):
        for case in cases:
            assert differing(case[1], usual) <= changed
            (_, base), (_, patched) = common.trials([case], {"a": {}}, patch.POLICIES, [1])
            assert base.tags
            assert differing(base, case[1]) == set()
            assert differing(base, patched) == {"tags"}
        assert len({names["label"] for names, _ in cases}) == len(cases)
    for _, config in patch.by_writers():  # all of memory is written twice before the window
        assert config.warmup_ns / config.frames == pytest.approx(4e8 / 2**15)
