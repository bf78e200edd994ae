# SPDX-License-Identifier: GPL-2.0-or-later
"""Kept: V1 over its life, and tasks that change CPU."""

from collections.abc import Mapping
from functools import partial
from typing import Final

import polars as pl

from swapsim import slots
from swapsim.machine.costs import costs
from swapsim.machine.what_if import Case, gains, ranges
from swapsim.patches.cluster_next.kept.machine import fits
from swapsim.patches.cluster_next.life import (
    CHANGES,
    CHANGES_HIGH,
    CHANGES_LOW,
    ages,
    gains_over_life,
    race_by_age,
    wanderers,
)
from swapsim.patches.cluster_next.machines import PATCH
from swapsim.slots.config import ChurnConfig, SlotsConfig
from swapsim.study import SerialExecutor
from swapsim.study.kept import kept, picked

LAB_DEVICE: Final = SlotsConfig(slots=2**15, trunk_shift=9, possible_cpus=24)
"""128 MB, 64 trunks, as in data/capture/experiments/tasks-that-change-cpu.toml."""

LAB_CHURN: Final = ChurnConfig(used_share=0.42, warm_up_pages=25_000, pages=25_000, tasks=8)
"""Its eight tasks: what is measured is the second half of their three turns."""

LAB_STAYS: Final = (0, 1000, 100)
"""Pages out on a CPU: two of three of its visits."""


def _constants() -> Mapping[str, pl.DataFrame]:
    return {"V1": fits.load()["V1"].constants}


def _one_of_the_young(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    cases, seed = _youngest(ages(), rows, pick)
    return gains_over_life(_constants(), cases, seeds=[seed], executor=SerialExecutor())


def _youngest(cases: list[Case], rows: pl.DataFrame, pick: int) -> tuple[list[Case], int]:
    """Return one of the youngest cases, and a seed of it: the others take long."""
    young = rows.filter(pl.col("setting") == pl.col("setting").min())
    label, seed = picked(young, ["label", "seed"], pick)
    return [case for case in cases if case.label == label], seed


@kept("cluster-next-life", patch=PATCH, sample=_one_of_the_young, shown=ranges)
def life(progress: bool) -> pl.DataFrame:
    """Say what V1 and the merged rule gain young, at half a second and settled (WHAT_IF_RANGES)."""
    return gains_over_life(_constants(), seeds=(1, 2), progress=progress)


def _usual() -> Mapping[str, pl.DataFrame]:
    return {"data/costs.csv": costs()}


def _one_race(rows: pl.DataFrame, pick: int) -> pl.DataFrame:
    cases, seed = _youngest(race_by_age(), rows, pick)
    return gains(cases, _usual(), seeds=[seed], executor=SerialExecutor())


@kept("cluster-next-race-by-age", sample=_one_race, shown=ranges)
def race_at_ages(progress: bool) -> pl.DataFrame:
    """Race bases in a line on the aged device, from when it was filled on (WHAT_IF_RANGES)."""
    return gains(race_by_age(), _usual(), seeds=(1, 2, 3), progress=progress)


def _one_setting(
    device: SlotsConfig, churn: ChurnConfig, rows: pl.DataFrame, pick: int
) -> pl.DataFrame:
    setting, policy = picked(rows, ["setting", "policy"], pick)
    return slots.one_at_a_time(
        device,
        churn,
        {"pages_a_cpu": [int(setting)]},
        policies=[policy],
        seeds=1,
        executor=SerialExecutor(),
    )


def _stays() -> list[int]:
    return [
        wanderers(changes)[1].pages_a_cpu for changes in (0, CHANGES_LOW, CHANGES, CHANGES_HIGH)
    ]


@kept("cluster-next-wanderers", sample=partial(_one_setting, *wanderers(0)), reads=())
def wandering_tasks(progress: bool) -> pl.DataFrame:
    """Measure bases on one of the mail's devices by how long tasks stay on a CPU (SLOT_SWEEP)."""
    return slots.one_at_a_time(
        *wanderers(0),
        {"pages_a_cpu": _stays()},
        policies=("percpu", "percpu-rerandomise"),
        seeds=5,
        progress=progress,
    )


@kept(
    "cluster-next-wanderers-in-the-lab",
    sample=partial(_one_setting, LAB_DEVICE, LAB_CHURN),
    reads=(),
)
def wandering_tasks_of_the_lab(progress: bool) -> pl.DataFrame:
    """Measure the lab's device by how long its tasks stay on a CPU (SLOT_SWEEP)."""
    return slots.one_at_a_time(
        LAB_DEVICE,
        LAB_CHURN,
        {"pages_a_cpu": LAB_STAYS},
        policies=("shared", "percpu", "percpu-rerandomise"),
        progress=progress,
    )
