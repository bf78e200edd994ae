# SPDX-License-Identifier: GPL-2.0-or-later
"""The world's constants, the mail's test made of them, and what a run gives."""

import dataclasses
import re
from pathlib import Path

import polars as pl
import pytest

from swapsim import reclaim
from swapsim.claims import simulation_tolerances
from swapsim.errors import ConfigError, InputError
from swapsim.ffi.facts import RECLAIM_RULES
from swapsim.io.paths import data_root
from swapsim.reclaim.constants import MAIL
from swapsim.reclaim.parallelio import FILES_MIB
from swapsim.reclaim.tables import (
    SIMULATED_ACTIVITY,
    SIMULATED_COUNTERS,
    SIMULATED_MEMORY,
    SIMULATED_PAGES,
    SIMULATED_ROUNDS,
    SIMULATED_THROTTLES,
    SIMULATED_ZONES,
)
from swapsim.study.tables import CONSTANTS

SMALL = reclaim.shrink(reclaim.parallelio("mmotm"), 1 / 128)


def test_each_constant_is_there_with_its_source() -> None:
    """data/reclaim.csv has each cost of the library and each unknown of the mail's machine."""
    found = reclaim.constants()
    assert found.schema == CONSTANTS.schema
    assert tuple(found["name"]) == MAIL.names


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("look_ns,5000", "lock_ns,5000", "field 'name': constant 'lock_ns': it is unknown"),
        (
            "age_ns,150,50",
            "age_ns,150,151",
            "field 'low': constant 'age_ns': 151 must be",
        ),
        ("age_ns,150,50", "age_ns,0,0", "field 'value': constant 'age_ns': 0 is none"),
        ("op_ns,43258,43258,43258", "op_ns,43258,43258,1", "field 'high': constant 'op_ns': 1"),
        ("assumed: 8 GB", "said so", "field 'source': constant 'swap_pages': start it with"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """File, line and field of the first row that does not fit, in one line."""
    text = (data_root() / "reclaim.csv").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "reclaim.csv").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as error:
        reclaim.constants(tmp_path)
    assert f"reclaim.csv, line {text[: text.index(old)].count(chr(10)) + 1}, " in str(error.value)
    assert message in str(error.value)


def test_a_missing_constant_is_named() -> None:
    """A run without one of its costs is refused."""
    with pytest.raises(InputError, match="constant 'scan_ns' is missing"):
        reclaim.run(SMALL, reclaim.constants().filter(pl.col("name") != "scan_ns"))


def test_a_changed_constant_widens_its_range() -> None:
    """What is asked for beyond low and high becomes low or high; unknown names are refused."""
    found = reclaim.change_constants(reclaim.constants(), {"disk_rate": 512, "scan_ns": 5000})
    row = found.filter(pl.col("name") == "disk_rate").row(0, named=True)
    assert (row["value"], row["low"], row["high"]) == (512, 512, 38400)
    with pytest.raises(InputError, match="constant 'rate' is unknown"):
        reclaim.change_constants(found, {"rate": 1})
    with pytest.raises(InputError, match="give a whole number"):
        reclaim.change_constants(found, {"scan_ns": True})


def test_the_mails_world_is_as_large_as_its_files_say() -> None:
    """Four fifths of 7150 MB hold the pool; the files are 0, half and so on of the fifth."""
    config = reclaim.parallelio()
    assert 4 / 5 < config.items * config.item_pages / (5720 * 256) <= 1
    assert config.files == (0, 715 * 256, 2385 * 256, 4055 * 256)
    assert config.dma32_pages + config.normal_pages + 64_000 == 7150 * 256


def test_a_share_is_above_zero() -> None:
    """A world shrunk to nothing is refused."""
    with pytest.raises(ConfigError, match="share=0"):
        reclaim.shrink(reclaim.parallelio(), 0)
    with pytest.raises(ConfigError, match="choose 256 pages or more"):
        reclaim.shrink(reclaim.parallelio(), 1 / 10_000)


def test_a_run_gives_its_tables() -> None:
    """Every table has its schema, and tells of one world."""
    ticks: list[int] = []
    found = reclaim.run(SMALL, tick=ticks.append)
    assert found.rounds.schema == SIMULATED_ROUNDS.schema
    assert found.counters.schema == SIMULATED_COUNTERS.schema
    assert found.zones.schema == SIMULATED_ZONES.schema
    assert found.sleeps.schema == SIMULATED_THROTTLES.schema
    assert found.memory.schema == SIMULATED_MEMORY.schema
    assert found.activity.schema == SIMULATED_ACTIVITY.schema
    assert not found.out_of_memory
    assert found.rounds["end_ns"][-1] == found.elapsed_ns == ticks[-1]
    counters = dict(found.counters.iter_rows())
    assert counters["swapped_in"] == found.rounds["swapped_in"].sum()
    assert counters["dirtied"] == sum(SMALL.files)
    assert counters["ops"] == found.activity["ops"][-1]


def test_the_same_seed_gives_the_same_world() -> None:
    """Two runs are alike in each table, another seed is not."""
    runs = [reclaim.run(dataclasses.replace(SMALL, seed=seed)) for seed in (1, 1, 2)]
    assert runs[0].memory.equals(runs[1].memory)
    assert runs[0].counters.equals(runs[1].counters)
    assert not runs[0].counters.equals(runs[2].counters)


