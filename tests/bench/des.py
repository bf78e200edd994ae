# SPDX-License-Identifier: GPL-2.0-or-later
"""Lock acquisitions a second of 16 CPUs on one core, compared with SimPy's model of them."""

import random
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import harness

from swapsim._core import ffi, lib

NAMES = ("des/simpy",)
CPUS = 16
THINK_NS = 2000
HOLD_NS = 50
"""One lock that is all but saturated: three acquisitions in four wait, and queues are of all
lengths."""

LOCKS = 1
OURS = 2_000_000
THEIRS = 20_000


def run() -> Iterator[dict[str, object]]:
    """Yield the benchmark of NAMES, in processor time: a busy neighbour does not count."""

    def ours() -> float:
        return OURS / harness.seconds(lambda: closed_loop(OURS), time.process_time)

    def peer() -> float:
        return THEIRS / harness.seconds(lambda: by_simpy(simpy, THEIRS), time.process_time)

    result = partial(harness.row, NAMES[0], "million acquisitions/s", scale=1e6)
    try:
        import simpy
    except ImportError:
        yield result(*harness.alternate(ours), reason="simpy is not installed")
        return
    yield result(*harness.alternate(ours, peer))


def closed_loop(acquisitions: int) -> int:
    """Run our tasks; return the clock at the end."""
    config = ffi.new("struct sws_closed_loop_config *")
    lib.sws_des_config_init(ffi.addressof(config.des))
    config.des.cpus, config.des.cpus_per_socket = CPUS, CPUS // 2
    config.locks, config.think_ns, config.hold_ns, config.seed = LOCKS, THINK_NS, HOLD_NS, 1
    site, now = ffi.new("struct sws_des_site *"), ffi.new("uint64_t *")
    code = lib.sws_closed_loop(config, acquisitions, site, now)
    assert code == lib.SWS_OK
    return int(now[0])


def by_simpy(simpy: Any, acquisitions: int) -> float:
    """Run SimPy's tasks; return the clock at the end."""
    environment, rng = simpy.Environment(), random.Random(1)
    locks = [simpy.Resource(environment) for _ in range(LOCKS)]
    had = [0]

    def looper(lock: Any) -> Any:
        while True:
            yield environment.timeout(rng.randrange(2 * THINK_NS + 1))
            with lock.request() as request:
                yield request
                had[0] += 1
                yield environment.timeout(HOLD_NS)

    for cpu in range(CPUS):
        environment.process(looper(locks[cpu % LOCKS]))
    while had[0] < acquisitions:
        environment.step()
    return float(environment.now)
