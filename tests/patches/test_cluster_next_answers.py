# SPDX-License-Identifier: GPL-2.0-or-later
"""What answers the claims of patch D's mails and the questions of their thread."""

from dataclasses import replace
from statistics import median

import polars as pl
import pytest

from swapsim import claims, slots
from swapsim.claims.judging import VANISHES_BY_PERCENT
from swapsim.errors import InputError
from swapsim.patches import cluster_next as patch
from swapsim.patches.cluster_next import drives, mails, reviewers, studies
from swapsim.patches.cluster_next.answered import HALF_FULL, claims_by_age
from swapsim.patches.cluster_next.reviewers import REVIEWERS, Question
from swapsim.site import overview
from swapsim.slots.tables import SLOT_SWEEP
from swapsim.study.summary import against

ASKED = Question(
    claim="D-test",
    asks="a base per CPU",
    guess="more seeks",
    metric="seeks",
    base=("few", "8", "shared"),
    other=("few", "8", "percpu"),
)


def sweep(values_of: dict[str, dict[int, float]], metric: str = "seeks") -> pl.DataFrame:
    """Return a SLOT_SWEEP of one metric at the setting 8: policy -> seed -> value."""
    return pl.DataFrame(
        [
            ("cpus", "8", policy, 8, seed, metric, value, slots.METRICS[metric].unit)
            for policy, values in values_of.items()
            for seed, value in values.items()
        ],
        schema=SLOT_SWEEP.schema,
        orient="row",
    )


def test_a_question_is_answered_by_the_same_seeds_of_both_sides() -> None:
    """The figure is the change of the medians; the interval is of the changes, seed by seed."""
    base = {seed: 10.0 + seed for seed in range(1, 8)}
    other = {seed: value + 2 for seed, value in reversed(base.items())} | {9: 1000.0}
    rows = sweep({"shared": base, "percpu": other})
    found = reviewers.answer(ASKED, {"few": rows})
    assert (found.rounds, found.source) == (7, "simulated")
    assert found.base == median(base.values())
    assert (found.figure, found.low, found.high) == pytest.approx((200 / 14, 200 / 17, 200 / 11))


def test_pairs_of_cpus_are_a_share_of_all_pairs() -> None:
    """From no pair the answer is a difference in percent of the 28 pairs of eight CPUs."""
    rows = sweep(
        {"shared": dict.fromkeys(range(5), 0.0), "percpu": dict.fromkeys(range(5), 14.0)},
        "trunk.pairs",
    )
    found = reviewers.answer(ASKED._replace(metric="trunk.pairs"), {"few": rows})
    assert (found.base, found.value, found.figure, found.low) == (0, 50, 50, 50)


def test_an_answer_says_what_to_know_of_its_seeds() -> None:
    """That all are equal, or that the change of medians lies outside of the range of the seeds."""
    same = dict.fromkeys(range(5), 1.0)
    found = reviewers.answer(ASKED, {"few": sweep({"shared": same, "percpu": same})})
    assert str(found.what).endswith("equal in each seed")
    # In eight seeds of nine nothing changes, but the middle one takes the median with it.
    before = {seed: seed + 1.0 for seed in range(9)}
    found = reviewers.answer(ASKED, {"few": sweep({"shared": before, "percpu": before | {4: 6.5}})})
    assert (found.low, found.high) == (0, 0)
    assert found.figure == pytest.approx(20)
    assert "range of the changes" in str(found.what)
    for each in reviewers.answers():
        if each.figure is not None:
            outside = not (each.low or 0) <= each.figure <= (each.high or 0)
            assert ("range of the changes" in str(each.what)) == outside


def test_guesses_that_one_count_answers_say_so() -> None:
    """The aged bases of V1 and of even spacing are equal, seed by seed."""
    found = {each.claim: each for each in reviewers.answers()}
    spread, v1 = found["D-prose-even-spacing"], found["D-prose-lock-step"]
    assert replace(spread, claim=v1.claim, what=v1.what) == v1
    assert "the same count as D-prose-lock-step" in str(spread.what)


def test_a_question_without_a_common_seed_is_refused() -> None:
    """The error names the claim."""
    rows = sweep({"shared": {1: 1.0}, "percpu": {2: 1.0}})
    with pytest.raises(InputError, match="D-test"):
        reviewers.answer(ASKED, {"few": rows})


def test_the_notebook_prints_the_verdicts_of_the_one_table() -> None:
    """Each guess of the thread has the words of `overview.judged`; the mail's claim is none."""
    asked = patch.guesses()
    assert asked["claim"].to_list() == [
        each.claim for each in REVIEWERS if each.claim != "D-prose-shared-trunk"
    ]
    texts = claims.claim_texts(overview.judged([patch]))
    columns = ["claim", "simulated_verdict", "measured_verdict"]
    judged = {row[0]: row for row in texts.select(columns).iter_rows()}
    for row in asked.select(columns).iter_rows():
        assert row == judged[row[0]]


def test_each_question_is_a_guess_or_a_claim_of_the_first_mail() -> None:
    """No guess of data/published is left out."""
    kinds = claims.kinds().filter(pl.col("claim").str.starts_with("D"), kind="guess")
    names = {each.claim for each in REVIEWERS}
    assert names == {*kinds["claim"], "D-prose-shared-trunk"}


def test_a_row_of_v1_is_open_if_it_does_not_vanish_at_each_age() -> None:
    """It falls most while bases are apart, and hardly where tasks stay on their CPUs."""
    (row,) = overview.judged([patch]).filter(claim="D-lock-remove").to_dicts()
    (base, gone) = (
        studies.predicted().filter(kernel=kernel, metric=metric)["value"].median()
        for kernel, metric in (
            ("before", "_raw_spin_lock_irqsave.__remove_mapping.shrink_page_list"),
            ("after", "_raw_spin_lock_irqsave.__remove_mapping.shrink_page_list"),
        )
    )
    assert row["simulated"] == pytest.approx(100 * (gone / base - 1))
    assert row["claimed"] == "vanishes"
    assert row["low"] < -VANISHES_BY_PERCENT < row["high"] < 0
    assert row["simulated_verdict"] == "open"


