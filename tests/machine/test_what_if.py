# SPDX-License-Identifier: GPL-2.0-or-later
"""What-ifs gain nothing where nothing changed, and have the range of their fits and seeds."""

import re
import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl
import pytest

from swapsim import study
from swapsim.errors import InputError, SwapsimError
from swapsim.machine import run as run_machine
from swapsim.machine.config import Machine
from swapsim.machine.constants import costs_by_name
from swapsim.machine.running import gain, rounded, run_rows, sweep
from swapsim.patches import common
from swapsim.patches.common import Case
from swapsim.policies import Policy, policy

SMALL = Machine(
    kernel="4.8",
    policy="shared",
    tags=True,
    writers=4,
    frames=2**12,
    slots=2**16,
    warmup_ns=1_000_000,
    duration_ns=4_000_000,
)


def case(*, setting: float = 4, **costs: int) -> Case:
    """Return a case by hand."""
    return common.at(setting, f"{setting:g} writers"), SMALL.replace(costs=costs)


def run(
    cases: list[Case], fits: dict[str, dict[str, int]], policies: Any, seeds: Any = (1, 2)
) -> pl.DataFrame:
    """Return the reports on all trials."""
    points = common.trials(cases, fits, policies, seeds)
    return study.table(partial(common.report, "swap_out"), points)


@pytest.fixture
def own() -> Policy:
    """Give a policy of one's own: a base for each CPU, as the kernel stores it."""

    @policy(base_of="cpu")
    def mine(next: int) -> int:  # noqa: A002
        return next

    return mine


NO_TAGS = {"base": {}, "patched": {"tags": False}}


def test_a_patched_machine_that_is_the_base_gains_nothing() -> None:
    """Exactly 0 %, with the same waits on both sides, for each fit and seed."""
    fits = {"as it is": {}, "slow": {"tree_ns": 3000}}
    policies: dict[str, dict[str, object]] = {"base": {}, "patched": {}}
    found = run([case()], fits, policies)
    changes = study.against(found, policy="base")
    assert changes.filter(metric="waits").select("fit", "seed").rows() == [
        (fit, seed) for fit in fits for seed in (1, 2)
    ]
    assert changes["value"].to_list() == [0.0] * 8
    assert found.filter(metric="swap_out", policy="base")["value"].n_unique() == 4


def test_a_trial_reports_what_its_run_counts() -> None:
    """The rate is that of a run at the same seed, the waits the sum of all locks'."""
    found = run([case()], {"a": {}}, NO_TAGS, seeds=[5])
    for side, fields in NO_TAGS.items():
        own = found.filter(policy=side)
        ran = run_rows(replace(SMALL, seed=5, **fields))
        out = ran.filter(metric="swap_out")["value"].item()
        assert own.filter(metric="swap_out")["value"].item() == out
        waits = ran.filter(pl.col("metric").str.starts_with("cycles."))["value"].sum()
        assert own.filter(metric="waits")["value"].item() == pytest.approx(waits)
    (gained,) = study.over(study.against(found.filter(metric="swap_out"), policy="base"))["middle"]
    assert gained > 0


def test_what_cannot_gain_is_named() -> None:
    """A metric that the machine does not have is one line, and a change without a value."""
    with pytest.raises(SwapsimError, match=r"no accesses to gain on.*4 writers"):
        common.report("accesses", common.trials([case()], {"a": {}}, NO_TAGS)[0])
    with pytest.raises(InputError, match="metric='tides': choose one of"):
        gain(SMALL, metric="tides", tags=False)
    with pytest.raises(InputError, match="metric='accesses': the machine has none"):
        gain(SMALL, metric="accesses", tags=False)
    for nothing in ({}, {"tags": []}):
        with pytest.raises(InputError, match="give fields of the machine"):
            gain(SMALL, **nothing)


