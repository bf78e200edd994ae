# SPDX-License-Identifier: GPL-2.0-or-later
"""A sweep on a Dask cluster of this machine, with 1, 2 and 4 workers of one thread.

``cluster/N`` are runs of the contention machine a second, compared with the same runs in this
process. ``cluster/empty-N`` are points of a task that does nothing: 1 s divided by this rate is
the overhead of a point, sent in batches of 8. Starting the workers is not in the time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import harness
from distributed import Client, LocalCluster

from swapsim import study
from swapsim.machine import MachineConfig
from swapsim.machine.run import run as run_machine

WORKERS = (1, 2, 4)
NAMES = tuple(f"cluster/{kind}{count}" for kind in ("", "empty-") for count in WORKERS)
EMPTY_POINTS = 4000
MACHINES = [MachineConfig(walkers=4, frames=2**15, seed=seed) for seed in range(1, 33)]


def run() -> Iterator[dict[str, object]]:
    """Yield the benchmarks of NAMES."""
    here = partial(study.run, run_machine, MACHINES, executor=study.SerialExecutor())
    for count in WORKERS:
        with workers(count) as client:
            there = partial(study.run, run_machine, MACHINES, executor=client.get_executor())
            there()  # each worker imports, and hashes, its packages
            sides = (partial(harness.rate, len(MACHINES), call) for call in (there, here))
            yield harness.compare(f"cluster/{count}", "runs/s (peer: this process)", *sides)
            empty = partial(study.run, abs, range(EMPTY_POINTS), executor=client.get_executor())
            rates = harness.alternate(partial(harness.rate, EMPTY_POINTS, empty))
            reason = "no peer: 1 s by this rate is the overhead of a point"
            yield harness.row(f"cluster/empty-{count}", "points/s", *rates, reason=reason)


@contextmanager
def workers(count: int) -> Iterator[Client]:
    """Yield a client of a cluster on this machine."""
    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
