# SPDX-License-Identifier: GPL-2.0-or-later
"""The constants of the mail's machine, the configs made of them, and runs."""

import dataclasses
import re
from collections.abc import Callable
from functools import partial

import polars as pl
import pytest

from swapsim import published, reclaim
from swapsim.errors import SwapsimError
from swapsim.ffi import RECLAIM_RULES
from swapsim.reclaim import FILES_MIB, WARM_UP, change_constants, config_of, constants, run_config

SMALL = config_of("mmotm", share=1 / 128)
RUN = run_config(SMALL)
SECOND = 1_000_000_000


def test_a_changed_constant_widens_its_range() -> None:
    """A value beyond low and high becomes low or high."""
    found = change_constants(constants(), {"disk_rate": 512, "scan_ns": 5000})
    row = found.filter(pl.col("name") == "disk_rate").row(0, named=True)
    assert (row["value"], row["low"], row["high"]) == (512, 512, 38400)


WITHOUT_SCAN = constants().filter(pl.col("name") != "scan_ns")


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (partial(run_config, SMALL, WITHOUT_SCAN), "constant 'scan_ns' is missing"),
        (partial(change_constants, WITHOUT_SCAN, {"rate": 1}), "rate"),
        (partial(change_constants, WITHOUT_SCAN, {"look_ns": True}), "look_ns"),
        (partial(reclaim.parallelio, iterations=0), "iterations=0: choose a whole number"),
        (partial(reclaim.parallelio, disk_rat=1), "field='disk_rat': did you mean disk_rate"),
        (partial(reclaim.parallelio, swappiness=101), "swappiness=101"),
        (partial(reclaim.parallelio, "3.12"), "rules='3.12'"),
        (partial(reclaim.parallelio, iterations=16), "iterations=16: choose a whole number"),
        (partial(reclaim.parallelio, share=0), "share=0"),
        (partial(reclaim.parallelio, share=1 / 10_000), "choose 256 pages or more"),
    ],
)
def test_a_bad_argument_is_named(call: Callable[[], object], remedy: str) -> None:
    """The message has the constant, or the argument and its value."""
    with pytest.raises(SwapsimError, match=remedy):
        call()


def test_the_mails_config_is_as_large_as_its_files_say() -> None:
    """Four fifths of 7150 MB hold the pool."""
    config = config_of()
    assert 4 / 5 < config.items * config.item_pages / (5720 * 256) <= 1
    assert config.files == (0, 0, 715 * 256, 2385 * 256, 4055 * 256)
    assert config.start_used_pages == int(0.64 * 7150 * 256) - 64_000
    assert config.dma32_pages + config.normal_pages + 64_000 == 7150 * 256


def test_the_tables_of_a_run_agree() -> None:
    """Sums by round, by time and by counter are the same, and the last tick is the end."""
    ticks: list[int] = []
    found = run_config(SMALL, tick=ticks.append)
    assert not found.out_of_memory
    assert found.rounds["end_ns"][-1] == found.elapsed_ns == ticks[-1]
    counters = found.counters
    assert counters["swapped_in"] == found.rounds["swapped_in"].sum()
    assert counters["dirtied"] == sum(SMALL.files)
    assert counters["ops"] == found.activity["ops"][-1]
    slept = counters["kswapd_slept_ns"] + counters["tasks_slept_ns"]
    assert slept == found.sleeps["slept_ns"].sum() > 0
    for name in ("kswapd_slept_ns", "tasks_slept_ns", "throttled_ns", "writes", "queue_ns"):
        assert found.activity[name].is_sorted()
        assert found.activity[name][-1] == counters[name]
    assert found.memory.equals(RUN.memory)
    assert found.counters == RUN.counters
    other = run_config(dataclasses.replace(SMALL, seed=2))
    assert other.counters != RUN.counters


def test_the_rows_of_vmstat_add_up() -> None:
    """Zone velocities add up to kswapd's and direct reclaim's; writes are file and anon."""
    found = dict(RUN.vmstat.iter_rows())
    zones = found["Zone normal velocity"] + found["Zone dma32 velocity"]
    assert zones == pytest.approx(found["Kswapd velocity"] + found["Direct velocity"])
    written = found["Page writes file"] + found["Page writes anon"]
    assert found["Page writes by reclaim"] == written
    assert found["Swap Outs"] == found["Page writes anon"]


