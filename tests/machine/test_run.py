# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the machine: their metrics, and configs that are refused."""

import re
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs
from swapsim.machine.running import run_rows
from swapsim.policies import policy
from swapsim.published.data import RESULTS

SHORT = Machine(
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


def test_a_run_gives_results() -> None:
    """RESULTS, source simulated, one row per metric."""
    results = run_rows(SHORT)
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
    assert run_rows(SHORT).equals(run_rows(SHORT))
    assert not run_rows(SHORT).equals(run_rows(replace(SHORT, seed=2)))


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
    results = run_rows(config)
    assert set(results["policy"]) == {"stay"}
    assert value(results, "swap_in") > 0
    same = run_rows(replace(config, policy="percpu"))
    assert same.drop("policy").equals(results.drop("policy"))


LIMITED = {"kernel": "5.7", "nodes": 1, "memory_max": 2000}


@pytest.mark.parametrize(
    ("config", "changed", "word"),
    [
        (replace(SHORT, duration_ns=1000), {"fault_ns": 1000}, "'fault_ns' of 1000 ns.*longer"),
        (Machine(walkers=1, accesses=1), {}, "warmup_ns=10000000: .*shorter"),
        (replace(SHORT, slots=4000, duration_ns=10**8), {}, "no swap slot is left.*more slots"),
    ],
)
def test_a_run_without_a_result_says_what_to_do(
    config: Machine, changed: dict[str, int], word: str
) -> None:
    """A cost as long as the run, tasks that end in the warm-up, and a full device."""
    with pytest.raises((InputError, InputError), match=word):
        run_rows(config, change_costs(costs(), changed))


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("writers", {"writers": 0}),
        ("nodes", {"nodes": 0}),
        ("devices", {"devices": 3}),
        ("kernel", {"kernel": "5.9"}),
        ("policy", {"policy": "anyone"}),
        ("frames", {"frames": 100}),
        ("frames", {"list_pages": 512}),
        ("list_pages", {"list_pages": 0}),
        ("slots", {"walkers": 4, "pages": 10**6}),
        ("duration_ns", {"duration_ns": 0}),
        ("fragmented", {"fragmented": 1}),
        ("rotational", {"rotational": 1}),
        ("tags", {"tags": 2}),
        ("seed", {"seed": -1}),
        ("read_percent", {"read_percent": 101}),
        ("slots", {"devices": 2, "slots": 2**29 + 1}),
        ("trunk_shift", {"slots": 2**24, "trunk_shift": 3}),
        ("removal", {"removal": "in batches"}),
        ("devices", {"shares_memory": True, "devices": 2}),
        ("accesses", {"shares_memory": True, "accesses": 9}),
        ("accesses", {"accesses": 10, "channels": 1}),
        ("drop_percent", {"drop_percent": 25}),
        ("drop_percent", LIMITED | {"drop_percent": 100}),
        ("nodes", LIMITED | {"nodes": 2}),
        ("memory_max", LIMITED | {"memory_max": 2**14}),
        ("memory_max", LIMITED | {"memory_max": 100}),
    ],
)
def test_a_bad_config_is_refused_by_name(field: str, fields: dict[str, Any]) -> None:
    """A config is checked when it is made: one line with field, value, and what to do."""
    with pytest.raises(InputError) as caught:
        replace(SHORT, **fields)
    message = str(caught.value)
    assert message.startswith(f"{field}=")
    assert re.search("choose|give|set|needs", message)
    assert "\n" not in message


def test_batched_removals_save_acquisitions_and_lengthen_holds() -> None:
    """A list of 32 is one acquisition of its mapping's lock, held for as long as 32 removals."""
    site = "tree_lock.__remove_mapping"
    one, batched = (
        dict(run_rows(replace(SHORT, removal=removal)).select("metric", "value").iter_rows())
        for removal in ("page-by-page", "batched")
    )
    assert one[f"acquisitions.{site}"] == pytest.approx(1, abs=0.01)
    assert batched[f"acquisitions.{site}"] == pytest.approx(1 / 32, rel=0.1)
    assert batched[f"longest_hold.{site}"] == 32 * one[f"longest_hold.{site}"]
    add = "longest_wait.tree_lock.add_to_swap_cache.shrink_page_list"
    assert batched[add] > batched[f"longest_hold.{site}"] > one[add]
