# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the machine: their metrics, and configs that are refused."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim.claims.tables import RESULTS
from swapsim.errors import ConfigError, InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.run import run
from swapsim.policies.policy import policy

SHORT = MachineConfig(
    patch="01-writeback-tags",
    kernel="4.8",
    policy="shared",
    nodes=2,
    writers=4,
    frames=4096,
    slots=2**16,
    warmup_ns=1_000_000,
    duration_ns=5_000_000,
)


def value(results: pl.DataFrame, metric: str) -> float:
    """Return one metric of a run."""
    return float(results.filter(pl.col("metric") == metric)["value"].item())


def test_a_cost_as_long_as_the_run_is_refused() -> None:
    """A cost must be shorter than the run."""
    with pytest.raises(InputError, match="cost 'fault_ns' of 1000 ns is as long as the run"):
        run(replace(SHORT, duration_ns=1000), change_costs(costs(), {"fault_ns": 1000}))


def test_tasks_that_end_within_the_warm_up_are_refused() -> None:
    """A run of no length has no rates."""
    with pytest.raises(ConfigError, match="warmup_ns=1000000: all tasks ended"):
        run(MachineConfig(walkers=1, accesses=1, warmup_ns=1_000_000))


def test_a_run_gives_results() -> None:
    """RESULTS, source simulated, one row per metric."""
    results = run(SHORT)
    assert results.schema == RESULTS.schema
    assert results["metric"].is_unique().all()
    assert set(results["source"]) == {"simulated"}
    assert set(results["policy"]) == {"tags"}
    assert value(results, "swap_out") > 100_000
    assert value(results, "acquisitions.tree_lock.__remove_mapping") == pytest.approx(1, rel=0.01)
    shares = [value(results, f"{name}.writer") for name in ("run", "hold", "wait", "idle")]
    assert sum(shares) == pytest.approx(100)


def test_the_same_seed_gives_the_same_bytes() -> None:
    """Two runs of one config are equal, those of two seeds are not."""
    assert run(SHORT).equals(run(SHORT))
    assert not run(SHORT).equals(run(replace(SHORT, seed=2)))


def test_a_device_that_fills_up_is_named() -> None:
    """Writers that find no slot end the run with an error that says what to do."""
    with pytest.raises(InputError, match="no swap slot is left after"):
        run(replace(SHORT, slots=4000, duration_ns=100_000_000))


def test_a_users_policy_runs_on_the_machine() -> None:
    """A user's policy replaces a built-in one, and its name is in the results."""

    @policy(base_of="cpu", initial="random")
    def stay(next: int) -> int:  # noqa: A002 # the parameter's name is the kernel's
        return next

    config = replace(
        SHORT,
        kernel="5.8",
        policy=stay,
        walkers=4,
        writers=0,
        pages=6000,
        slots=2**16,
        fragmented=True,
        duration_ns=20_000_000,
    )
    results = run(config)
    assert set(results["policy"]) == {"stay"}
    assert value(results, "swap_in") > 0
    same = run(replace(config, policy="percpu"))
    assert same.drop("policy").equals(results.drop("policy"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"writers": 0}, "writers=0 and walkers=0: choose 1 to 2048"),
        ({"nodes": 0}, "nodes=0: choose a whole number from 1 to 8"),
        ({"devices": 3}, "devices=3: choose a whole number from 1 to 2"),
        ({"kernel": "5.9"}, "kernel='5.9': choose one of"),
        ({"policy": "anyone"}, "policy='anyone'"),
        ({"frames": 100}, "frames=100: the 3 CPUs of a node cache pages"),
        ({"walkers": 4, "pages": 10**6}, "pages=1000000: 4 walkers need"),
        ({"duration_ns": 0}, "duration_ns=0"),
        ({"fragmented": 1}, "fragmented=1: choose True or False"),
        ({"seed": -1}, "seed=-1"),
        ({"read_percent": 101}, "read_percent=101"),
        (
            {"devices": 2, "slots": 2**29 + 1},
            "slots=536870913: the devices have 1073741826 slots in all; choose at most 1073741824",
        ),
        (
            {"slots": 2**24, "trunk_shift": 3},
            "trunk_shift=3: the devices have 2097152 trunks in all; choose at most 1048576 trunks",
        ),
        ({"removal": "in batches"}, "removal='in batches': choose one of page-by-page, batched"),
        ({"list_pages": 0}, "list_pages=0: choose a whole number from 1 to 512"),
        ({"list_pages": 512}, "frames=4096: the 3 CPUs of a node cache pages"),
        ({"shares_memory": True, "devices": 2}, "devices=2: shares_memory needs devices=1"),
        ({"shares_memory": True, "accesses": 9}, "accesses=9: writers that exit cannot share"),
        ({"rotational": 1}, "rotational=1: choose True or False"),
    ],
)
def test_a_bad_config_is_refused_by_name(fields: dict[str, Any], message: str) -> None:
    """A config is checked when it is made: field, value, and what to do."""
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        replace(SHORT, **fields)


def test_batched_removals_save_acquisitions_and_lengthen_holds() -> None:
    """A list of 32 is one acquisition of its mapping's lock, held for as long as 32 removals."""
    site = "tree_lock.__remove_mapping"
    one, batched = (
        dict(run(replace(SHORT, removal=removal)).select("metric", "value").iter_rows())
        for removal in ("page-by-page", "batched")
    )
    assert one[f"acquisitions.{site}"] == pytest.approx(1, abs=0.01)
    assert batched[f"acquisitions.{site}"] == pytest.approx(1 / 32, rel=0.1)
    assert batched[f"longest_hold.{site}"] == 32 * one[f"longest_hold.{site}"]
    add = "longest_wait.tree_lock.add_to_swap_cache.shrink_page_list"
    assert batched[add] > batched[f"longest_hold.{site}"] > one[add]
