# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines of patch D and its alternatives."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from swapsim import traces
from swapsim.errors import InputError
from swapsim.machine.config import Machine
from swapsim.machine.running import run_rows
from swapsim.patches import cluster_next as patch
from swapsim.patches.cluster_next.machines import IN_MEMORY, IN_MEMORY_HIGH, IN_MEMORY_LOW
from swapsim.patches.stored_fits import base_figure
from swapsim.published.data import published_tables


def value(results: pl.DataFrame, metric: str) -> float:
    """Return one metric of a run."""
    return float(results.filter(pl.col("metric") == metric)["value"].item())


def test_the_machine_of_patch_d_is_that_of_its_mail() -> None:
    """Sixteen walkers on two pmems of 48 GB, eight each, under 5.7 and scan-more."""
    config = patch.machine(policy="shared")
    assert (config.walkers, config.nodes, config.devices, config.channels) == (16, 2, 2, 0)
    assert config.slots * 4096 == 48 * 2**30
    assert (config.kernel, config.read_percent, config.cpus) == ("5.7+scan-more", 80, 18)


@pytest.mark.parametrize("gigabytes", [1, 6, 24, 48])
def test_a_smaller_device_of_patch_d_keeps_its_shares(gigabytes: int) -> None:
    """Memory and pages go with the device: as many accesses miss, and it is as full."""
    config = patch.machine(policy="shared", gigabytes=gigabytes)
    usual = patch.machine(policy="shared")
    assert config.slots * 4096 == gigabytes * 2**30
    for one in (config, usual):
        pages = one.walkers * one.pages
        assert one.nodes * one.frames / pages == pytest.approx(3 / 8, rel=1e-4)
        assert (pages - one.nodes * one.frames) / (one.devices * one.slots) == pytest.approx(
            0.48, rel=1e-4
        )
    assert config.warmup_ns <= usual.warmup_ns
    # A window has as many cycles of reclaim, whose length goes with memory.
    assert config.duration_ns / gigabytes == usual.duration_ns / 48


@pytest.mark.parametrize("in_memory", [IN_MEMORY_LOW, 0.3, IN_MEMORY_HIGH])
def test_the_part_in_memory_leaves_the_devices_as_full(in_memory: float) -> None:
    """A smaller memory means fewer pages, and as many of them on the devices."""
    config = patch.machine(policy="shared", gigabytes=1, in_memory=in_memory)
    pages = config.walkers * config.pages
    assert config.nodes * config.frames / pages == pytest.approx(in_memory, rel=1e-4)
    out = pages - config.nodes * config.frames
    assert out / (config.devices * config.slots) == pytest.approx(0.48, rel=1e-4)


def test_the_part_in_memory_is_that_of_the_mails_kernels() -> None:
    """From the base of the first mail to the patched kernel of the third: what misses comes in."""
    of_mails = pl.col("mail").is_in(["D-percpu-cluster-next", "D-percpu-cluster-next-v3"])
    printed = published_tables().filter(of_mails, metric="swapin throughput")["value"]
    accesses = 16 * base_figure(patch.PATCH, "not stated", "accesses/s")
    parts = [1 - rate * 1e9 / 4096 / accesses for rate in printed]
    assert pytest.approx(min(parts), abs=0.01) == IN_MEMORY_LOW
    assert pytest.approx(max(parts), abs=0.01) == IN_MEMORY_HIGH
    assert IN_MEMORY_LOW < IN_MEMORY <= IN_MEMORY_HIGH


def test_the_kernel_of_patch_d_may_be_that_of_its_third_mail() -> None:
    """Under 5.8 a page is charged without lru_lock, and nothing else of the machine differs."""
    old, new = (
        patch.machine(policy="shared", kernel=kernel, gigabytes=1)
        for kernel in ("5.7+scan-more", "5.8")
    )
    assert replace(new, kernel=old.kernel) == old
    charges = [
        value(run_rows(config), "acquisitions.lru_lock.mem_cgroup_commit_charge")
        for config in (old, new)
    ]
    assert charges[0] > 0.5
    assert charges[1] == 0


def test_the_aged_device_is_seven_tenths_full() -> None:
    """Eight walkers' pages that memory does not hold fill that share of two gigabytes."""
    config = patch.aged_device(policy="percpu", seed=4)
    assert (config.policy, config.seed, config.walkers) == ("percpu", 4, 8)
    assert config.slots * 4096 == 2 * 2**30
    out = config.walkers * config.pages - config.frames
    assert out / config.slots == pytest.approx(0.7, abs=0.001)


def shipped(name: str, **fields: Any) -> Machine:
    """Return the machine of a shipped trace."""
    return patch.traced_machine(traces.shipped_folders("slots")[name], **fields)


def test_the_machine_of_a_trace_is_its_device_with_a_cpu_for_each_task() -> None:
    """Device, trunks and kernel are the trace's; the config can be sent to another process."""
    config = shipped("slots-8-many-trunks", policy="avoid", seed=3)
    assert (config.slots, config.trunk_shift, config.cluster_size) == (131072, 10, 256)
    assert (config.kernel, config.policy, config.seed, config.nodes) == ("6.1", "avoid", 3, 1)
    assert (config.tasks, config.cpus) == (9, 10)
    assert isinstance(hash(config), int)
    again = pickle.loads(pickle.dumps(config))
    assert again.streams.requests.equals(config.streams.requests)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "rows",
    [
        pl.int_range(pl.len()) < 500,
        pl.int_range(pl.len()) <= pl.arg_where(pl.col("op") == "free").first(),
    ],
)
def test_a_trace_that_is_too_short_is_refused(tmp_path: Path, rows: pl.Expr) -> None:
    """One line with the file and what to do, before anything runs."""
    source = traces.shipped_folders("slots")["slots-4-shared"]
    events = pl.read_parquet(source / "slot_events.parquet").filter(rows)
    events.write_parquet(tmp_path / "slot_events.parquet")
    (tmp_path / "trace.toml").write_bytes((source / "trace.toml").read_bytes())
    traces.sign(tmp_path)
    with pytest.raises(InputError, match="longer"):
        patch.traced_machine(tmp_path, policy="shared")
