# SPDX-License-Identifier: GPL-2.0-or-later
"""The questions of the allocator's authors: streams on tiers, and the ranking of the answers."""

from collections.abc import Mapping

import polars as pl
import pytest

from swapsim.clusters import questions
from swapsim.clusters.alternatives import BASE
from swapsim.clusters.churn import churn


def values(measures: pl.DataFrame, metric: str) -> Mapping[str, float]:
    """Return a metric by alternative."""
    return dict(measures.filter(metric=metric).select("policy", "value").iter_rows())


@pytest.mark.parametrize("question", questions.QUESTIONS)
def test_each_question_ranks_its_alternatives_on_generated_streams(question: str) -> None:
    """Two seeds are two runs of each alternative; nothing changes by the rules of 7.3."""
    asked = questions.QUESTIONS[question]
    measures = pl.concat(questions.measured((question, asked.generated, seed)) for seed in (1, 2))
    ranking = questions.ranked(measures, question)
    assert ranking["metric"].unique(maintain_order=True).to_list() == list(asked.metrics)
    assert set(ranking["policy"]) == {each.name for each in asked.alternatives}
    assert set(ranking["runs"]) == {2}
    assert not ranking["user"].any()
    assert set(ranking.filter(policy=BASE)["median"]) == {0}


def test_on_two_tiers_the_upper_one_runs_full_and_the_lower_one_does_not() -> None:
    """So the lower one is used; only a cluster for all devices is below a device with slots."""
    measures = questions.measured(("tiers", "two tiers", 3))
    lower, inversions = (values(measures, name) for name in ("lower device", "inversions"))
    assert 0 < lower[BASE] < 100
    assert inversions[BASE] > 0
    for name in ("per-device", "per-device, kept", "masks, per-device"):
        assert inversions[name] == 0
    # Every third task may not use the upper tier.
    assert lower["masks"] > lower[BASE]


def test_what_is_kept_is_never_freed() -> None:
    """With a share of 1 no single slot is freed, and without one some are."""
    freed = {}
    for kept in (0, 1):
        rows, _ = churn(1, requests=4000, kept=kept)
        singles, frees = (rows.events.filter(op=op, n=1) for op in ("grant", "free"))
        freed[kept] = singles.join(frees, on="slot", how="semi").height
    assert freed[1] == 0 < freed[0]
