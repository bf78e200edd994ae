# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions of patch A: the mail's table, a range over what the base leaves open, the verdict."""

from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl
import pytest

from swapsim import published
from swapsim.errors import InputError
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs, costs_by_name
from swapsim.machine.fitting import Fitted, residuals
from swapsim.patches import writeback_tags as patch
from swapsim.patches.writeback_tags import fits, prediction
from swapsim.published.data import RESULTS


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit in one step to any tolerance, and predict, in a short run on a small device."""
    usual = patch.machine

    def tiny(**given: Any) -> Machine:
        return replace(usual(**given), frames=2**13, slots=2**17, duration_ns=10_000_000)

    monkeypatch.setattr(prediction, "machine", tiny)
    monkeypatch.setattr(
        prediction, "fit_machine", partial(prediction.fit_machine, rounds=1, tolerance=9)
    )


def predict(constants: pl.DataFrame) -> pl.DataFrame:
    """Return the prediction of both kernels with two seeds."""
    swapped = prediction.swapped_share(constants)
    return pl.concat(
        prediction.predict_kernel(kernel, constants, swapped=swapped, seed=seed)
        for seed in (1, 2)
        for kernel in prediction.KERNELS
    )


@pytest.mark.usefixtures("_tiny")
def test_each_figure_of_patch_a_has_its_row() -> None:
    """Two rates and four lock rows, from base to base+patch, and si->lock, which has none."""
    results = predict(costs())
    assert results.schema == RESULTS.schema
    assert results.height == 2 * 2 * 7
    printed = published.table("A", "lkp comparison")["metric"].to_list()
    assert set(results["metric"]) == {*printed[:-1], "si->lock"}
    ends = results.filter(pl.col("metric").str.contains("page_writeback"), kernel="base+patch")
    assert set(ends["value"]) == {0.0}


def test_no_seed_is_refused() -> None:
    """A prediction needs a seed."""
    with pytest.raises(InputError, match="seeds"):
        fits.predict_at_shares((0.2, 0.2), seeds=[])


@pytest.mark.usefixtures("_tiny")
def test_a_stored_fit_is_the_fit_and_predicts_the_same() -> None:
    """Constants, figures and predictions of a fit come back from its rows; a sample is a part."""
    points = pl.concat(map(fits.predict_at_shares, [(0.05, 0.2), (0.5, 0.2)]))
    assert list(fits.of_rows(points)) == ["tags 0.05, map 0.2", "tags 0.5, map 0.2"]
    fitted, _ = prediction.fit_and_share(0.5, 0.2)
    stored = fits.of_rows(points)["tags 0.5, map 0.2"]
    assert stored == replace(
        fitted, constants=stored.constants, residuals=stored.residuals, converged=True
    )
    assert stored.constants.equals(fitted.constants)
    assert stored.residuals.equals(fitted.residuals)
    value = costs_by_name(fitted.constants)
    assert value["tag_ns"] == pytest.approx(0.5 * value["tree_ns"], abs=1)
    predicted = points.filter(pl.col("unit").is_in(["KiB/s", "% of cycles"]), tag_share=0.5)
    keys = ["kernel", "seed"]
    columns = [*keys, "metric", "value"]
    again = predict(fitted.constants).sort(keys, maintain_order=True)
    assert predicted.select(columns).equals(again.select(columns))
    for pick in (0, 7):
        sample = fits.again(points, pick)
        assert sample.height == 7
        assert sample.join(points, on=points.columns, nulls_equal=True).height == 7


def test_a_fit_that_does_not_converge_has_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no prediction either."""
    found = Fitted(constants=costs(), residuals=residuals([("a", 1.0, 2.0)]), converged=False)
    monkeypatch.setattr(prediction, "fit_and_share", lambda *_, **__: (found, 0.5))
    assert fits.predict_at_shares((0.2, 0.2)).is_empty()


def at_share(map_share: float) -> pl.DataFrame:
    """Return the constants with a map share."""
    return change_costs(costs(), {"map_ns": round(map_share * costs_by_name()["tree_ns"])})


def test_at_the_map_share_two_locks_have_the_ratio_of_another_mail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Below it tree_lock has more of the waiting than there, above it si->lock has."""
    usual = prediction.life_machine

    def tiny(**given: Any) -> Machine:
        whole = usual(**given)
        return replace(whole, frames=whole.frames // 3, accesses=whole.accesses // 3)

    def fit(_: float, map_share: float) -> tuple[Fitted, float]:
        return Fitted(constants=at_share(map_share), residuals=residuals([]), converged=True), 0.5

    monkeypatch.setattr(prediction, "life_machine", tiny)
    monkeypatch.setattr(prediction, "fit_and_share", fit)
    share = prediction.map_share_at(0.1)
    low, high = (
        prediction.ratio_of_locks(at_share(factor * share), swapped=0.5) for factor in (0.8, 1.25)
    )
    assert low > prediction.RATIO_OF_LOCKS > high


def test_the_headlines_map_share_is_the_one_found_for_them() -> None:
    """And the shares of tags in the what-ifs are the least, theirs, and the largest allowed."""
    rows = patch.studies.by_tag_share.load()
    found = rows.filter(tag_share=prediction.TAG_SHARE)["map_share"].unique()
    assert found.to_list() == [pytest.approx(prediction.MAP_SHARE, rel=0.07)]
    least, middle, largest = patch.studies.THREE_TAG_SHARES
    assert (least, middle) == (min(prediction.TAG_SHARES), prediction.TAG_SHARE)
    assert fits.with_tags_up_to(rows)["tag_share"].max() == largest


def test_the_fitted_ratio_is_not_met() -> None:
    """In no fit of the what-ifs is it half of the mail's."""
    rows = patch.studies.by_tag_share.load()
    for share in patch.studies.THREE_TAG_SHARES:
        ((name, fit),) = fits.of_rows(rows.filter(tag_share=share)).items()
        swapped = fits.swapped_of(rows, name)
        ratio = prediction.ratio_of_locks(fit.constants, swapped=swapped, seed=2)
        assert ratio < prediction.RATIO_OF_LOCKS / 2


def test_a_short_hold_is_measured_in_time_and_not_in_shares() -> None:
    """The limit applies to tag_ns; a fit has all of its rows or none."""
    rows = patch.studies.by_tag_share.load()
    short = fits.with_tags_up_to(rows, 100)
    tag_ns = {
        name: fit.constants.filter(name="tag_ns")["value"][0]
        for name, fit in fits.of_rows(rows).items()
    }
    assert set(short["policy"]) == {name for name, ns in tag_ns.items() if ns <= 100} != set(tag_ns)
    assert short.height * len(tag_ns) == rows.height * short["policy"].n_unique()
