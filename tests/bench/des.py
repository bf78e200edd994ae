# SPDX-License-Identifier: GPL-2.0-or-later
"""Lock acquisitions a second of 16 CPUs on one core, compared with SimPy's model of them.

And the time of a simulated acquisition next to published ones of other processors (anchors).
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import harness

from swapsim._core import ffi, lib
from swapsim.live import models
from swapsim.machine import anchors

ANCHORS = {
    f"des/{kind}/{placement.replace(' ', '-')}/{threads}": (kind, placement, threads)
    for kind in anchors.FAIR
    for placement in anchors.PLACEMENTS
    for threads in anchors.THREADS[1:]
}
NAMES = ("des/simpy", *ANCHORS)
CPUS = 16
THINK_NS = 2000
HOLD_NS = 50
"""One lock that is all but saturated: three acquisitions in four wait, and queues are of all
lengths."""

PEERS = {"queued": "opteron-awn-negative-egress", "ticket": "opteron-ticket"}
MISSING = "no anchor of this lock has this placement and number of threads"
LOCKS = 1
OURS = 2_000_000
THEIRS = 20_000


def run() -> Iterator[dict[str, object]]:
    """Yield the benchmarks of NAMES, SimPy's in processor time: a busy neighbour does not count."""

    def side(loop: Callable[[int], object], count: int) -> Callable[[], float]:
        return partial(harness.rate, count, partial(loop, count), time.process_time)

    sides, reason = [side(closed_loop, OURS)], "simpy is not installed"
    with suppress(ImportError):
        import simpy

        sides.append(side(partial(by_simpy, simpy), THEIRS))
        reason = None
    rates = harness.alternate(*sides)
    yield harness.row(NAMES[0], "million acquisitions/s", *rates, scale=1e6, reason=reason)
    yield from against_anchors()


def against_anchors() -> Iterator[dict[str, object]]:
    """Yield simulated times next to the anchor of the same kind of lock; no ratio, as no rivals."""
    known = anchors.published_anchors()
    for name, (kind, placement, threads) in ANCHORS.items():
        setting = {"kinds": [kind], "placements": [placement], "threads": [threads]}
        found = models.locks(models.locks_setting() | setting)
        ours = harness.digits(1000 / found["value"].item())
        peers = known.filter(anchor=PEERS[kind], threads=threads).to_dicts()
        # The two sockets of the Opteron have 16 cores each: 32 threads have to be mixed.
        allowed = {"one socket": threads <= 16, "mixed": threads > 2, "all remote": threads == 2}
        peer = harness.digits(anchors.published_ns(peers[0])) if allowed[placement] else None
        said = "another processor" if peer else MISSING
        unit = f"ns an acquisition, simulated (peer: {PEERS[kind]}, another processor)"
        yield harness.without_ratio(name, unit, ours, peer, said)


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
