# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions of patch A: the mail's table, a range over what the base leaves open, the verdict."""

from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl
import pytest

from swapsim import claims, traces
from swapsim.claims.tables import RANGES, RESULTS
from swapsim.errors import InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs, costs_by_name
from swapsim.machine.run import run
from swapsim.machine.tables import PREDICTED_BY_SHARES
from swapsim.mapping.replay import writeback_tags_of
from swapsim.patches import writeback_tags as patch
from swapsim.patches.writeback_tags import prediction


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit in one step, and predict, in a short run on a small device."""
    usual = patch.machine

    def tiny(**given: Any) -> MachineConfig:
        return replace(usual(**given), frames=2**13, slots=2**17, duration_ns=10_000_000)

    monkeypatch.setattr(prediction, "machine", tiny)
    monkeypatch.setattr(prediction, "fit_machine", partial(prediction.fit_machine, rounds=1))


def simulated(results: pl.DataFrame) -> pl.DataFrame:
    """Return the claims of the patch that have a result."""
    table = claims.three_columns(claims.published_claims(), results, claims.tolerances())
    return table.filter(pl.col("patch") == patch.PATCH, pl.col("simulated").is_not_null())


@pytest.mark.usefixtures("_tiny")
def test_each_figure_of_patch_a_meets_its_claim() -> None:
    """Two rates and four lock rows, from base to base+patch."""
    results = patch.predict(costs(), [1, 2])
    assert results.schema == RESULTS.schema
    assert results.height == 2 * 2 * 6
    found = simulated(results)
    assert {
        "A-throughput",
        "A-swap-out",
        "A-lock-add",
        "A-lock-remove",
        "A-lock-start-writeback",
        "A-lock-end-writeback",
    } <= set(found["claim"])
    falls = found.filter(pl.col("claim").str.ends_with("writeback"))
    assert falls["simulated"].to_list() == pytest.approx([-100.0, -100.0])


def test_no_seed_is_refused() -> None:
    """A prediction needs a seed."""
    for predict in (
        lambda: patch.predict(costs(), []),
        lambda: patch.predict_at_shares((0.2, 0.2), seeds=[]),
    ):
        with pytest.raises(InputError, match="field 'seeds'"):
            predict()


@pytest.mark.usefixtures("_tiny")
def test_runs_of_both_kernels_are_those_of_the_machine() -> None:
    """There is one complete run under each kernel's name."""
    ran = patch.runs(costs(), seed=3)
    assert list(ran) == ["base", "base+patch"]
    for tags, found in zip((True, False), ran.values(), strict=True):
        assert found.equals(run(prediction.machine(tags=tags, seed=3), costs()))


def fits(
    simulated: dict[tuple[float, float], dict[str, float]],
    *,
    published: float = 20.0,
    tree_ns: int = 1000,
    converged: bool = True,
) -> pl.DataFrame:
    """Return PREDICTED_BY_SHARES by hand: (tag share, map share) -> claim -> simulated change."""
    return pl.DataFrame(
        [
            (*shares, converged, tree_ns, 9000, claim, published, 2.0, change, 100 + change)
            for shares, changes in simulated.items()
            for claim, change in changes.items()
        ],
        schema=PREDICTED_BY_SHARES.schema,
        orient="row",
    )


@pytest.mark.usefixtures("_tiny")
def test_each_pair_of_shares_is_fitted_and_predicted() -> None:
    """A row's prediction is that of the table made with its own fitted constants."""
    points = pl.concat(map(patch.predict_at_shares, [(0.05, 0.2), (0.5, 0.2)]))
    assert points.schema == PREDICTED_BY_SHARES.schema
    pairs = points.select("tag_share", "map_share").unique(maintain_order=True).rows()
    assert pairs == [(0.05, 0.2), (0.5, 0.2)]
    stated = claims.published_claims().filter(claim="A-throughput")
    for tag_share, map_share in pairs:
        fitted = patch.fit(tag_share=tag_share, map_share=map_share)
        results = patch.predict(fitted.constants, [1, 2])
        row = points.filter(tag_share=tag_share, claim="A-throughput").row(0, named=True)
        three = claims.three_columns(stated, results, claims.tolerances()).row(0, named=True)
        assert row["simulated"] == pytest.approx(three["simulated"])
        assert row["published"] == three["published"]
        patched = results.filter(kernel="base+patch", metric="vm-scalability.throughput")
        assert row["patched"] == pytest.approx(patched["value"].mean())
        value = costs_by_name(fitted.constants)
        assert (row["tree_ns"], row["unmap_ns"]) == (value["tree_ns"], value["unmap_ns"])
        assert row["converged"] is fitted.converged
    assert points.filter(claim="A-throughput")["simulated"].n_unique() == 2


@pytest.mark.usefixtures("_tiny")
def test_constants_have_the_names_of_their_shares() -> None:
    """Each pair gives one fit, whose tied constants have these shares of tree_ns."""
    found = patch.fits_at([(0.25, 0.4), (0.5, 0.2)])
    assert list(found) == ["tags 0.25, map 0.4", "tags 0.5, map 0.2"]
    value = costs_by_name(found["tags 0.25, map 0.4"])
    assert value["tag_ns"] == pytest.approx(0.25 * value["tree_ns"], abs=1)
    assert value["map_ns"] == pytest.approx(0.4 * value["tree_ns"], abs=1)


