# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows that two mails print are judged by both."""

import math

import polars as pl
import pytest

from swapsim.claims import published_claims, results
from swapsim.patches import cluster_next as patch

ROWS = ("free-entries", "shrink-inactive")


def grown_by(percent: float) -> pl.DataFrame:
    """Return RESULTS of both mails in which every profile row grows by so many percent."""
    frames = []
    for kernels, mail in ((("before", "after"), "D-"), (("v3 before", "v3 after"), "D3-")):
        metrics = [
            str(metric)
            for claim, metric in published_claims().select("claim", "metric").iter_rows()
            if claim.startswith(f"{mail}lock-")
        ]
        for kernel, value in zip(kernels, (1.0, 1 + percent / 100), strict=True):
            frames.append(
                results(
                    [(metric, value, "% of cycles") for metric in metrics],
                    {
                        "patch": patch.PATCH,
                        "kernel": kernel,
                        "policy": "",
                        "n_tasks": 16,
                        "seed": 1,
                    },
                )
            )
    return pl.concat(frames)


def test_two_mails_say_together_what_their_quotients_do() -> None:
    """+3.45 and +42.63 % are +21.5, +11.36 and +78.29 % are +40.9; tolerances shrink too."""
    table = patch.growth_in_both_mails(grown_by(25.0))
    assert tuple(table["row"]) == ROWS
    together = [100 * (math.sqrt(a * b) - 1) for a, b in ((1.0345, 1.4263), (1.1136, 1.7829))]
    assert table["published_together"].to_list() == pytest.approx(together)
    assert [round(value, 1) for value in together] == [21.5, 40.9]
    assert table["tolerance"].to_list() == pytest.approx([18.5 / math.sqrt(2)] * 2)
    assert table["simulated_together"].to_list() == pytest.approx([25.0, 25.0])


@pytest.mark.parametrize(
    ("percent", "agree"),
    [(30.0, [True, True]), (22.0, [True, False]), (50.0, [False, True]), (60.0, [False, False])],
)
def test_growth_is_judged_by_both_mails(percent: float, agree: list[bool]) -> None:
    """Within 13 points of 21.5 and of 40.9 %."""
    assert patch.growth_in_both_mails(grown_by(percent))["agrees"].to_list() == agree


def test_without_a_figure_nothing_is_judged() -> None:
    """A mail that was not simulated leaves both open."""
    table = patch.growth_in_both_mails(grown_by(30.0).filter(pl.col("kernel") == "before"))
    assert table["agrees"].to_list() == [None, None]
