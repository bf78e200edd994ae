# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions of patch B's machine, and its what-ifs."""

import polars as pl
import pytest

from swapsim.claims.tables import RANGES, RESULTS
from swapsim.errors import ConfigError, InputError
from swapsim.machine.tables import HOLDS_BY_LIST, WHAT_IF
from swapsim.machine.what_if import Case, gains
from swapsim.patches import batched_removal as patch
from swapsim.patches.batched_removal import studies
from swapsim.patches.batched_removal.conclusions import spread_needed, verdict_in_time
from swapsim.patches.batched_removal.prediction import predict
from swapsim.removal.tables import WAITS_NEEDED
from swapsim.study import SerialExecutor

WARM = patch.Point(tag_share=0.1, next_share=0.1)
SUM = patch.Point(tag_share=0.01, next_share=1.0)


@pytest.fixture(scope="module")
def predicted() -> pl.DataFrame:
    """Predictions at two points, one run each."""
    return pl.concat(patch.predict_point(point, seeds=[1]) for point in (WARM, SUM))


def test_a_prediction_has_the_mails_names() -> None:
    """System and elapsed time for each kernel of the mails, as RESULTS."""
    found = predict(WARM, [1], [3])
    assert found.schema == RESULTS.schema
    assert set(found["metric"]) == {"Amean System-3", "Amean Elapsd-3", "waits-3"}
    assert found["kernel"].unique(maintain_order=True).to_list() == [
        "vanilla",
        "batch-v1",
        "batch-v1-nonrot",
    ]
    with pytest.raises(InputError, match="seeds"):
        predict(WARM, [])


def test_what_a_further_removal_costs_decides_between_gain_and_loss(
    predicted: pl.DataFrame,
) -> None:
    """Where it is cheap each row gains, more with more threads; where it is not, all lose."""
    elapsed = predicted.filter(pl.col("claim").str.starts_with("B-elapsed"))
    warm, dear = (elapsed.filter(next_share=share)["simulated"].to_list() for share in (0.1, 1.0))
    assert warm[-1] < warm[0] < 0
    assert min(dear) > 0


def test_ranges_go_over_the_points(predicted: pl.DataFrame) -> None:
    """There is a row per claim with a figure, without those of the file test."""
    ranges = patch.judged_ranges(predicted)
    assert ranges.schema == RANGES.schema
    assert ranges.height == 20
    assert (ranges["fits"] == 2).all()
    assert ranges["flips"].any()
    assert not ranges["claim"].str.contains("pwrite").any()


def test_a_point_that_agrees_needs_no_noise(predicted: pl.DataFrame) -> None:
    """The spread is 0 where prediction and mail agree, and grows with their difference."""
    exact = spread_needed(predicted.with_columns(simulated="published"))
    assert exact["spread_percent"].to_list() == [0, 0]
    found = spread_needed(predicted)
    assert found["spread_percent"].is_sorted()
    assert found["spread_percent"][0] > 5
    row = pl.col("claim") == "B-elapsed-3"
    twice = pl.when(row).then(100.0).otherwise("published")
    assert set(spread_needed(predicted.with_columns(simulated=twice))["farthest"]) == {
        "B-elapsed-3"
    }


def test_the_verdict_names_both_ends(predicted: pl.DataFrame) -> None:
    """One sentence with the ranges of 8 and of 3 threads."""
    sentences = verdict_in_time(predicted)
    assert "8 threads (published: -42.5 %)" in sentences
    assert "with 3 (published: +13.8 %)" in sentences
    with pytest.raises(InputError, match="'B-elapsed-8': give predictions"):
        verdict_in_time(predicted.filter(pl.col("claim") != "B-elapsed-8"))


def gained(cases: list[Case]) -> pl.DataFrame:
    """Run cases with one set of constants and one seed."""
    return gains(
        cases,
        studies.fits_by_next_share([0.3]),
        metric=studies.WRITTEN,
        seeds=[1],
        executor=SerialExecutor(),
    )


def test_trunks_gain_more_than_batching_but_not_on_a_disk() -> None:
    """Where CPUs have clusters; on a disk all share a run of slots, and trunks gain nothing."""
    found = gained(studies.cases_by_remedy())
    gain = {
        (row["factor"], row["label"]): row["gain_percent"] for row in found.iter_rows(named=True)
    }
    trunks, both = "trunks of 64 MB", "both"
    assert abs(gain["rotational", trunks]) < 2
    assert gain["non-rotational", trunks] > 2 * gain["non-rotational", "batched"] > 20
    assert gain["non-rotational", both] >= gain["non-rotational", trunks]


def test_longer_lists_are_longer_holds_and_waits() -> None:
    """The longest hold grows with the list; an add waits at least as long as one hold."""
    found = pl.concat(studies.holds((1.0, pages)) for pages in (1, 32))
    assert found.schema == HOLDS_BY_LIST.schema
    one, batched = found.rows(named=True)
    assert batched["longest_hold_us"] == pytest.approx(32 * one["longest_hold_us"])
    assert batched["longest_wait_us"] > batched["longest_hold_us"]


def test_gains_by_list_and_by_kswapds_are_cases() -> None:
    """A list of one page gains nothing; more kswapds gain more."""
    found = gained(studies.cases_by_list([1], [1]))
    assert found.schema == WHAT_IF.schema
    assert found["label"].to_list() == ["1 task"]
    assert abs(found["gain_percent"][0]) < 2
    few, many = gained(studies.cases_by_kswapds([1, 8]))["gain_percent"]
    assert few < many


def test_a_rewritten_file_gains_within_its_tolerance() -> None:
    """One writer and one kswapd rarely wait: they save a few percent of the system time."""
    found = patch.rewrite()
    assert (found["held_percent"] < 20).all()
    assert found["saved_percent"].max() < 5


def test_each_published_system_time_needs_its_share_of_waits() -> None:
    """There are five rows of usemem and one of the file test; a loss needs no waits."""
    found = patch.waits_needed(acquisitions_a_page=1, saved_a_page=0.5)
    assert found.schema == WAITS_NEEDED.schema
    assert dict(found.select("claim", "needed_percent").iter_rows()) == {
        "B-system-1": pytest.approx(51.86),
        "B-system-3": None,
        "B-system-5": pytest.approx(97.70),
        "B-system-7": pytest.approx(66.46),
        "B-system-8": pytest.approx(91.50),
        "B-pwrite-system": None,
    }
    assert found["saved_percent"].to_list() == [50.0] * 6
    assert found["enough"].to_list() == [True, None, True, True, True, None]


def test_one_of_four_acquisitions_a_page_explains_no_row_by_itself() -> None:
    """In 4.8 a page written out takes its mapping's lock four times; lists are 32 pages at most."""
    found = patch.waits_needed(acquisitions_a_page=4, saved_a_page=31 / 32)
    assert found["enough"].drop_nulls().to_list() == [False] * 4
    assert found["needed_percent"].min() == pytest.approx(25.93 / (31 / 128))


@pytest.mark.parametrize(
    ("acquisitions", "saved", "named"),
    [(0, 1, "acquisitions_a_page=0"), (2, 0, "saved_a_page=0"), (2, 3, "saved_a_page=3")],
)
def test_an_argument_out_of_range_is_named(acquisitions: float, saved: float, named: str) -> None:
    """The error quotes the argument and its value."""
    with pytest.raises(ConfigError, match=named):
        patch.waits_needed(acquisitions_a_page=acquisitions, saved_a_page=saved)