def test_a_page_is_followed_from_its_first_touch_to_the_exit() -> None:
    """Each row is a change; what is in no zone has none; the run is the same as unwatched."""
    config = dataclasses.replace(SMALL, rules="3.9", files=SMALL.files[-1:])
    pool = config.items * config.item_pages
    found = reclaim.follow_pages(config, range(0, pool, pool // 100), step_ns=5_000_000)
    assert found.schema == SIMULATED_PAGES.schema
    assert found["t_ns"].is_sorted()
    assert found["t_ns"].max() == reclaim.run(config).elapsed_ns
    assert set(found.filter(pl.col("zone").is_null())["where"]) <= {"untouched", "swapped-out"}
    for life in found.partition_by("page"):
        where = life["where"].to_list()
        assert where[0] == where[-1] == "untouched"
        changes = life.select(pl.struct("where", "zone")).to_series()
        assert not (changes == changes.shift()).any()
    assert {"active", "inactive", "swapped-out"} <= set(found["where"])


def test_a_page_that_is_none_of_the_pool_is_refused() -> None:
    """Numbers begin at 0 and end with the pool; a step takes time."""
    with pytest.raises(ConfigError, match="pages=-1"):
        reclaim.follow_pages(SMALL, [-1])
    with pytest.raises(ConfigError, match="pages="):
        reclaim.follow_pages(SMALL, [SMALL.items * SMALL.item_pages])
    with pytest.raises(ConfigError, match="step_ns=0"):
        reclaim.follow_pages(SMALL, [0], step_ns=0)


def test_who_slept_adds_up() -> None:
    """Sleeps of kswapd and tasks are all there are; what is summed by time ends at its counter."""
    found = reclaim.run(SMALL)
    counters = dict(found.counters.iter_rows())
    slept = counters["kswapd_slept_ns"] + counters["tasks_slept_ns"]
    assert slept == found.sleeps["slept_ns"].sum() > 0
    for name in ("kswapd_slept_ns", "tasks_slept_ns", "throttled_ns", "writes", "queue_ns"):
        assert found.activity[name].is_sorted()
        assert found.activity[name][-1] == counters[name]


def test_vmstat_is_told_as_the_mail_tells_it() -> None:
    """Zone velocities add up to kswapd's and direct reclaim's; writes are file and anon."""
    found = dict(reclaim.vmstat(reclaim.run(SMALL)).iter_rows())
    zones = found["Zone normal velocity"] + found["Zone dma32 velocity"]
    assert zones == pytest.approx(found["Kswapd velocity"] + found["Direct velocity"])
    written = found["Page writes file"] + found["Page writes anon"]
    assert found["Page writes by reclaim"] == written
    assert found["Swap Outs"] == found["Page writes anon"]


@pytest.mark.parametrize("rules", RECLAIM_RULES)
def test_without_a_file_the_rules_do_not_matter(rules: str) -> None:
    """A pool that fits is served at the rate of one operation's cost, whoever reclaims."""
    config = dataclasses.replace(reclaim.shrink(reclaim.parallelio(rules), 1 / 512), files=(0,))
    found = reclaim.run(config)
    assert found.rounds["ops_per_second"][0] == pytest.approx(23117, rel=1e-3)
    assert found.sleeps["slept"].sum() == 0


def test_the_rows_of_a_world_are_rows_of_the_mail() -> None:
    """Each row that judges a world is one that it has, quotients of two rows apart."""
    world = reclaim.run(SMALL)
    names = pl.concat([reclaim.ops(world), reclaim.vmstat(world), reclaim.iostat(world)])["metric"]
    sizes = {f"-{pages // 256}M": size for pages, size in zip(SMALL.files, FILES_MIB, strict=True)}
    found = {re.sub(r"-\d+M$", lambda size: f"-{sizes[size[0]]}M", name) for name in names}
    judged = simulation_tolerances().filter(~pl.col("metric").str.contains(" : "))
    assert set(judged.filter(pl.col("standing") != "not modelled")["metric"]) <= found
    assert found <= set(judged["metric"])


def test_the_disk_is_told_by_samples() -> None:
    """The mean over lines of 10 s, those without a request among them, and the greatest line."""
    second = 1_000_000_000
    sums = ("reads", "writes", "read_ns", "write_ns", "queue_ns")
    lines = [(5, 1, 0, 0, 0, 0), (10, 1, 2, 3, 8, 20), (20, 1, 2, 3, 8, 20), (25, 1, 4, 3, 20, 30)]
    activity = pl.DataFrame(
        [
            dict(
                zip(("t_ns", *sums), (t * second, r, w, *(ns * second for ns in rest)), strict=True)
            )
            for t, r, w, *rest in lines
        ]
    )
    world = dataclasses.replace(reclaim.run(SMALL), activity=activity)
    found = dict(reclaim.iostat(world).iter_rows())
    assert found["Max sda-avgqz"] == 2
    assert found["Mean sda-avgqz"] == pytest.approx((2 + 0 + 2) / 3)
    assert found["Max sda-w_await"] == 6000
    assert found["Mean sda-w_await"] == pytest.approx((4000 + 0 + 6000) / 3)
    assert found["Max sda-r_await"] == 3000
    assert found["Mean sda-await"] == pytest.approx((11000 / 3 + 0 + 6000) / 3)
