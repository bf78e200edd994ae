# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases of patch A's test: other numbers of writers, trunks and drives, and other costs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from swapsim.ffi import FRAMES_KEPT
from swapsim.machine.what_if import CPUS, TRUNK_SHIFTS, Case, at_end, on_drives
from swapsim.patches.writeback_tags.fitting import MAP_SHARE, TAG_SHARE, fit, machine
from swapsim.study.constants import Moved

OTHER_COSTS: Final = tuple(
    f"{name}_ns"
    for name in (
        *("travel_same_socket", "travel_other_socket", "irq_save", "fault", "touch", "reference"),
        *("copy", "transfer", "descent", "slot", "device", "test", "avail", "lru_page"),
        "zone_page",
    )
)
"""The constants that patch A's test uses and its fit does not change."""


def cases_by_writers(writers: Sequence[int] = CPUS) -> list[Case]:
    """Return patch A's test with other numbers of writers, on its two sockets."""
    return [
        _case("cpus", count, f"{count} writers", writers=count, frames=_frames(count))
        for count in writers
    ]


def cases_by_trunk_size(shifts: Sequence[int] = TRUNK_SHIFTS) -> list[Case]:
    """Return patch A's test on 5.8, which has a lock per trunk, with and without tags."""
    return [
        _case(
            "trunk",
            2 ** (shift - 8),
            f"{2 ** (shift - 8)} MB a trunk",
            kernel="5.8",
            trunk_shift=shift,
        )
        for shift in shifts
    ]


def cases_by_drive() -> list[Case]:
    """Return patch A's test on drives of several latencies and queue depths, and on memory."""
    return on_drives(_case)


def gain_at_end(moved: Moved) -> pl.DataFrame:
    """Return the gain of the mail's test with a constant at an end of its range (WHAT_IF)."""
    (case,) = cases_by_writers([8])
    return at_end(moved, partial(fit, tag_share=TAG_SHARE, map_share=MAP_SHARE), case)


def _frames(tasks: int) -> int:
    """Return pages for a node's memory, more than its CPUs cache."""
    usual = machine(tags=True)
    per_node = -(-tasks // usual.nodes) + 1
    return max(usual.frames, 4 * FRAMES_KEPT * per_node)


def _case(
    factor: str,
    setting: float,
    label: str,
    *,
    costs: Mapping[str, int] = MappingProxyType({}),
    **fields: Any,
) -> Case:
    base, patched = (replace(machine(tags=tags), **fields) for tags in (True, False))
    return Case(
        factor=factor, setting=setting, label=label, base=base, patched=patched, costs=dict(costs)
    )
