# SPDX-License-Identifier: GPL-2.0-or-later
"""What only live panels call of the C library."""

import math
from collections.abc import Iterator
from typing import Any, Final

from swapsim._core import ffi, lib
from swapsim.ffi import check
from swapsim.slots._native import Bench
from swapsim.slots.config import Churn, Device

_STEP_EFFORT: Final = 256
"""The least effort of a task in a round, of which a page out takes two: WORKBENCH_STEP_EFFORT."""


def churn_frames(device: Device, churn: Churn, frames: int) -> list[dict[str, Any]]:
    """Run a churn as `slots.run`; return each task's last slot and what is shared, by frame."""
    n_tasks = device.online if churn.tasks is None else churn.tasks
    spaces = -(-n_tasks // churn.threads_per_address_space)
    bench = Bench(device, churn, n_tasks=n_tasks)
    bench.fragment(churn)
    effort = math.ceil(2 * (churn.pages + churn.warm_up_pages) * _STEP_EFFORT / frames)
    rows, base = [], 0
    measures = ffi.new("struct sws_workbench_measures *")
    for pages in (churn.warm_up_pages, churn.pages):
        lib.sws_workbench_begin_measures(bench.handle)
        check(lib.sws_workbench_churn(bench.handle, 2 * -(-pages // n_tasks)))
        before = (0, 0)
        for _ in _steps(bench.handle, effort):
            lib.sws_workbench_measures(bench.handle, measures)
            now = measures.pages_out, measures.pages_met
            out, met = (new - old for new, old in zip(now, before, strict=True))
            at = {"pages": base + now[0], "task": None}
            rows += [
                {
                    **at,
                    "metric": "slot",
                    "task": task,
                    "value": lib.sws_workbench_last_slot(bench.handle, task),
                }
                for task in range(spaces)
            ]
            rows.append({**at, "metric": "shared", "value": met / out if out else None})
            before = now
        base += before[0]
    return rows


def _steps(bench: Any, effort: int) -> Iterator[None]:
    """Run a phase to its end; yield after each effort."""
    over = ffi.new("bool *")
    while not over[0]:
        check(lib.sws_workbench_run(bench, effort, over))
        yield
