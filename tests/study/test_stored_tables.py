# SPDX-License-Identifier: GPL-2.0-or-later
"""Each table that is a sweep can be stored, and continues with what is missing."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from swapsim import slots, traces
from swapsim.machine import what_if
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.run import run_policies
from swapsim.patches import writeback_tags
from swapsim.policies.policy import Policy
from swapsim.slots.config import ChurnConfig, SlotsConfig
from swapsim.slots.workbench import cluster_next as slots_replay
from swapsim.study import SerialExecutor

SERIAL = SerialExecutor()

SMALL = writeback_tags.machine(tags=True)
SMALL = replace(SMALL, frames=2**13, slots=2**17, warmup_ns=1_000_000, duration_ns=2_000_000)


def small(*, policy: str | Policy, seed: int) -> MachineConfig:
    """Return a machine for a short run."""
    return replace(SMALL, kernel="5.8", swap_writeback_tags=None, policy=policy, seed=seed)


def gains(folder: Path | None) -> pl.DataFrame:
    """Gain by two numbers of writers: two batches of two."""
    cases = [
        what_if.Case(what_if.at(writers, str(writers)), replace(SMALL, writers=writers))
        for writers in (2, 4)
    ]
    tags = {"base": {"swap_writeback_tags": True}, "patched": {"swap_writeback_tags": False}}
    return what_if.run(cases, {"a": costs()}, tags, seeds=[1], executor=SERIAL, folder=folder)


def by_policy(folder: Path | None) -> pl.DataFrame:
    """Run two policies with two seeds: two batches of two."""
    return run_policies(small, ["shared", "percpu"], seeds=2, executor=SERIAL, folder=folder)


def one_at_a_time(folder: Path | None) -> pl.DataFrame:
    """Measure nine seeds: a batch of eight and one of one."""
    return slots.one_at_a_time(
        SlotsConfig(slots=4096),
        ChurnConfig(),
        {"used_share": [0.5]},
        policies=["percpu"],
        seeds=9,
        executor=SERIAL,
        folder=folder,
    )


def replayed(folder: Path | None) -> pl.DataFrame:
    """Serve a trace's requests with nine seeds: a batch of eight and one of one."""
    trace = traces.shipped("cluster-next")["slots-4-shared"]
    return slots_replay(trace, policies=["percpu"], seeds=9, executor=SERIAL, store=folder)


TABLES = {
    "what_if.run": gains,
    "throughput.run_policies": by_policy,
    "slots.one_at_a_time": one_at_a_time,
    "replay.cluster_next": replayed,
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_stored_and_continues(tmp_path: Path, name: str) -> None:
    """Two batches are stored, a lost one is written again; the table is that without a folder."""
    table: Callable[[Path | None], pl.DataFrame] = TABLES[name]
    plain = table(None)
    assert table(tmp_path).equals(plain)
    before = {path: path.stat().st_ino for path in sorted(tmp_path.glob("batch-*.parquet"))}
    stays, lost = before
    lost.unlink()
    assert table(tmp_path).equals(plain)
    assert lost.exists()
    assert stays.stat().st_ino == before[stays]
