# SPDX-License-Identifier: GPL-2.0-or-later
"""V1 over its life: the machines it is asked of, and what tasks that change CPU do to its bases."""

from dataclasses import replace

import polars as pl
import pytest

from swapsim import slots
from swapsim.claims.tables import RESULTS
from swapsim.machine.costs import costs
from swapsim.machine.run import metric_values
from swapsim.patches import cluster_next as patch
from swapsim.patches.cluster_next import life, wanderings
from swapsim.patches.cluster_next.machines import aged_device, machine
from swapsim.slots.tables import SLOT_SWEEP, WANDERINGS


def test_the_settled_machine_is_the_mails_trunk_by_trunk() -> None:
    """As many trunks and as full, in a smaller machine, with the mail's CPUs."""
    whole, small = machine(policy="percpu"), life.settled(policy="percpu", changes=0.1)
    assert small.slots * life.SMALLER == whole.slots
    assert small.slots >> small.trunk_shift == whole.slots >> whole.trunk_shift == 768
    pages, frames = (whole.pages / small.pages, whole.frames / small.frames)
    assert pages == pytest.approx(life.SMALLER, rel=1e-4)
    assert frames == pytest.approx(life.SMALLER, rel=1e-4)
    assert small.device.possible_cpus == 2 * life.CPUS_OF_NODE
    assert small.stay_ns * life.SMALLER == 10_000_000_000


def test_each_age_is_held_against_the_shared_base_of_that_age() -> None:
    """Base and patched machine differ in the policy alone; tasks of the young ones stay."""
    cases = life.ages_of_v1()
    assert len({case.label for case in cases}) == len(cases) == 9
    for case in cases:
        assert replace(case.patched, policy="shared") == case.base
        assert case.patched.policy == case.factor
        assert case.patched.stay_ns == 0 or case.setting == life.SETTLED_TURNS * life.TURN_S


def test_the_slot_workbench_has_the_same_trunks_cpus_and_use() -> None:
    """One device of the mail, a task on nine of a socket's CPUs."""
    device, churn = life.wanderers(0.1)
    small = life.settled(policy="percpu")
    assert (device.slots, device.trunk_shift) == (small.slots, small.trunk_shift)
    assert (device.possible_cpus, churn.tasks) == (life.CPUS_OF_NODE, 9)
    # 18 s a turn: nine tasks, 0.1 changes of CPU a second each, 16.2 changes a turn.
    free = (1 - churn.used_share) * device.slots
    assert free / churn.pages_a_cpu == pytest.approx(16.2, rel=0.001)


def test_tasks_that_change_cpu_keep_v1s_bases_from_one_trunk() -> None:
    """Bases that run on in a line fall into step, unless tasks leave them for others."""
    device, churn = life.wanderers(life.CHANGES_HIGH)
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


def test_spread_begins_where_its_kswapd_does_and_ends_as_percpu() -> None:
    """The fill gives each walker its base but kswapd's, whose first value tells the two apart."""
    cases = {case.label: case for case in life.race_by_age()}
    assert cases["spread, 400 ms"].patched == aged_device(policy="spread")
    moved = {
        label: metric_values(replace(cases[label].patched, duration_ns=20_000_000), costs())[
            "swap_out"
        ]
        for label in ("percpu, 50 ms", "spread, 50 ms", "spread, 400 ms")
    }
    assert moved["percpu, 50 ms"] > moved["spread, 50 ms"] > 1.2 * moved["spread, 400 ms"]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """Return three rounds of each value, the middle one 0.3, and take them as shipped."""
    metrics = (
        (wanderings.SHARED, (0.2, 0.3, 0.9)),
        ("pages out between changes", (0.0, 50.0, 70.0)),
    )
    results = pl.DataFrame(
        [
            (patch.PATCH, "measured", "6.1", value, 8, seed, metric, figure, "1")
            for value in wanderings.TWINS
            for metric, figures in metrics
            for seed, figure in enumerate(figures, 1)
        ],
        schema=RESULTS.schema,
        orient="row",
    )
    monkeypatch.setattr(wanderings.claims, "measured_results", lambda _: results)
    return results


@pytest.mark.usefixtures("measured")
def test_a_real_kernels_slots_stand_beside_the_workbenchs() -> None:
    """Each value of the experiment has its twin, but where the kernel moves the tasks."""
    simulated = pl.DataFrame(
        [
            ("pages_a_cpu", str(stay), policy, 24, seed, "trunk.shared", 0.1 * seed, "share")
            for twin in wanderings.TWINS.values()
            if twin is not None
            for policy, stay in [twin]
            for seed in (1, 2, 3)
        ],
        schema=SLOT_SWEEP.schema,
        orient="row",
    )
    table = patch.measured_beside_simulated(simulated)
    assert table.schema == WANDERINGS.schema
    assert table["base"].to_list()[:3] == ["shared", "percpu-rerandomise", "percpu"]
    assert table["tasks"].to_list()[2:] == [
        *("stay", "change CPU", "change CPU"),
        "are the kernel's",
    ]
    assert table["measured"].to_list() == [0.3] * 6
    assert table["simulated"].to_list()[:5] == pytest.approx([0.2] * 5)
    assert table["simulated"].to_list()[5] is None
    # A round without a change of CPU stands above those with some.
    assert table["pages_a_cpu"].to_list() == [70.0] * 6