LOCK_OF = {
    "add": "xa_lock",
    "remove": "xa_lock",
    "charge": "lru_lock",
    "shrink-inactive": "lru_lock",
    "shrink-active": "lru_lock",
    "free-entries": "si->lock",
    "scan-slots": "si->lock",
    "free-pages": "zone->lock",
    "cgroup-record": "swap_cgroup's lock",
}
"""Row of a profile -> the lock that its function waits for."""


def test_a_real_kernel_answers_a_row_if_all_rows_of_its_lock_claim_the_same() -> None:
    """Its count has no call sites; the sign of a row is that of its change, or of its words."""
    rows = overview.judged([patch]).filter(pl.col("claim").str.contains("^D3?-lock-"))
    measured, claimed = {}, {}
    for row in rows.iter_rows(named=True):
        mail, name = row["claim"].split("-lock-")
        falls = row["claimed"] in ("falls", "vanishes")
        within = row["claimed"] == "stays"
        claimed.setdefault((mail, LOCK_OF[name]), set()).add("stays" if within else falls)
        measured[mail, LOCK_OF[name], name] = row["measured"] is not None
    counted = claims.measured_results(HALF_FULL)["metric"].to_list()
    for (mail, lock, _), there in measured.items():
        same = len(claimed[mail, lock]) == 1
        assert there == (same and f"{lock} contended acquisitions" in counted), (mail, lock)


@pytest.mark.parametrize(
    ("claim", "metric", "policy"),
    [
        ("D-lock-add", "xa_lock contended acquisitions", "percpu"),
        ("D3-lock-free-entries", "si->lock contended acquisitions", "percpu-rerandomise"),
        ("D-prose-shared-trunk", "slots in a trunk with another CPU", "percpu"),
    ],
)
def test_a_measured_answer_is_the_change_of_the_rounds(
    claim: str, metric: str, policy: str
) -> None:
    """The medians of five rounds of a rule against those of the shared base, named by `what`."""
    rows = claims.measured_results(HALF_FULL).filter(metric=metric)
    base, value = (
        median(rows.filter(policy=each)["value"].to_list()) for each in ("shared", policy)
    )
    (row,) = patch.answers().filter(claim=claim, source="measured").to_dicts()
    assert row["figure"] == pytest.approx(100 * (value - base) / base)
    assert (row["rounds"], row["base"], row["value"]) == (5, base, value)
    assert "Linux 6.1, 8 CPUs" in row["what"]


@pytest.mark.parametrize("version", mails.VERSIONS)
def test_each_claim_has_a_figure_at_each_age(version: str) -> None:
    """Young, the score is the prediction's, later that of the mail's life; a range has all ages."""
    rows = claims_by_age()
    assert rows["age"].unique(maintain_order=True).to_list() == list(studies.ages(version))
    claim = {"V1": "D-prose-score", "V3": "D3-prose-score"}[version]
    scores = rows.filter(claim=claim)["simulated"].to_list()
    of_score = studies.life().filter(metric="pmbench score", fit=version)
    means = of_score.group_by("label", "policy", maintain_order=True).agg(pl.col("value").mean())
    gained = against(means, {"policy": "shared"})["change"].to_list()
    answered = patch.answers().filter(source="simulated")
    young = answered.filter(claim=claim)["figure"].item()
    assert scores == pytest.approx([young, *gained[1:]])
    ends = rows.group_by("claim").agg(
        least=pl.col("simulated").min(), most=pl.col("simulated").max()
    )
    both = answered.filter(range_over="ages").join(ends, on="claim", how="inner")
    assert both.height == ends.height
    assert (both["low"] <= both["least"]).all()
    assert (both["high"] >= both["most"]).all()


def test_an_edited_device_has_no_stored_rows() -> None:
    """On another device the rules of the stored rows run again, next to a user's."""
    small = replace(studies.CHURN, warm_up_pages=2**9, pages=2**7, used_share=0.4)
    rows = patch.rows_of("few-cpus", studies.DEVICE, small, {"cpus": [4]}, ())
    assert rows["setting"].unique().to_list() == ["4"]
    assert set(rows["policy"]) == set(studies.counts("few-cpus")["policy"])
    kept = patch.rows_of("few-cpus", studies.DEVICE, studies.CHURN, {"cpus": [4]}, ())
    assert kept.equals(studies.counts("few-cpus"))


def test_a_reply_is_answered_on_its_own_drives() -> None:
    """The figure is of 32 pages at a time, young; the range is over all queues and ages."""
    rows = studies.replies()
    gained = patch.gains(rows, "swapout throughput").filter(drive="Optane")
    assert gained.height == 4
    means = (
        rows.filter(metric="swapout throughput").group_by("label", "policy").agg(pl.mean("value"))
    )
    changes = []
    for label in gained["label"]:
        base, value = (
            means.filter(label=label, policy=policy)["value"].item()
            for policy in ("shared", studies.MERGED)
        )
        changes.append(100 * (value / base - 1))
    (found,) = patch.answers().filter(claim="D2-optane-swap-out").to_dicts()
    usual = gained["label"].to_list().index(f"Optane, {drives.USUAL} at a time, {drives.YOUNG}")
    wanted = [changes[usual], min(changes), max(changes)]
    assert [found["figure"], found["low"], found["high"]] == pytest.approx(wanted)
    assert found["rounds"] == 4
