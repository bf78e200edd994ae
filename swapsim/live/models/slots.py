# SPDX-License-Identifier: GPL-2.0-or-later
"""The slot workbench: where the slots of each task lie over time, and the metrics of the churn."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import polars as pl

from swapsim import slots
from swapsim.live import _native
from swapsim.slots.metrics import QUOTIENTS


def setting(
    device: slots.SlotsConfig,
    churn: slots.ChurnConfig,
    *,
    frames: int = 100,
    metrics: Sequence[str] = tuple(QUOTIENTS),
) -> dict[str, Any]:
    """Return a device and its churn as a setting, with about so many frames, and metrics."""
    quotients = {name: QUOTIENTS[name] for name in metrics}
    return {
        **{name: value for name, value in asdict(device).items() if name != "address_spaces"},
        **asdict(churn),
        "seed": str(device.seed),
        "frames": frames,
        "metrics": {
            name: {"over": [*each.over], "under": [*each.under]} for name, each in quotients.items()
        },
    }


def _configs(values: Mapping[str, Any]) -> tuple[slots.SlotsConfig, slots.ChurnConfig]:
    given = {**values, "seed": int(values["seed"])}
    made = [
        {field.name: given[field.name] for field in fields(config) if field.name in given}
        for config in (slots.SlotsConfig, slots.ChurnConfig)
    ]
    return slots.SlotsConfig(**made[0]), slots.ChurnConfig(**made[1])


def rows(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return a row for each frame and task: ``pages, task, shared, slot``.

    ``pages`` are those swapped out since the churn began, ``slot`` is the last one of the task,
    ``shared`` the share of the frame's pages in the trunk of another CPU's last slot.
    """
    schema = {"pages": pl.Int64, "task": pl.Int64, "shared": pl.Float64, "slot": pl.Int64}
    return pl.DataFrame(_native.churn_frames(*_configs(values), values["frames"]), schema)


def metrics(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return the metrics of `slots.measure` that the setting names: ``metric, value``."""
    found = slots.measure(*_configs(values))
    return pl.DataFrame({"metric": [*values["metrics"]]}).join(
        found.select("metric", "value"), on="metric", how="left", maintain_order="left"
    )