def test_each_claim_of_patch_a_with_a_change_can_be_judged() -> None:
    """Each claim with a change has a tolerance."""
    changes = claims.published_claims().filter(pl.col("change").is_not_null(), patch=patch.PATCH)
    judged = changes.join(claims.tolerances(), on="claim", how="left")
    assert judged.filter(pl.col("tolerance").is_null())["claim"].to_list() == []


@pytest.mark.parametrize(
    ("changes", "verdict", "flips"),
    [
        ([18.0, 22.0], "holds", False),
        ([20.0, 24.0], "holds", False),
        ([17.0, 21.1], "open", False),
        ([-5.0, 30.0], "open", True),
        ([22.0, 25.0], "near", False),
        ([15.0, 18.5], "near", False),
        ([10.0, 18.5], "open", False),
        ([22.1, 25.0], "misses", False),
        ([-5.0, 17.9], "misses", True),
        ([0.0, 17.0], "misses", False),
        ([20.0], "holds", False),
    ],
)
def test_a_range_holds_the_published_figure_or_is_near_or_misses_or_is_too_wide(
    changes: list[float], verdict: str, flips: bool
) -> None:
    """20 % are published, with a tolerance of 2: a range of more than 4 can only miss them."""
    points = fits({(at / 10, 0.2): {"c": change} for at, change in enumerate(changes)})
    table = patch.judged_ranges(points)
    assert table.schema == RANGES.schema
    row = table.row(0, named=True)
    assert (row["verdict"], row["flips"], row["fits"]) == (verdict, flips, len(changes))
    assert (row["low"], row["high"]) == (min(changes), max(changes))
    assert row["width"] == max(changes) - min(changes)
    assert (row["patched_low"], row["patched_high"]) == (100 + min(changes), 100 + max(changes))


def test_fits_that_did_not_converge_do_not_count() -> None:
    """They are in no range and among no short holds."""
    points = pl.concat(
        [
            fits({(0.1, 0.2): {"c": 20.0}, (0.2, 0.2): {"c": 21.0}}),
            fits({(0.3, 0.2): {"c": 20.0}}, converged=False),
        ]
    )
    assert patch.judged_ranges(points)["fits"].to_list() == [2]
    assert patch.with_tags_up_to(points, 1000).equals(points.head(2))


def test_claims_keep_their_order() -> None:
    """There is a row per claim, in the order of the points."""
    points = fits({(0.1, 0.2): {"b": 1.0, "a": 2.0}, (0.2, 0.2): {"b": 3.0, "a": 4.0}})
    assert patch.judged_ranges(points).select("claim", "low", "high").rows() == [
        ("b", 1.0, 3.0),
        ("a", 2.0, 4.0),
    ]


def test_a_short_hold_is_measured_in_time_and_not_in_shares() -> None:
    """The limit applies to tag_share times tree_ns."""
    points = pl.concat(
        [
            fits({(0.3, 0.2): {"c": 1.0}}, tree_ns=1000),
            fits({(0.3, 0.2): {"c": 1.0}}, tree_ns=1010),
            fits({(1.0, 0.2): {"c": 1.0}}, tree_ns=299),
        ]
    )
    assert patch.with_tags_up_to(points, 300)["tree_ns"].to_list() == [1000, 299]


def test_other_tables_are_refused() -> None:
    """Ranges and limits need PREDICTED_BY_SHARES."""
    bad = fits({(0.1, 0.2): {"c": 1.0}}).drop("patched")
    with pytest.raises(InputError, match="PREDICTED_BY_SHARES"):
        patch.judged_ranges(bad)
    with pytest.raises(InputError, match="PREDICTED_BY_SHARES"):
        patch.with_tags_up_to(bad, 100)


def reach(low: float, high: float, verdict: str = "holds") -> pl.DataFrame:
    """Return RANGES by hand, with another claim before that of the throughput."""
    return pl.DataFrame(
        [
            ("A-swap-out", 22.3, 1.0, 77.0, 78.0, 1.0, "misses", False, 1.0, 2.0, 5),
            ("A-throughput", 24.3, 9.3, low, high, high - low, verdict, False, 1.0, 2.0, 5),
        ],
        schema=RANGES.schema,
        orient="row",
    )


def lead(base_only: pl.DataFrame, with_series: pl.DataFrame) -> str:
    """Return the lead of notebook 01 with these ranges of throughput."""
    sites = writeback_tags_of(traces.shipped("writeback-tags"), kernel="4.8")
    studies = patch.studies
    return patch.verdict(
        sites,
        base_only,
        with_series,
        writers=studies.gain_by_writers.load(),
        drives=studies.gain_by_drive.load(),
        trunks=studies.gain_by_trunk_size.load(),
    )


def test_the_lead_of_patch_a_reads_both_ranges() -> None:
    """It has the ranges of throughput of both sets of fits, and the published figure."""
    inside = lead(reach(3.4, 42.6), reach(-1.0, 12.0))
    assert "it is +3.4 to +42.6 %." in inside
    assert "Throughput changes by -1.0 to +12.0 % (published: +24.3 %)" in inside
    assert "; the published gain of 24.3 % lies in the predicted range." in inside
    wide = lead(reach(3.4, 42.6), reach(-1.0, 42.0, "open"))
    assert "; whether that is worth the published 24.3 % is open." in wide
    assert "77" not in inside
    with pytest.raises(InputError, match="RANGES"):
        lead(reach(1.0, 2.0), reach(1.0, 2.0).drop("fits"))
    with pytest.raises(InputError, match="0 ranges of 'A-throughput': give fits"):
        lead(reach(1.0, 2.0), reach(1.0, 2.0).clear())
