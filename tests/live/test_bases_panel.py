# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of bases has the signs of notebooks 04 and 05."""

import pytest

from swapsim.live import panels
from swapsim.live.description import run
from swapsim.patches import cluster_next as patch

OLD = {"age": str(patch.RACE_AGES_MS[-1])}
CASES = {
    "young": ({}, "rises", "rises"),
    "aged, just under half full": (OLD, "either", "rises"),
    "aged, above half full": ({**OLD, "fill": "70"}, "falls", "rises"),
}
"""Where -> what is turned, and the signs of the gains of V1 and of the merged rule."""


@pytest.mark.parametrize("case", CASES)
def test_gains_over_the_seeds_have_the_signs_of_the_notebooks(case: str) -> None:
    """V1 gains while it is young, and loses on an aged device that is more than half full."""
    turned, *signs = CASES[case]
    panel = panels.bases()
    rows = run(panel, panel.first | turned).filter(metric="swap_out")
    by_policy = rows.pivot("policy", index="seed", values="value")
    for policy, sign in zip(patch.POSTED[1:], signs, strict=True):
        gains = (by_policy[policy] - by_policy["shared"]).to_list()
        found = "rises" if min(gains) > 0 else "falls" if max(gains) < 0 else "either"
        assert found == sign, policy


def test_more_tasks_do_not_fill_the_device_above_one_half() -> None:
    """Slots that CPUs keep are counted: under half full the shared base keeps its rate."""
    panel = panels.bases()
    aged = [
        run(panel, panel.first | OLD | {"walkers": tasks}).filter(
            metric="swap_out", policy="shared"
        )["value"]
        for tasks in ("8", "16")
    ]
    assert min(aged[1]) > max(aged[0]) * 0.9
