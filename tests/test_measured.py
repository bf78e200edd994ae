# SPDX-License-Identifier: GPL-2.0-or-later
"""Rounds of a real kernel become medians with intervals, and ranks with ties."""

import polars as pl
import pytest

from swapsim import paths, replay, traces, verdicts
from swapsim.claims import measured, published
from swapsim.errors import InputError
from swapsim.schemas import MEDIANS, PUBLISHED, RANGES, RESULTS


def rounds(**values_of: list[float]) -> pl.DataFrame:
    """Return RESULTS with one row per policy and round."""
    return pl.DataFrame(
        [
            ("04-percpu-cluster-next", "measured", "6.1", policy, 8, seed, "bounces", value, "1")
            for policy, values in values_of.items()
            for seed, value in enumerate(values, 1)
        ],
        schema=RESULTS,
        orient="row",
    )


def test_the_median_lies_in_its_interval() -> None:
    """Seven rounds give their median, and an interval within their range around it."""
    row = measured.medians(rounds(shared=[5.0, 1.0, 4.0, 2.0, 9.0, 3.0, 6.0])).row(0, named=True)
    assert row["rounds"] == 7
    assert row["median"] == 4.0
    assert 1.0 <= row["low"] < 4.0 < row["high"] <= 9.0


def test_the_order_of_rows_does_not_matter() -> None:
    """Shuffled rounds give the same bytes."""
    frame = rounds(shared=[5.0, 1.0, 4.0], percpu=[2.0, 3.0, 2.5])
    again = frame.sample(fraction=1, shuffle=True, seed=3).sort("policy", descending=True)
    assert measured.medians(frame).equals(measured.medians(again))


def test_one_round_or_equal_rounds_have_a_point_for_interval() -> None:
    """Without spread there is nothing to bootstrap."""
    for values in ([2.5], [2.5, 2.5, 2.5]):
        row = measured.medians(rounds(shared=values)).row(0, named=True)
        assert (row["low"], row["high"]) == (2.5, 2.5)


def test_overlapping_intervals_are_ties() -> None:
    """Policies whose intervals overlap share a rank and name each other; a clear one does not."""
    medians = measured.medians(
        rounds(
            shared=[10.0, 10.2, 10.1, 10.3, 10.2],
            percpu=[1.0, 1.2, 1.4, 1.1, 1.3],
            avoid=[1.1, 1.3, 1.0, 1.2, 1.5],
        )
    )
    ranked = measured.ranks(medians, "bounces")
    assert ranked["policy"].to_list() == ["avoid", "percpu", "shared"]
    assert ranked["rank"].to_list() == [1, 1, 3]
    assert ranked["tied_with"].to_list() == [["percpu"], ["avoid"], []]


def test_bad_input_is_named() -> None:
    """An unknown experiment, metric or confidence, or another table, is refused in one line."""
    frame = rounds(shared=[1.0])
    with pytest.raises(InputError, match="no such experiment"):
        measured.results("nowhere")
    with pytest.raises(InputError, match="no such metric"):
        measured.ranks(measured.medians(frame), "waits")
    with pytest.raises(InputError, match="confidence"):
        measured.medians(frame, confidence=1.0)
    with pytest.raises(InputError, match="no such column"):
        measured.medians(frame.drop("seed"))


def test_the_replay_counts_what_the_real_kernel_counted() -> None:
    """Acquisitions of the swap cache's lock a page, tags off and on, agree within five percent."""
    rounds = measured.results("writeback-tags")
    assert rounds["seed"].n_unique() >= 7
    medians = measured.medians(rounds.filter(metric="xa_lock acquisitions"))
    trace = traces.shipped("writeback-tags")["swap-w-seq"]
    held = verdicts.writeback_tags_measured(replay.writeback_tags(trace, kernel="6.1"), medians)
    assert held["policy"].to_list() == ["on", "off"]
    assert held["agrees"].all()
    assert (held["low"] <= held["measured"]).all()


def test_each_measurement_tells_where_it_is_from() -> None:
    """Command, date, kernel, switches and sources stand beside every result."""
    shipped = paths.shipped_measurements()
    assert "writeback-tags" in shipped
    for name in shipped:
        assert measured.results(name)["source"].unique().to_list() == ["measured"]
        told = measured.provenance(name)
        assert {"command", "date", "emulator", "host"} <= set(told["measured"])
        assert {"package_version", "configuration", "trunk_shift"} <= set(told["kernel"])
        assert told["experiment"]["varies"] in ("swap_tags", "swap_base")
        assert any(path.endswith("switch.cocci") for path in told["sources"])


def medians(values: dict[tuple[str, str], float]) -> pl.DataFrame:
    """Return MEDIANS by hand: (policy, metric) -> its median, with a tenth to either side."""
    return pl.DataFrame(
        [
            ("p", "measured", "6.1", policy, 8, metric, "1", 5, value, 0.9 * value, 1.1 * value)
            for (policy, metric), value in values.items()
        ],
        schema=MEDIANS,
        orient="row",
    )


def test_medians_stand_side_by_side_as_text() -> None:
    """Metrics in the order asked for, a column per policy, three digits, large ones whole."""
    table = measured.side_by_side(
        medians(
            {
                ("shared", "waits"): 0.123456,
                ("percpu", "waits"): 12.3456,
                ("shared", "pages"): 123456.0,
                ("percpu", "pages"): -2000.0,
                ("shared", "unasked"): 1.0,
            }
        ),
        ["pages", "waits"],
    )
    assert table.columns == ["metric", "shared", "percpu"]
    assert table.rows() == [
        ("pages", "123,456 [111,110, 135,802]", "-2,000 [-1,800, -2,200]"),
        ("waits", "0.123 [0.111, 0.136]", "12.3 [11.1, 13.6]"),
    ]
    with pytest.raises(InputError, match="field 'metric': no such metric: 'tides'"):
        measured.side_by_side(medians({("shared", "waits"): 1.0}), ["waits", "tides"])
    with pytest.raises(InputError, match="MEDIANS"):
        measured.side_by_side(rounds(shared=[1.0]), ["bounces"])


