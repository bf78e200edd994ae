# SPDX-License-Identifier: GPL-2.0-or-later
"""What a world of ``reclaim.h`` counts while its pool is served, as one who looks twice counts it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim._core import lib
from swapsim.reclaim import _native as vm
from swapsim.reclaim.config import ReclaimConfig

_LOOK_NS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What was counted between two looks at a world of one round.

    Attributes
    ----------
    out_of_memory : bool
        Whether the world ended before the second.
    ops : int
        What the client was asked meanwhile.
    io_ns : int
        How long the file took, however late it was done; 0 for none.
    counters, zones, sleeps : dict of str to int
        Counters of WORLD_COUNTERS; WORLD_ZONES, all zones together; WORLD_SLEEPS as ``slept
        REASON`` and ``slept_ns REASON``.
    """

    out_of_memory: bool
    ops: int
    io_ns: int
    counters: dict[str, int]
    zones: dict[str, int]
    sleeps: dict[str, int]


def window(config: ReclaimConfig, costs: Mapping[str, int]) -> Window:
    """Run a world of one round, and count from when its pool is full for ``serve_ns``.

    Parameters
    ----------
    config : ReclaimConfig
        The writer begins with the serving, or within a millisecond of it.
    costs : mapping of str to int
        Each field of ``struct sws_reclaim_costs``, in ns.

    Returns
    -------
    Window

    Raises
    ------
    ConfigError
        Naming what does not fit together.
    NativeMemoryError
    """
    world = vm.make(config, costs)
    more, until = True, 0
    while more and not lib.sws_reclaim_round_of(world, 0).serve_ns:
        until += _LOOK_NS
        more = vm.run(world, until)
    first = _counted(world, config)
    if more:
        more = vm.run(world, lib.sws_reclaim_round_of(world, 0).serve_ns + config.serve_ns)
    second = _counted(world, config)
    ended_early = lib.sws_reclaim_outcome(world) == lib.SWS_RECLAIM_OUT_OF_MEMORY
    if more:
        vm.run(world, vm.NEVER)
    counters, zones, sleeps = (
        {name: after[name] - before[name] for name in after}
        for before, after in zip(first, second, strict=True)
    )
    return Window(
        out_of_memory=ended_early,
        ops=lib.sws_reclaim_round_of(world, 0).ops,
        io_ns=lib.sws_reclaim_round_of(world, 0).io_ns,
        counters=counters,
        zones=zones,
        sleeps=sleeps,
    )


def _counted(world: object, config: ReclaimConfig) -> tuple[dict[str, int], ...]:
    sleeps = vm._sleeps(world)
    return (
        dict(vm._counters(world).iter_rows()),
        vm._zones(world, config).drop("zone").sum().row(0, named=True),
        {
            f"{column} {reason}": int(value)
            for column in ("slept", "slept_ns")
            for reason, value in sleeps.select(pl.col("reason").cast(pl.String), column).iter_rows()
        },
    )
