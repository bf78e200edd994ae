# SPDX-License-Identifier: GPL-2.0-or-later
"""The conclusions of the notebooks on swap slots follow from their numbers."""

import polars as pl
import pytest

from swapsim import slots, traces
from swapsim.claims import results
from swapsim.errors import InputError
from swapsim.machine.tables import WHAT_IF_RANGES
from swapsim.patches import cluster_next as patch
from swapsim.patches.cluster_next.alternatives import Question
from swapsim.slots.tables import SLOT_ANSWERS, SLOT_SWEEP, VERIFIED_SLOTS
from swapsim.slots.workbench import cluster_next as slots_replay
from swapsim.study import SerialExecutor


def sweep(metric: str, values_of: dict[tuple[str, str], list[float]]) -> pl.DataFrame:
    """Return a SLOT_SWEEP of one metric: (setting, policy) -> its values, a seed each."""
    return pl.DataFrame(
        [
            ("cpus", setting, policy, 8, seed, metric, value, slots.METRICS[metric].unit)
            for (setting, policy), values in values_of.items()
            for seed, value in enumerate(values, 1)
        ],
        schema=SLOT_SWEEP.schema,
        orient="row",
    )


def question(metric: str, *, falls: bool | None) -> Question:
    """Ask whether a metric falls from the shared base to that of each CPU."""
    return Question(
        claim="D-test",
        asks="a base per CPU",
        guess="fewer meetings",
        metric=metric,
        base=("cpus", "8", "shared"),
        other=("cpus", "8", "percpu"),
        falls=falls,
    )


@pytest.mark.parametrize(
    ("other", "falls", "holds"),
    [
        ([1.0, 1.1, 0.9], True, True),
        ([1.0, 1.1, 0.9], False, False),
        ([1.0, 1.1, 0.9], None, False),
        ([12.0, 12.1, 11.9], False, True),
        ([10.0, 10.1, 9.9], None, True),
        ([10.0, 10.1, 9.9], True, False),
        ([9.7, 9.75, 9.7], True, False),  # apart, but by less than a twentieth
        ([1.0, 20.0, 1.0], True, False),  # the intervals overlap
    ],
)
def test_a_guess_holds_if_the_metric_moves_as_it_says(
    other: list[float], falls: bool | None, holds: bool
) -> None:
    """A change counts if it is more than a twentieth and the intervals do not overlap."""
    measures = sweep("trunk.pairs", {("8", "shared"): [10.0, 10.1, 9.9], ("8", "percpu"): other})
    answers = patch.answers((question("trunk.pairs", falls=falls),), measures)
    assert answers.schema == SLOT_ANSWERS.schema
    assert answers["verdict"].to_list() == ["agrees" if holds else "contradicts"]


def test_a_side_that_was_not_measured_is_named() -> None:
    """A question about a setting that the sweep lacks is refused."""
    measures = sweep("trunk.pairs", {("8", "shared"): [10.0]})
    with pytest.raises(InputError, match="policy percpu"):
        patch.answers((question("trunk.pairs", falls=True),), measures)


def test_means_are_columns() -> None:
    """There is one row per setting and policy, one column per metric, in the given order."""
    measures = pl.concat(
        [
            sweep("run", {("8", "shared"): [2.0, 4.0]}),
            sweep("scanned", {("8", "shared"): [5.0, 7.0]}),
        ]
    )
    table = patch.means(measures, ["scanned", "run"])
    assert table.columns == ["factor", "setting", "policy", "scanned", "run"]
    assert table.row(0) == ("cpus", "8", "shared", 6.0, 3.0)


def scores(base: list[float], patched: list[float]) -> pl.DataFrame:
    """Return RESULTS of pmbench's score, a seed each, of V3's two kernels."""
    sides = (("v3 before", "shared", base), ("v3 after", "percpu-rerandomise", patched))
    return pl.concat(
        results(
            [("pmbench score", value, "accesses/s")],
            {"patch": patch.PATCH, "kernel": kernel, "policy": policy, "n_tasks": 16, "seed": seed},
        )
        for kernel, policy, values in sides
        for seed, value in enumerate(values, 1)
    )


def test_the_sentence_of_patch_d_reads_its_numbers() -> None:
    """It has the slots, runs, shares of the last setting and the means of the simulated score."""
    verified = pl.DataFrame(
        [("a", 4, "shared", 8, 9, 100, 90, 10, 0, 0)], schema=VERIFIED_SLOTS.schema, orient="row"
    )
    shares = {"shared": 0.98, "percpu": 0.5, "percpu-rerandomise": 0.2}
    measures = sweep(
        "lock.moved.add",
        {
            (age, policy): [share - less * (policy == "percpu")]
            for age, less in (("1", 0.1), ("2", 0.0))
            for policy, share in shares.items()
        },
    )
    predicted = scores([90.0, 110.0], [110.0, 115.0])
    gains = {
        "percpu, 50 ms": 17.5,
        "percpu, half a second": 11.1,
        "percpu, settled, tasks stay": -0.3,
        "percpu, settled, 1 changes a second": 3.9,
        "percpu, settled, 0.1 changes a second": 6.2,
        "percpu-rerandomise, 50 ms": 18.0,
        "percpu-rerandomise, settled, 0.1 changes a second": 6.5,
    }
    life = pl.DataFrame(
        [("f", 0.0, label, gain, gain, gain, 9.0, 9.0, False) for label, gain in gains.items()],
        schema=WHAT_IF_RANGES.schema,
        orient="row",
    )
    gains_by = {"tasks": patch.studies.gain_by_tasks.load(), "drives": drives()}
    lead = patch.verdict(verified, measures, predicted, life, **gains_by)
    assert "the model repeats 100 of 100 slots of a real kernel" in lead
    assert "20 % of the additions to the swap cache fetch" in lead
    assert "in place of 98 %" in lead
    assert "40 % of the additions fetch the line at first and 50 % in the end" in lead
    assert "gains +17.5 % at first and -0.3 to +6.2 % in the end" in lead
    assert "(published: +15.9 %, open)" in lead
    assert "gains +12.5 % (+4.5 to +22.2 %) in pmbench's score" in lead
    assert "on drives of 80 us a page or slower (-0.4 to +0.3 %)" in lead
    slower = patch.verdict(verified, measures, scores([100.0], [93.2]), life, **gains_by)
    assert "the predicted gain contradicts the published +18.5 %" in slower


def drives() -> pl.DataFrame:
    """Return the gain on three drives, of which the slower two have both signs."""
    rows = [
        ("20 us a page", 4e5, "fast", 2.0, 3.0, 4.0, 9.0, 9.0, False),
        ("80 us a page", 1e5, "slow", -0.4, 0.0, 0.2, 9.0, 9.0, True),
        ("120 us a page", 5e4, "slower", -0.1, 0.0, 0.3, 9.0, 9.0, True),
    ]
    return pl.DataFrame(rows, schema=WHAT_IF_RANGES.schema, orient="row")


def test_the_requests_of_a_trace_differ_by_policy() -> None:
    """With the shared base the lock moves far more often; the free path is the same."""
    folder = traces.shipped("cluster-next")["slots-8-shared"]
    again = slots_replay(
        folder, policies=("shared", "percpu-rerandomise"), seeds=2, executor=SerialExecutor()
    )
    assert again.schema == SLOT_SWEEP.schema
    table = patch.means(again, patch.LEADING)
    shared, merged = table.iter_rows(named=True)
    assert shared["lock.moved.add"] > 2 * merged["lock.moved.add"]
    assert abs(shared["lock.moved.free"] - merged["lock.moved.free"]) < 0.02
