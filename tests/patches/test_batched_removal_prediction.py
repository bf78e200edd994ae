# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions of patch B's machine, and its what-ifs."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from swapsim import traces
from swapsim.claims.judging import NOT_DETERMINABLE_ABOVE
from swapsim.claims.tables import RANGES
from swapsim.errors import ConfigError, InputError
from swapsim.io.paths import data_root
from swapsim.machine.tables import HOLDS_BY_LIST, WHAT_IF
from swapsim.machine.what_if import Case, gains
from swapsim.patches import batched_removal as patch
from swapsim.patches.batched_removal import prediction, studies
from swapsim.patches.batched_removal.prediction import at_middle, price_ns
from swapsim.patches.batched_removal.tables import PREDICTED_BY_POINTS, WORKLOAD
from swapsim.patches.batched_removal.workload import THREADS
from swapsim.removal.replay import batched_removal_of
from swapsim.removal.tables import WAITS_NEEDED
from swapsim.study import SerialExecutor

DEAR = patch.Point(tag_share=0.1, next_share=1.0)
FEW = 3
"""Runs of a number of threads, in place of 140."""


@pytest.fixture(scope="module")
def predicted() -> pl.DataFrame:
    """Predictions for all threads at the middle, and for three threads at another point."""
    where = [*((patch.MIDDLE, n) for n in THREADS), (DEAR, 3)]
    return pl.concat(patch.predict_point(each, runs=FEW) for each in where)


