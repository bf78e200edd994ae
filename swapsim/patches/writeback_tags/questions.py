# SPDX-License-Identifier: GPL-2.0-or-later
"""What patch A would gain on other machines, drives and costs."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from swapsim.ffi.facts import FRAMES_KEPT
from swapsim.machine.fit import Fitted
from swapsim.machine.what_if import (
    CPUS,
    TRUNK_SHIFTS,
    Case,
    by_constant,
    gains,
    on_drives,
    refitted,
)
from swapsim.patches.writeback_tags.fitting import fit
from swapsim.patches.writeback_tags.machines import machine

COSTS_ASKED: Final = (
    "travel_same_socket_ns",
    "travel_other_socket_ns",
    "irq_save_ns",
    "fault_ns",
    "touch_ns",
    "reference_ns",
    "copy_ns",
    "transfer_ns",
    "descent_ns",
    "slot_ns",
    "device_ns",
    "test_ns",
    "avail_ns",
    "lru_page_ns",
    "zone_page_ns",
)
"""The constants that patch A's test uses and its fit leaves alone."""


def cases_by_writers(writers: Sequence[int] = CPUS) -> list[Case]:
    """Return patch A's test with other numbers of writers, on its two sockets."""
    return [
        _case("cpus", count, f"{count} writers", writers=count, frames=_frames(count))
        for count in writers
    ]


def cases_by_trunk_size(shifts: Sequence[int] = TRUNK_SHIFTS) -> list[Case]:
    """Return patch A's test on 5.8, which gives each trunk a lock, with tags kept and not."""
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
    """Return patch A's test on drives, by latency and by queue apart, and on memory."""
    return on_drives(_case)


def fits_by_constant(
    *,
    tag_share: float,
    map_share: float,
    names: Sequence[str] = COSTS_ASKED,
    executor: Executor | None = None,
    progress: bool = False,
) -> dict[str, Fitted]:
    """Put each constant of patch A's test at its low and high, and fit the base anew.

    Parameters
    ----------
    tag_share, map_share : float
        As for `fitting.fit`.
    names : sequence of str
    executor, progress
        As for `sweep.run`.

    Returns
    -------
    dict of str to Fitted
        As `what_if.refitted` returns.
    """
    with_shares = partial(fit, tag_share=tag_share, map_share=map_share)
    return refitted(with_shares, names, executor=executor, progress=progress)


def gain_by_constant(
    fits: Mapping[str, Fitted], *, executor: Executor | None = None, progress: bool = False
) -> pl.DataFrame:
    """Set the test's gain at each constant's low and high side by side, the widest apart first.

    Parameters
    ----------
    fits : mapping of str to Fitted
        As `fits_by_constant` returns.
    executor, progress
        As for `sweep.run`.

    Returns
    -------
    polars.DataFrame
        As `what_if.by_constant` returns.
    """
    constants = {name: fitted.constants for name, fitted in fits.items()}
    found = gains(cases_by_writers([8]), constants, executor=executor, progress=progress)
    return by_constant(found)


def _frames(tasks: int) -> int:
    """Return pages of a node's memory beyond what its CPUs keep for themselves."""
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
