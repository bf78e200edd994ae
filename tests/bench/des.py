# SPDX-License-Identifier: GPL-2.0-or-later
"""Lock acquisitions a second of 16 CPUs on one core, beside SimPy's model of the same crowd."""

import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from swapsim._core import ffi, lib

NAMES = ("des/simpy",)
ROUNDS = 5
CPUS = 16
THINK_NS = 2000
HOLD_NS = 50
"""One lock that is all but saturated: three acquisitions in four wait, and queues are of all
lengths."""

LOCKS = 1
OURS = 2_000_000
THEIRS = 20_000


def run() -> Iterator[dict[str, object]]:
    """Yield a row; ours and peer alternate, medians of five, in the process's own time."""
    try:
        import simpy
    except ImportError:
        simpy = None
    rates: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(ROUNDS):
        rates["ours"].append(OURS / seconds(lambda: closed_loop(OURS)))
        if simpy is not None:
            rates["peer"].append(THEIRS / seconds(lambda: by_simpy(simpy, THEIRS)))
    ours = statistics.median(rates["ours"]) / 1e6
    row: dict[str, object] = {
        "name": "des/simpy",
        "ours": round(ours, 3),
        "peer": None,
        "unit": "million acquisitions/s",
        "ratio": None,
    }
    if simpy is None:
        yield row | {"reason": "simpy is not installed"}
        return
    peer = statistics.median(rates["peer"]) / 1e6
    yield row | {"peer": round(peer, 4), "ratio": round(ours / peer, 1)}


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call: a busy neighbour does not count."""
    start = time.process_time()
    call()
    return time.process_time() - start


def closed_loop(acquisitions: int) -> int:
    """Run our crowd; return its clock."""
    config = ffi.new("struct sws_closed_loop_config *")
    lib.sws_des_config_init(ffi.addressof(config.des))
    config.des.cpus, config.des.cpus_per_socket = CPUS, CPUS // 2
    config.locks, config.think_ns, config.hold_ns, config.seed = LOCKS, THINK_NS, HOLD_NS, 1
    site, now = ffi.new("struct sws_des_site *"), ffi.new("uint64_t *")
    code = lib.sws_closed_loop(config, acquisitions, site, now)
    assert code == lib.SWS_OK
    return int(now[0])


def by_simpy(simpy: Any, acquisitions: int) -> float:
    """Run SimPy's crowd; return its clock."""
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
