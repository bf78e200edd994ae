# SPDX-License-Identifier: GPL-2.0-or-later
"""Binding of ``sweeps.h``: threads of usemem that sweep over more memory than there is."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from swapsim._core import ffi, lib
from swapsim.errors import InputError, check_number
from swapsim.ffi import check, config, values


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeps:
    """Threads, their memory, their CPUs, and the times of an access and of a fault.

    Fields are those of ``struct sws_sweeps_config``; ``fault_ns`` has a time for each number of
    threads that fault. A thread's times lie up to ``uneven_percent`` (0 to 90) from the mean:
    uniform, drawn by the seed, and constant during a run.
    """

    threads: int
    sweeps: int
    pages: int
    memory: int
    nodes: int = 1
    slots: int
    list_pages: int = 1
    active_per_inactive: int
    cpus: int
    kswapds: int
    uneven_percent: float = 0.0
    access_ns: int
    fault_ns: tuple[int, ...]
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each field."""
        tasks, pages, ns = lib.SWS_SWEEPS_TASKS_MAX, lib.SWS_SWEEPS_PAGES_MAX, lib.SWS_SWEEPS_NS_MAX
        for name, low, high in (
            ("threads", 1, tasks),
            ("sweeps", 1, lib.SWS_SWEEPS_MAX),
            ("pages", self.threads, pages),
            ("nodes", 1, lib.SWS_SWEEPS_NODES_MAX),
            ("memory", 16 * self.nodes, pages),
            ("slots", 1, pages),
            ("list_pages", 1, lib.SWS_SWEEPS_LIST_MAX),
            ("active_per_inactive", 1, 1000),
            ("cpus", 1, tasks),
            ("kswapds", 0, tasks),
            ("access_ns", 0, ns),
            ("seed", 0, 2**63 - 1),
        ):
            check_number(name, getattr(self, name), low, high)
        if not 0 <= self.uneven_percent <= 90:
            raise InputError(f"uneven_percent={self.uneven_percent!r}: choose 0 to 90")
        if len(self.fault_ns) < self.threads:
            raise InputError(
                f"fault_ns={self.fault_ns!r}: give a time for each of 1 to {self.threads} threads"
            )
        for time in self.fault_ns:
            check_number("fault_ns", time, 1, ns)

    @property
    def shares(self) -> list[int]:
        """Return the pages of each thread."""
        share, rest = divmod(self.pages, self.threads)
        return [share + (thread < rest) for thread in range(self.threads)]

    def factors(self) -> list[int]:
        """Return each thread's access time by the mean, in millionths, drawn by the seed."""
        uneven = self.uneven_percent / 100
        drawn = np.random.default_rng(self.seed).uniform(1 - uneven, 1 + uneven, self.threads)
        mean = float(drawn.sum()) / self.threads
        return [round(lib.SWS_SWEEPS_ONE * float(one) / mean) for one in drawn]


class Swept(NamedTuple):
    """The times and counts of a run; those until its end if no slot was left (`out_of_swap`)."""

    elapsed_ns: int
    system_ns: int
    accesses: int
    faults: int
    pages_out: int
    out_of_swap: bool


def sweep(settings: Sweeps) -> Swept:
    """Run the threads to their end, or until no slot is left."""
    made = config(
        lib.sws_sweeps_config_init,
        settings,
        fault_ns=ffi.new("uint64_t[]", list(settings.fault_ns)),
        factors=ffi.new("uint32_t[]", settings.factors()),
    )
    result = ffi.new("struct sws_sweeps_result *")
    check(lib.sws_sweeps_run(made, result))
    *counts, out_of_swap = values(result[0]).values()
    return Swept._make([*counts, bool(out_of_swap)])
