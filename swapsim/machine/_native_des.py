# SPDX-License-Identifier: GPL-2.0-or-later
"""Binding of ``des.h``: the closed loop, CPUs that only take a lock."""

from typing import Final

from swapsim._core import ffi, lib
from swapsim.ffi import LOCK_KINDS, check

TRAVELS: Final = ("travel_same_socket_ns", "travel_other_socket_ns")
"""The transfers of a cache line that a closed loop has; it has one thread on each core."""


def closed_loop_ns(
    kind: str,
    *,
    cpus: int,
    cpus_per_socket: int,
    travels: dict[str, int],
    think_ns: int,
    hold_ns: int,
    acquisitions: int,
    seed: int,
) -> float:
    """Return the time of an acquisition: that of all of them, divided by their number."""
    loop = ffi.new("struct sws_closed_loop_config *")
    lib.sws_des_config_init(ffi.addressof(loop.des))
    loop.des.cpus, loop.des.cpus_per_socket = cpus, cpus_per_socket
    for name in TRAVELS:
        setattr(loop.des, name, travels[name])
    loop.lock_kind, loop.locks = LOCK_KINDS.index(kind), 1
    loop.think_ns, loop.hold_ns, loop.seed = think_ns, hold_ns, seed
    site, now = ffi.new("struct sws_des_site *"), ffi.new("uint64_t *")
    check(lib.sws_closed_loop(loop, acquisitions, site, now))
    return int(now[0]) / acquisitions