def middle(predicted: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the middle point."""
    return predicted.filter(at_middle())


def test_a_prediction_is_a_row_per_claim_on_usemem(predicted: pl.DataFrame) -> None:
    """System and elapsed time with each number of threads, for both mails."""
    found = middle(predicted)
    assert found.schema == PREDICTED_BY_POINTS.schema
    assert found["claim"].n_unique() == found.height == 20
    assert not found["claim"].str.contains("pwrite").any()
    assert (found["seven_low"] <= found["seven_high"]).all()
    assert (found["null_low"] <= 0).all()
    assert (found["null_high"] >= 0).all()


def test_vanilla_with_one_thread_is_fitted(predicted: pl.DataFrame) -> None:
    """Its system and elapsed time are those of the mail, and it has no noise."""
    rows = middle(predicted).filter(pl.col("claim").is_in(["B-system-1", "B-elapsed-1"]))
    assert rows["base"].to_list() == [
        pytest.approx(260.53, rel=1e-3),
        pytest.approx(292.89, rel=1e-3),
    ]
    assert rows["null_low"].to_list() == rows["null_high"].to_list() == [0, 0]


def test_what_a_further_removal_costs_decides_the_gain(predicted: pl.DataFrame) -> None:
    """Three threads gain more where it is cheap."""
    rows = predicted.filter(claim="B-elapsed-3")
    cheap, dear = (rows.filter(next_share=share)["simulated"].item() for share in (0.3, 1.0))
    assert cheap < 0
    assert cheap < dear - 2


def test_a_fault_is_dearer_the_more_threads_fault() -> None:
    """Threads wait for each other, and batching relieves them."""
    alone, together = (price_ns(0.1, 0.3, "vanilla", crowd) for crowd in (1, 3))
    assert together > 1.5 * alone
    assert price_ns(0.1, 0.3, "batch-v1", 3) < together


def test_ranges_go_over_the_points(predicted: pl.DataFrame) -> None:
    """There is a row per claim, over all points that have it."""
    ranges = patch.judged_ranges(predicted)
    assert ranges.schema == RANGES.schema
    assert dict(ranges.select("claim", "fits").iter_rows())["B-elapsed-3"] == 2


def test_the_null_is_wider_the_more_uneven_the_threads_are() -> None:
    """Two equal kernels differ by more, and by as much to either side."""
    even, uneven = (patch.null_changes((percent, 3), runs=20) for percent in (10.0, 50.0))
    width = [
        frame["change_percent"].max() - frame["change_percent"].min() for frame in (even, uneven)
    ]
    assert 0 < 3 * width[0] < width[1]
    assert abs(even.filter(part_percent=50)["change_percent"].item()) < 1


def test_very_uneven_threads_need_less_time_and_differ_more() -> None:
    """Fewer accesses fault, and runs are less alike; more memory has fewer faults, too."""
    middle, uneven, more = (
        prediction.sweep_setting((setting, 3), runs=10).row(0, named=True)
        for setting in ("the middle", "uneven by 70 %", "memory of 0.66 of the RAM")
    )
    assert uneven["elapsed_s"] < 0.8 * middle["elapsed_s"]
    assert uneven["spread_percent"] > 3 * middle["spread_percent"]
    assert more["faults_percent"] < middle["faults_percent"]


def test_the_noise_hides_the_sign_of_three_threads_only(predicted: pl.DataFrame) -> None:
    """By the mail's noise two equal kernels lose as much, with more than the stored probability."""
    noise = patch.noise_of_rows(predicted)
    assert noise.height == 10
    hidden = noise.filter(pl.col("mail_chance") > NOT_DETERMINABLE_ABOVE)["claim"]
    assert set(hidden) == {"B-system-3", "B-elapsed-3"}
    assert (noise["chance_low"] <= noise["chance_high"]).all()


def test_vanillas_other_figures_are_held_out(predicted: pl.DataFrame) -> None:
    """Their published values are those that the mail prints, with the error of a quotient."""
    found = patch.held_out(predicted)
    first = found.row(0, named=True)
    assert (round(first["published"], 1), round(first["tolerance"], 2)) == (4.2, 0.56)
    assert found.height == 5
    for row in found.iter_rows(named=True):
        near = abs(row["simulated"] - row["published"]) <= row["tolerance"]
        assert row["verdict"] == ("agrees" if near else "contradicts")


def test_the_lead_names_ranges_and_verdicts(predicted: pl.DataFrame) -> None:
    """It has the pages of a hold, the range with 8 threads and the verdicts on the first mail."""
    counts = batched_removal_of(traces.shipped("batched-removal"))
    texts = pl.DataFrame(
        {
            "claim": ["B-elapsed-1", "B-elapsed-3", "B2-elapsed-1"],
            "simulated_verdict": ["contradicts", "not determinable", "contradicts"],
        }
    )
    cures = patch.studies.gain_by_cure.load()
    lead = patch.verdict(counts, predicted, texts, cures)
    assert "of the 2 times that its mail prints 1 contradict the simulation and 1 are not" in lead
    assert "(published: -42.5 %). Of 5 figures" in lead
    assert "from 1 a page to 0.11." in lead
    with pytest.raises(InputError, match="'B-elapsed-8': give predictions"):
        patch.verdict(counts, predicted.filter(pl.col("claim") != "B-elapsed-8"), texts, cures)


def test_a_run_that_is_out_of_swap_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prediction has no rows of unfinished runs."""
    short = patch.sweep_config(patch.MIDDLE, threads=3)
    monkeypatch.setattr(prediction, "sweep_config", lambda *_, **__: replace(short, slots=100))
    with pytest.raises(InputError, match="2 of 2 runs of 3 threads are out of swap"):
        prediction.run_sweeps(patch.MIDDLE, threads=3, runs=2)


def test_the_workload_says_what_is_known_and_how(tmp_path: Path) -> None:
    """Each value lies in its range; one outside is named with its file."""
    known = patch.workload()
    assert known.schema == WORKLOAD.schema
    assert set(known["standing"]) == {"read", "source", "inferred"}
    file = tmp_path / "usemem.csv"
    file.write_text((data_root() / "usemem.csv").read_text().replace("sweeps,30,", "sweeps,0,"))
    with pytest.raises(InputError, match="sweeps=0: give a value from 30 to 30"):
        patch.workload(tmp_path)


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
    """A list of one page gains nothing; the mail's four kswapds gain more than one."""
    found = gained(studies.cases_by_list([1], [1]))
    assert found.schema == WHAT_IF.schema
    assert found["label"].to_list() == ["1 task"]
    assert abs(found["gain_percent"][0]) < 2
    few, many = gained(studies.cases_by_kswapds([1, 4]))["gain_percent"]
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
