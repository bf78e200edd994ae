# SPDX-License-Identifier: GPL-2.0-or-later
"""Costs and simulated results: what is refused by name, and what a run gives."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from swapsim import simulate
from swapsim.config import MachineConfig
from swapsim.config.policies import policy
from swapsim.errors import ConfigError, InputError
from swapsim.machine.costs import change_costs, check_costs, costs
from swapsim.native.facts import COST_NAMES
from swapsim.paths import data_root
from swapsim.schemas import COSTS, RESULTS

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


def test_the_constants_are_those_of_the_library() -> None:
    """data/costs.csv has each field of the C struct, in its order."""
    assert costs()["name"].to_list() == list(COST_NAMES)


def test_each_constant_says_where_it_comes_from() -> None:
    """A source names a microbenchmark, a publication or a base column, or says it is a guess."""
    frame = costs()
    assert frame.schema == COSTS
    assert frame.filter(pl.col("source").str.len_chars() < 7).is_empty()
    guessed = frame.filter(pl.col("source").str.starts_with("assumed"))
    assert (guessed["high"] >= 2 * guessed["low"]).all()


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("value", "0", r"field 'value': cost 'map_ns': 0 is no cost"),
        ("value", "-5", r"field 'value': cost 'map_ns': -5 is no cost"),
        ("value", "", r"field 'value': '' is no Int64"),
        ("value", "1.5", r"field 'value': '1.5' is no Int64"),
        ("low", "5000", r"field 'low': cost 'map_ns': 5000 must be at least 1"),
        ("high", "2", r"field 'high': cost 'map_ns': 2 must be at least the value"),
        ("name", "map_us", r"field 'name': cost 'map_us': it is unknown"),
        ("name", "slot_ns", r"field 'name': cost 'slot_ns': it is given twice"),
        ("unit", "us", r"field 'unit': cost 'map_ns': 'us' is no unit"),
        ("source", "who knows", r"field 'source': cost 'map_ns': start it with"),
    ],
)
def test_a_bad_cost_is_named_with_its_line(
    tmp_path: Path, field: str, text: str, message: str
) -> None:
    """A file with a cost that does not fit is refused with file, line and name."""
    with (data_root() / "costs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    next(row for row in rows if row["name"] == "map_ns")[field] = text
    with (tmp_path / "costs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(InputError, match=rf"costs.csv, line \d+, {message}"):
        costs(tmp_path)


def test_a_missing_cost_is_named() -> None:
    """A table without one of the constants is refused, before anything runs."""
    with pytest.raises(InputError, match="cost 'tree_ns' is missing"):
        simulate.run(SHORT, costs().filter(pl.col("name") != "tree_ns"))


def test_a_bad_cost_of_a_table_is_named_with_its_row() -> None:
    """A table made by hand is checked as a file is."""
    bad = costs().with_columns(
        value=pl.when(pl.col("name") == "lru_page_ns").then(0).otherwise("value")
    )
    with pytest.raises(InputError, match="cost 'lru_page_ns' in row 24: 0 is no cost"):
        simulate.run(SHORT, bad)


def test_rows_may_stand_in_any_order() -> None:
    """The order of the constants' rows does not matter."""
    assert check_costs(costs().reverse()).equals(costs())


def test_a_changed_cost_widens_its_range() -> None:
    """change_costs sets values, keeps the rest, and refuses what is no cost."""
    changed = change_costs(costs(), {"tree_ns": 5000})
    row = changed.filter(pl.col("name") == "tree_ns").row(0, named=True)
    assert (row["value"], row["high"]) == (5000, 5000)
    assert changed.filter(pl.col("name") != "tree_ns").equals(
        costs().filter(pl.col("name") != "tree_ns")
    )
    with pytest.raises(InputError, match="cost 'tree_us' is unknown"):
        change_costs(costs(), {"tree_us": 5})
    with pytest.raises(InputError, match="cost 'tree_ns' of 0: give"):
        change_costs(costs(), {"tree_ns": 0})


def test_a_cost_as_long_as_the_run_is_refused() -> None:
    """A hold longer than what is watched would tell nothing."""
    with pytest.raises(InputError, match="cost 'fault_ns' of 1000 ns is as long as the run"):
        simulate.run(replace(SHORT, duration_ns=1000), change_costs(costs(), {"fault_ns": 1000}))


def test_a_run_gives_results() -> None:
    """RESULTS, source simulated, one row per metric."""
    results = simulate.run(SHORT)
    assert results.schema == RESULTS
    assert results["metric"].is_unique().all()
    assert set(results["source"]) == {"simulated"}
    assert set(results["policy"]) == {"tags"}
    assert value(results, "swap_out") > 100_000
    assert value(results, "acquisitions.tree_lock.__remove_mapping") == pytest.approx(1, rel=0.01)
    shares = [value(results, f"{name}.writer") for name in ("run", "hold", "wait", "idle")]
    assert sum(shares) == pytest.approx(100)


