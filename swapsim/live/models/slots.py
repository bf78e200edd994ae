# SPDX-License-Identifier: GPL-2.0-or-later
"""The slot workbench: where the slots of each task lie over time, then the metrics of the churn."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

import polars as pl

from swapsim import slots
from swapsim.live import _native
from swapsim.slots.metrics import QUOTIENTS
from swapsim.slots.workbench import measure

_SCHEMA: Final = {"metric": pl.String, "pages": pl.Int64, "task": pl.Int64, "value": pl.Float64}


def setting(
    device: slots.Device,
    churn: slots.Churn,
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


def configs(**values: Any) -> tuple[slots.Device, slots.Churn]:
    """Return the device and the churn of a setting."""
    given = {**values, "seed": int(values["seed"])}
    made = [
        {field.name: given[field.name] for field in fields(config) if field.name in given}
        for config in (slots.Device, slots.Churn)
    ]
    return slots.Device(**made[0]), slots.Churn(**made[1])


def rows(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return a row for each metric, frame and task: ``metric, pages, task, value``.

    ``pages`` are those swapped out since the churn began. In each frame a task has its last
    ``slot``, and the frame has ``shared``, the share of its pages in the trunk of another CPU's
    last slot. The last rows are the metrics of `slots.run` that the setting names.
    """
    made = configs(**values)
    frames = pl.DataFrame(_native.churn_frames(*made, values["frames"]), _SCHEMA)
    found = measure(*made)
    at_end = pl.DataFrame(
        {"metric": [*values["metrics"]], "value": [found[name] for name in values["metrics"]]},
        {"metric": pl.String, "value": pl.Float64},
    )
    pages = pl.lit(frames["pages"][-1], pl.Int64).alias("pages")
    task = pl.lit(None, pl.Int64).alias("task")
    return pl.concat([frames, at_end.select("metric", pages, task, "value")])