def test_a_window_of_a_part_of_reclaims_cycle_is_named() -> None:
    """The warning says how long it should be; in twice this time there is none."""
    machine = Machine(kernel="4.8", walkers=4, frames=2**15, duration_ns=8_000_000)
    with pytest.warns(UserWarning, match="a node swaps out") as said:
        gain(machine, seeds=1, tags=False)
    (wanted,) = re.findall(r"give duration_ns=([\d,]+) or more$", str(said[0].message))
    longer = machine.replace(duration_ns=2 * int(wanted.replace(",", "")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gain(longer, seeds=1, tags=False)


def test_a_machine_that_has_not_settled_is_named() -> None:
    """Halves that differ in all seeds are said; after the warm-up that is asked for they agree."""
    early = Machine(kernel="4.8", writers=8, warmup_ns=0, duration_ns=4_000_000)
    with pytest.warns(UserWarning, match="not settled; give warmup_ns=4,000,000 or more"):
        sweep(early, seeds=3, tags=[True])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sweep(early.replace(warmup_ns=4_000_000), seeds=3, tags=[True])


def test_critical_sections_as_long_as_a_part_of_the_window_are_named() -> None:
    """The warning says for how long to run, and that is enough."""
    slow = SMALL.replace(costs={"tree_ns": 50_000})
    with pytest.warns(UserWarning, match="critical sections are not much shorter") as said:
        run_machine(slow)
    (wanted,) = re.findall(r"give duration_ns=([\d,]+) or more$", str(said[0].message))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        longer = run_machine(slow.replace(duration_ns=2 * int(wanted.replace(",", ""))))
    first, second = longer.halves or (0, 0)
    assert first + second == pytest.approx(longer.throughput * longer.value("elapsed") / 1e9)


def test_scan_bases_gain_only_where_no_cluster_is_free(own: Policy) -> None:
    """A machine with free clusters says so in one line; a policy of one's own stands in a list."""
    scattered = Machine(
        kernel="6.1", walkers=4, fragmented=True, policy="shared", slots=2**17, duration_ns=10**8
    )
    free = scattered.replace(fragmented=False)
    with pytest.warns(UserWarning, match=r"policy=(mine|percpu): no gain.* fewer slots") as said:
        gained = gain(free, seeds=1, policy=[own, "percpu"])
    assert {each.filename for each in said} == {__file__}
    assert gained.select("policy", "low", "high").rows() == [("mine", 0, 0), ("percpu", 0, 0)]
    mine, same = gain(scattered, seeds=1, policy=[own, "percpu"]).rows()
    assert mine[1:] == same[1:]
    assert mine[1] > 0


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([24.1049, 24.1049], (24.1, 24.1, 24.1)),
        ([20.31, 21.77, 22.39], (22.0, 20.0, 22.0)),
        ([1.234, 1.268, 1.301], (1.27, 1.23, 1.3)),
        ([-3.0, 210.4], (104.0, -3.0, 210.0)),
    ],
)
def test_a_gain_has_the_digits_that_its_range_deserves(
    values: list[float], shown: tuple[float, ...]
) -> None:
    """Those of half the range, at most two."""
    assert rounded(values) == shown


def test_the_costs_of_a_case_stand_in_for_a_fits() -> None:
    """A drive's latency is the case's, whatever the fit says."""
    found = run([case(copy_ns=700)], {"a": {}, "b": {"copy_ns": 900}}, ["shared"], seeds=[1])
    assert found.filter(metric="swap_out")["value"].n_unique() == 1


def test_drives_vary_by_latency_and_by_queue_apart() -> None:
    """Each latency with each queue, and memory; the setting is what the drive can serve."""
    cases = common.by_drive(SMALL)
    usual = costs_by_name()["channel_ns"]
    drives = [(one.channels, one.costs.get("channel_ns", usual)) for _, one in cases]
    assert drives == [(count, 1000 * us) for us in (20, 80, 120) for count in (8, 32, 128)] + [
        (0, usual)
    ]
    assert [names["setting"] for names, _ in cases[:4]] == [4e5, 1.6e6, 6.4e6, 1e5]
    assert len({names["label"] for names, _ in cases}) == len(cases)