def test_the_same_seed_gives_the_same_bytes() -> None:
    """Two runs of one config are equal, those of two seeds are not."""
    assert simulate.run(SHORT).equals(simulate.run(SHORT))
    assert not simulate.run(SHORT).equals(simulate.run(replace(SHORT, seed=2)))


def test_a_device_that_fills_up_is_named() -> None:
    """Writers that find no slot end the run with what to do."""
    with pytest.raises(InputError, match="no swap slot is left after"):
        simulate.run(replace(SHORT, slots=4000, duration_ns=100_000_000))


def test_a_readers_policy_runs_on_the_machine() -> None:
    """A policy of the reader's own takes the place of a built-in one, and is named."""

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
    results = simulate.run(config)
    assert set(results["policy"]) == {"stay"}
    assert value(results, "swap_in") > 0
    same = simulate.run(replace(config, policy="percpu"))
    assert same.drop("policy").equals(results.drop("policy"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"writers": 0}, "writers=0 and walkers=0: choose 1 to 2048"),
        ({"nodes": 0}, "nodes=0: choose a whole number from 1 to 8"),
        ({"devices": 3}, "devices=3: choose a whole number from 1 to 2"),
        ({"kernel": "5.9"}, "kernel='5.9': choose one of"),
        ({"policy": "nobody"}, "policy='nobody'"),
        ({"frames": 100}, "frames=100: the 3 CPUs of a node keep pages"),
        ({"walkers": 4, "pages": 10**6}, "pages=1000000: 4 walkers need"),
        ({"duration_ns": 0}, "duration_ns=0"),
        ({"fragmented": 1}, "fragmented=1: choose True or False"),
        ({"seed": -1}, "seed=-1"),
        (
            {"devices": 2, "slots": 2**29 + 1},
            "slots=536870913: the devices have 1073741826 slots in all; choose at most 1073741824",
        ),
        (
            {"slots": 2**24, "trunk_shift": 3},
            "trunk_shift=3: the devices have 2097152 trunks in all; choose at most 1048576 trunks",
        ),
    ],
)
def test_a_bad_config_is_refused_by_name(fields: dict[str, Any], message: str) -> None:
    """A config is checked when it is made: field, value, and what to do."""
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        replace(SHORT, **fields)


@pytest.mark.parametrize("tags", [True, False])
def test_the_machine_of_patch_a_is_that_of_its_mail(tags: bool) -> None:
    """Eight writers and two kswapds on one pmem under 4.8."""
    config = simulate.writeback_tags(tags=tags)
    assert (config.writers, config.nodes, config.devices, config.channels) == (8, 2, 1, 0)
    assert (config.kernel, config.swap_writeback_tags, config.cpus) == ("4.8", tags, 10)


def test_the_machine_of_patch_d_is_that_of_its_mail() -> None:
    """Sixteen walkers on two pmems of 48 GB, eight each, under 5.7 and scan-more."""
    config = simulate.cluster_next(policy="shared")
    assert (config.walkers, config.nodes, config.devices, config.channels) == (16, 2, 2, 0)
    assert config.slots * 4096 == 48 * 2**30
    assert (config.kernel, config.read_percent, config.cpus) == ("5.7+scan-more", 80, 18)


@pytest.mark.parametrize("gigabytes", [1, 6, 24, 48])
def test_a_smaller_device_of_patch_d_keeps_its_shares(gigabytes: int) -> None:
    """Memory and pages go with the device: as many accesses miss, and it is as full."""
    config = simulate.cluster_next(policy="shared", gigabytes=gigabytes)
    usual = simulate.cluster_next(policy="shared")
    assert config.slots * 4096 == gigabytes * 2**30
    for one in (config, usual):
        pages = one.walkers * one.pages
        assert one.nodes * one.frames / pages == pytest.approx(3 / 8, rel=1e-4)
        assert (pages - one.nodes * one.frames) / (one.devices * one.slots) == pytest.approx(
            5 / 12, rel=1e-4
        )
    assert config.warmup_ns <= usual.warmup_ns
    assert config.duration_ns == usual.duration_ns


def test_the_kernel_of_patch_d_may_be_that_of_its_third_mail() -> None:
    """Under 5.8 a page is charged without lru_lock, and nothing else of the machine differs."""
    old, new = (
        simulate.cluster_next(policy="shared", kernel=kernel, gigabytes=1)
        for kernel in ("5.7+scan-more", "5.8")
    )
    assert replace(new, kernel=old.kernel) == old
    charges = [
        value(simulate.run(config), "acquisitions.lru_lock.mem_cgroup_commit_charge")
        for config in (old, new)
    ]
    assert charges[0] > 0.5
    assert charges[1] == 0