def printed(*values: tuple[str, float]) -> pl.DataFrame:
    """Return a profile's cells of one lock by hand: kernel and percent of cycles."""
    cell = published.published_tables().head(1)
    return pl.concat(
        cell.with_columns(kernel=pl.lit(kernel), value=pl.lit(value)) for kernel, value in values
    )


def counted(**value_of: float) -> pl.DataFrame:
    """Return a run by hand; two underscores are a dot."""
    return pl.DataFrame(
        [
            ("p", "simulated", "4.8", "-", 8, 1, metric.replace("__", "."), value, "1")
            for metric, value in value_of.items()
        ],
        schema=RESULTS,
        orient="row",
    )


COUNTED = {
    ("off", "xa_lock acquisitions"): 5.0,
    ("on", "xa_lock acquisitions"): 4.0,
    ("off", "xa_lock contended acquisitions"): 0.5,
    ("on", "xa_lock contended acquisitions"): 0.75,
    ("off", "si->lock acquisitions"): 0.2,
    ("on", "si->lock acquisitions"): 0.2,
}
RUN = counted(
    cycles__tree_lock__add=6.0,
    cycles__tree_lock__remove=2.0,
    cycles__si_lock__get=70.0,
    acquisitions__tree_lock__add=4.0,
    contended__tree_lock__add=0.5,
    acquisitions__si_lock__get=1.0,
    acquisitions__si_lock__free=3.0,
)


def test_contention_is_the_sum_of_a_locks_sites_from_base_to_patched() -> None:
    """Each source's change in percent, by what it has: cycles in a profile, counts in the lab."""
    patched = counted(
        cycles__tree_lock__add=1.0,
        cycles__si_lock__get=90.0,
        acquisitions__tree_lock__add=2.0,
        contended__tree_lock__add=0.0,
        acquisitions__si_lock__free=5.0,
    )
    table = verdicts.contention(
        # The patched profile does not list the second row.
        printed(("before", 7.0), ("before", 3.0), ("after", 0.5)),
        (RUN, patched),
        medians(COUNTED),
        ("off", "on"),
    )
    assert table["quantity"].to_list() == list(verdicts.CONTENTION)
    assert table["published"].to_list() == pytest.approx([-95.0, None, None, None])
    assert table["simulated"].to_list() == pytest.approx([-87.5, -50.0, -100.0, 25.0])
    assert table["measured"].to_list() == pytest.approx([None, -20.0, 50.0, 0.0])


def test_a_lock_that_nobody_waits_for_has_no_change() -> None:
    """A base of zero gives null, and neither infinity nor an error."""
    idle = RUN.with_columns(value=pl.lit(0.0))
    table = verdicts.contention(
        printed(("before", 7.0), ("after", 0.5)),
        (idle, RUN),
        medians(COUNTED | {("off", "xa_lock contended acquisitions"): 0.0}),
        ("off", "on"),
    )
    assert table["simulated"].to_list() == [None] * 4
    assert table["measured"].to_list() == pytest.approx([None, -20.0, None, 0.0])


def test_contention_names_what_is_missing() -> None:
    """A profile of one kernel, a policy without medians and another table are one line each."""
    two = printed(("before", 7.0), ("after", 0.5))
    known = medians(COUNTED)
    with pytest.raises(InputError, match="field 'kernel': 1 kernels have such rows"):
        verdicts.contention(two.head(1), (RUN, RUN), known, ("off", "on"))
    with pytest.raises(InputError, match="0 medians of 'xa_lock acquisitions' with 'maybe'"):
        verdicts.contention(two, (RUN, RUN), known, ("off", "maybe"))
    with pytest.raises(InputError, match="PUBLISHED"):
        verdicts.contention(known, (RUN, RUN), known, ("off", "on"))
    assert two.schema == PUBLISHED


def reach(low: float, high: float) -> pl.DataFrame:
    """Return RANGES by hand, with another claim before that of the throughput."""
    return pl.DataFrame(
        [
            ("A-swap-out", 22.3, 1.0, 77.0, 78.0, 1.0, "misses", False, 1.0, 2.0, 5),
            ("A-throughput", 24.3, 9.3, low, high, high - low, "holds", False, 1.0, 2.0, 5),
        ],
        schema=RANGES,
        orient="row",
    )


def test_the_sentence_of_patch_a_in_time_reads_both_ranges() -> None:
    """Its throughput fitted alone and jointly, in whole percent, beside the published figure."""
    sentence = verdicts.writeback_tags_in_time(reach(3.4, 42.6), reach(-1.0, 12.0))
    assert "alone, the contention machine makes of that a gain of 3 to 43 % in throughput" in (
        sentence
    )
    assert "patch D's bases as well -1 to 12 %; 24.3 % is published." in sentence
    assert "77" not in sentence
    with pytest.raises(InputError, match="RANGES"):
        verdicts.writeback_tags_in_time(reach(1.0, 2.0), reach(1.0, 2.0).drop("fits"))
    with pytest.raises(InputError, match="0 ranges of 'A-throughput': give fits"):
        verdicts.writeback_tags_in_time(reach(1.0, 2.0), reach(1.0, 2.0).clear())
