# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases of patch D's what-ifs change one thing; V1's ages are those of the mail's machine."""

from dataclasses import fields, replace

import polars as pl
import pytest

from swapsim import slots
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.run import metric_values
from swapsim.patches import cluster_next as patch
from swapsim.patches.cluster_next import studies
from swapsim.patches.cluster_next.prediction import aged_device, machine


def differing(one: MachineConfig, other: MachineConfig) -> set[str]:
    """Return the fields in which two machines differ."""
    names = [field.name for field in fields(one)]
    return {name for name in names if getattr(one, name) != getattr(other, name)}


def test_the_cases_of_patch_d_differ_by_the_policy_alone() -> None:
    """Within a case only the policy differs, between cases only the factor."""
    usual = patch.machine(policy="shared", gigabytes=12)
    for cases, changed in (
        (studies.cases_by_tasks(policy="avoid"), {"walkers", "pages"}),
        (studies.cases_by_trunk_size(policy="avoid"), {"trunk_shift"}),
        (studies.cases_by_drive(policy="avoid"), {"channels"}),
    ):
        for one in cases:
            assert differing(one.base, one.patched) == {"policy"}
            assert (one.base.policy, one.patched.policy) == ("shared", "avoid")
            assert differing(one.base, usual) <= changed
    for one in studies.cases_by_tasks():
        pages = one.base.walkers * one.base.pages
        assert 0 <= usual.walkers * usual.pages - pages < one.base.walkers
    trunks = {one.label: one.base.trunk_shift for one in studies.cases_by_trunk_size([12, 14])}
    assert trunks == {"16 MB a trunk": 12, "64 MB a trunk": 14}


def test_the_settled_machine_is_the_mails_with_smaller_trunks() -> None:
    """As many trunks and as full, in a smaller machine, with the mail's CPUs."""
    full, small = machine(policy="percpu"), studies.settled(policy="percpu", changes=0.1)
    assert small.slots * studies.SMALLER == full.slots
    assert small.slots >> small.trunk_shift == full.slots >> full.trunk_shift == 768
    pages, frames = (full.pages / small.pages, full.frames / small.frames)
    assert pages == pytest.approx(studies.SMALLER, rel=1e-4)
    assert frames == pytest.approx(studies.SMALLER, rel=1e-4)
    assert small.device.possible_cpus == 2 * studies.CPUS_OF_NODE
    assert small.stay_ns * studies.SMALLER == 10_000_000_000


def test_each_age_is_compared_with_the_shared_base_of_that_age() -> None:
    """Base and patched machine differ only in the policy; tasks of young machines stay."""
    cases = studies.ages_of_v1()
    assert len({case.label for case in cases}) == len(cases) == 9
    for case in cases:
        assert replace(case.patched, policy="shared") == case.base
        assert case.patched.policy == case.factor
        assert case.patched.stay_ns == 0 or case.setting == studies.SETTLED_TURNS * studies.TURN_S


def test_each_claim_of_the_first_mail_has_a_figure_at_each_age() -> None:
    """The score is that of V1's life, and the range of a claim has all ages."""
    rows = studies.claims_over_life.load()
    ages = [case.label for case in studies.ages_of_v1() if case.factor == "percpu"]
    assert rows["age"].unique(maintain_order=True).to_list() == ages
    scores = rows.filter(claim="D-prose-score")["simulated"].to_list()
    life = studies.life().filter(pl.col("label").is_in(ages))
    assert scores == pytest.approx(life["middle"].to_list(), abs=0.1)
    figures = studies.simulated_claims().filter(range_over="ages")
    assert figures["claim"].to_list() == rows["claim"].unique(maintain_order=True).to_list()
    ends = rows.group_by("claim", maintain_order=True).agg(
        least=pl.col("simulated").min(), most=pl.col("simulated").max()
    )
    assert (figures["low"] <= ends["least"]).all()
    assert (figures["high"] >= ends["most"]).all()


def test_the_slot_workbench_has_the_same_trunks_cpus_and_use() -> None:
    """It is one device of the mail, with tasks on nine of a socket's CPUs."""
    device, churn = studies.wanderers(0.1)
    small = studies.settled(policy="percpu")
    assert (device.slots, device.trunk_shift) == (small.slots, small.trunk_shift)
    assert (device.possible_cpus, churn.tasks) == (studies.CPUS_OF_NODE, 9)
    # 18 s a turn: nine tasks, 0.1 changes of CPU a second each, 16.2 changes a turn.
    free = (1 - churn.used_share) * device.slots
    assert free / churn.pages_a_cpu == pytest.approx(16.2, rel=0.001)


def test_tasks_that_change_cpu_keep_v1s_bases_apart() -> None:
    """Linear bases get into the same trunk, unless tasks change CPU."""
    device, churn = studies.wanderers(studies.CHANGES_HIGH)
    device = replace(device, slots=device.slots // 8, policy="percpu")
    churn = replace(
        churn,
        warm_up_pages=churn.warm_up_pages // 4,
        pages=churn.pages // 4,
        pages_a_cpu=churn.pages_a_cpu // 8,
    )
    pairs = [
        dict(slots.measure(device, each).select("metric", "value").iter_rows())["trunk.pairs"]
        for each in (replace(churn, pages_a_cpu=0), churn)
    ]
    assert pairs[0] > 15 > 8 > pairs[1]


def test_spread_ends_as_percpu() -> None:
    """After the fill only the base of kswapd differs, which percpu gains from for some time."""
    cases = {case.label: case for case in studies.race_by_age()}
    assert cases["spread, 400 ms"].patched == aged_device(policy="spread")
    moved = {
        label: metric_values(replace(cases[label].patched, duration_ns=20_000_000), costs())[
            "swap_out"
        ]
        for label in ("percpu, 50 ms", "spread, 50 ms", "spread, 400 ms")
    }
    assert moved["percpu, 50 ms"] > moved["spread, 50 ms"] > 1.2 * moved["spread, 400 ms"]