@pytest.mark.parametrize("rules", RECLAIM_RULES)
def test_without_a_file_the_rules_do_not_matter(rules: str) -> None:
    """A pool that fits is served at the rate of one operation's cost."""
    config = dataclasses.replace(config_of(rules, share=1 / 512), files=(0,))
    found = run_config(config)
    assert found.rounds["ops_per_second"][0] == pytest.approx(22780, rel=1e-3)
    assert found.sleeps["slept"].sum() == 0


def test_the_rows_of_a_run_are_rows_of_the_mail() -> None:
    """Each row that is judged is one that a run has, quotients of two rows apart."""
    names = RUN.rows["metric"]
    files = SMALL.files[WARM_UP:]
    sizes = {f"-{pages // 256}M": size for pages, size in zip(files, FILES_MIB, strict=True)}
    found = {re.sub(r"-\d+M$", lambda size: f"-{sizes[size[0]]}M", name) for name in names}
    tables = ("parallelio", "vmstat", "iostat")
    printed = {row for name in tables for row in published.table("C", f"{name}, disk")["metric"]}
    assert found <= printed
    assert len(found) > 50


def test_the_worst_iteration_is_printed_with_its_own_figures() -> None:
    """The one with the fewest operations of each size, of equal ones the first; no warm-up."""
    rounds = pl.DataFrame(
        {
            "file_pages": [0, 0, 0, 2560, 2560, 2560],
            "ops_per_second": [1.0, 9.0, 8.0, 7.0, 5.0, 5.0],
            "io_ns": [0, 0, 0, 3 * SECOND, 1 * SECOND, 2 * SECOND],
            **{name: [0, 1, 2, 3, 4, 5] for name in ("swapped_in", "swapped_out")},
            **{name: [0, 1, 2, 3, 4, 5] for name in ("minor_faults", "major_faults")},
        }
    )
    found = dict(dataclasses.replace(RUN, rounds=rounds).ops.iter_rows())
    assert found["Ops memcachetest-0M"] == 8
    assert found["Ops memcachetest-10M"] == 5
    assert found["Ops io-duration-10M"] == 1
    assert found["Ops swaptotal-10M"] == 8
    assert len(found) == 12


def test_the_rows_of_iostat_are_over_samples() -> None:
    """The mean over samples of 10 s, those without a request among them, and the maximum."""
    names = ("t_ns", "reads", "writes", "read_ns", "write_ns", "queue_ns")
    lines = [(5, 1, 0, 0, 0, 0), (10, 1, 2, 3, 8, 20), (20, 1, 2, 3, 8, 20), (25, 1, 4, 3, 20, 30)]
    activity = pl.DataFrame(
        [(t * SECOND, r, w, *(ns * SECOND for ns in rest)) for t, r, w, *rest in lines],
        schema=names,
        orient="row",
    )
    found = dict(dataclasses.replace(RUN, activity=activity).iostat.iter_rows())
    assert found["Max sda-avgqz"] == 2
    assert found["Mean sda-avgqz"] == pytest.approx((2 + 0 + 2) / 3)
    assert found["Max sda-w_await"] == 6000
    assert found["Mean sda-w_await"] == pytest.approx((4000 + 0 + 6000) / 3)
    assert found["Max sda-r_await"] == 3000
    assert found["Mean sda-await"] == pytest.approx((11000 / 3 + 0 + 6000) / 3)


def test_a_run_has_its_figures_by_name() -> None:
    """The same as in the mail's rows; constants and fields may be others."""
    small = {"io": (2385,), "share": 1 / 128, "seed": 3}
    found = reclaim.parallelio("mmotm", **small)
    rows = dict(found.rows.iter_rows())
    assert found.kswapd_scanned == rows["Kswapd pages scanned"]
    assert found.direct_scanned == rows["Direct pages scanned"]
    assert found.file_written == rows["Page writes file"]
    assert found.swapped_out == rows["Swap Outs"]
    other = reclaim.parallelio("mmotm", disk_rate=30_000, swappiness=0, **small)
    assert not other.rows.equals(found.rows)
