# SPDX-License-Identifier: GPL-2.0-or-later
# ruff: noqa: A002 (a policy asks by name, and next is one)
"""Each policy runs on the same machine, a user's own one as well as a built-in one."""

from dataclasses import replace

import polars as pl
import pytest

import swapsim
from swapsim.errors import InputError
from swapsim.machine.config import Machine
from swapsim.machine.running import PAGES_MOVED, run_policies, run_rows
from swapsim.patches import cluster_next as patch
from swapsim.policies import Policy
from swapsim.published.data import RESULTS


def run_on(next: int) -> int:
    """Do what V1 of the patch does: go on where the scan stands."""
    return next


def from_the_start(lowest: int) -> int:
    """Begin each scan at the lowest slot that may be free."""
    return lowest


def small(*, policy: str | Policy, seed: int = 1) -> Machine:
    """Return the aged device's machine with a twelfth of memory and device, and run it shortly."""
    config = patch.aged_device(policy=policy, seed=seed)
    return replace(
        config,
        frames=config.frames // 12,
        pages=config.pages // 12,
        slots=config.slots // 12,
        warmup_ns=10_000_000,
        duration_ns=5_000_000,
    )


def figures(results: pl.DataFrame, policy: str) -> list[tuple[object, ...]]:
    """Return all that a policy has but its name."""
    return results.filter(policy=policy).drop("policy").rows()


def test_a_users_rule_does_what_the_built_in_one_does() -> None:
    """The same rule gives the same bits, and another rule others."""
    first = swapsim.policy(base_of="device", initial="first")(from_the_start)
    rules = ["percpu", swapsim.policy(base_of="cpu")(run_on), first]
    results = run_policies(small, rules, seeds=2)
    assert results.schema == RESULTS.schema
    policies = results["policy"].unique(maintain_order=True).to_list()
    assert policies == ["percpu", "run_on", "from_the_start"]
    assert figures(results, "run_on") == figures(results, "percpu")
    assert figures(results, "from_the_start") != figures(results, "percpu")
    assert len(figures(results, "percpu")) == 2 * 4


def test_results_are_those_of_the_machine() -> None:
    """Pages out and in a second, all waits, and all tests of slots, of the run at each seed."""
    results = run_policies(small, ["shared"], seeds=2)
    assert results["seed"].unique(maintain_order=True).to_list() == [1, 2]
    for seed in (1, 2):
        ran = run_rows(small(policy="shared", seed=seed))
        value = dict(ran.select("metric", "value").iter_rows())
        found = dict(results.filter(seed=seed).select("metric", "value").iter_rows())
        assert list(found) == [PAGES_MOVED, "waits", "tested", "si->lock"]
        assert found[PAGES_MOVED] == (value["swap_out"] + value["swap_in"]) / 4
        waits = sum(share for metric, share in value.items() if metric.startswith("cycles."))
        assert 0 < found["waits"] < 100
        assert found["waits"] == pytest.approx(waits)
        for name, prefix in (("tested", "slots.tested"), ("si->lock", "acquisitions.si_lock")):
            total = ran.filter(pl.col("metric").str.starts_with(prefix))["value"].sum()
            assert found[name] == pytest.approx(total)
        assert found["tested"] >= 1


@pytest.mark.parametrize(
    ("policies", "seeds", "word"),
    [([], 1, "policies"), (["shared"], 0, "points"), (["x"], 1, "'x'")],
)
def test_nothing_to_run_is_named(policies: list[str], seeds: int, word: str) -> None:
    """No policy, no seed and an unknown policy are one line each."""
    with pytest.raises((InputError, ValueError), match=word):
        run_policies(small, policies, seeds=seeds)
