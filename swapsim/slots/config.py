# SPDX-License-Identifier: GPL-2.0-or-later
"""A swap device with its slot caches, and what tasks do on it.

A value out of its range is an InputError that names the field and the value.
"""

from dataclasses import dataclass, field
from numbers import Real
from typing import Final

import polars as pl

from swapsim import ffi
from swapsim.errors import (
    InputError,
    check_choice,
    check_flag,
    check_number,
    check_share,
    suggestion,
)
from swapsim.ffi import check_ranges
from swapsim.policies import Policy
from swapsim.tables import require

SWAP_IN: Final = ("synchronous", "asynchronous")
"""A page is swapped in past the swap cache, or through it (``slot_workbench.h``)."""

GIGABYTE_SLOTS: Final = 2**18
"""Slots of a gigabyte: pages of 4 KB."""

REQUESTS: Final = pl.Schema(
    {
        "task": pl.UInt32(),
        "mm": pl.Int32(),
        "op": pl.Enum(["get", "put"]),
        "owner": pl.UInt32(),
        "ordinal": pl.UInt32(),
    }
)
"""A row per request of a trace, each task's in its own order: number of the task, that of its
address space (-1 for a kernel thread), a page out or in, the task whose page it is (of a get the
task itself), and which of the owner's gets, from 0, it is of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One swap device with its slot caches (``slots.h``, ``slot_cache.h``).

    InputError: a field is out of its range.

    Parameters
    ----------
    kernel : {"4.8", "5.7", "5.7+scan-more", "5.8", "6.1"}, default "6.1"
        Kernel whose allocator is simulated; "5.7+scan-more" is the base of patch D's V1.
    online_cpus : int or None
        1 to possible_cpus; None for all of them.
    policy : str or Policy, default "percpu-rerandomise"
        Where a scan begins: a name of ``POLICIES``, or a user's policy. `run` has its own, and its
        own ``seed`` and ``address_spaces``.
    slot_cache : bool, default True
        Whether each CPU has a cache of 64 slots in front of the device.
    slots : int, default ``2**20``
        Slots of the device including the header (si->max), 2 to 4294966783.
    cluster_size : int, default 256
        Slots of a cluster: 256, or 512 with huge page swap.
    trunk_shift : int, default 14
        Log2 of the slots of a trunk, 1 to 31.
    rotational : bool, default False
        True for an HDD, which has no clusters and always uses the shared base.
    possible_cpus : int, default 8
        Possible CPUs, 1 to 4096.
    address_spaces : int, default 0
        Number of address spaces, 0 to ``2**24``.
    seed : int, default 1
        The seed of all random draws.

    Examples
    --------
    >>> from swapsim import slots
    >>> slots.Device(slots=2**19, possible_cpus=4).online
    4
    """

    kernel: str = ffi.KERNELS[ffi.SLOTS_DEFAULTS["kernel"]]
    slots: int = ffi.SLOTS_DEFAULTS["slots"]
    cluster_size: int = ffi.SLOTS_DEFAULTS["cluster_size"]
    trunk_shift: int = ffi.SLOTS_DEFAULTS["trunk_shift"]
    rotational: bool = False
    possible_cpus: int = 8
    online_cpus: int | None = None
    address_spaces: int = 0
    policy: str | Policy = ffi.POLICIES[ffi.SLOTS_DEFAULTS["policy"]]
    slot_cache: bool = True
    seed: int = ffi.SLOTS_DEFAULTS["seed"]

    @property
    def online(self) -> int:
        """The number of online CPUs."""
        return self.possible_cpus if self.online_cpus is None else self.online_cpus

    def __post_init__(self) -> None:
        """Check each field."""
        check_choice("kernel", self.kernel, ffi.SLOTS_KERNELS)
        if not isinstance(self.policy, Policy) and self.policy not in ffi.POLICIES:
            raise InputError(
                f"policy={self.policy!r}: {suggestion(self.policy, ffi.POLICIES)}choose one of "
                f"{', '.join(ffi.POLICIES)}, "
                "or a function decorated with @swapsim.policy"
            )
        if self.cluster_size not in (256, 512):
            raise InputError(f"cluster_size={self.cluster_size!r}: choose 256 or 512")
        check_ranges(self, "struct sws_slots_config")
        if self.online_cpus is not None:
            of = f" (possible_cpus={self.possible_cpus})"
            check_number("online_cpus", self.online_cpus, 1, self.possible_cpus, of)
        check_number("seed", self.seed, 0, 2**64 - 1)
        check_flag("rotational", self.rotational)
        check_flag("slot_cache", self.slot_cache)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """Workload: the task of each CPU swaps pages out until all slots but one are in use.

    Tasks share address spaces, ``threads_per_address_space`` each.

    Examples
    --------
    >>> from swapsim import slots
    >>> slots.Fill(threads_per_address_space=4)
    Fill(threads_per_address_space=4)
    """

    threads_per_address_space: int = 1

    def __post_init__(self) -> None:
        """Check each field."""
        check_number("threads_per_address_space", self.threads_per_address_space, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Churn:
    """Workload: a fragmented device, on which tasks swap one page out and one in, in turn.

    The device is filled, then random pages are freed until a share of it is in use. Few or no
    clusters are free then, and the share stays.

    Parameters
    ----------
    used_share : float
        Share of the device's slots, above 0 and up to 1.
    pages : int
        Pages that all tasks swap out while the microbenchmark counts, from 1.
    warm_up_pages : int
        Pages that they swap out before that, from 0.
    swap_in : {"synchronous", "asynchronous"}
        Whether pages are swapped in past the swap cache, which frees the slot, or through it: then
        a page retains its slot while less than half of the device is in use.
    threads_per_address_space : int
        Tasks that share an address space, from 1.
    tasks : int or None
        At most one per online CPU; None: as many as that.
    pages_a_cpu : int
        Mean number of pages that a task swaps out before it moves to an idle CPU; 0: it stays.

    Examples
    --------
    >>> from swapsim import slots
    >>> slots.Churn(used_share=0.9).pages
    65536
    """

    used_share: float = 0.7
    pages: int = 2**16
    warm_up_pages: int = 2**16
    swap_in: str = "synchronous"
    threads_per_address_space: int = 1
    tasks: int | None = None
    pages_a_cpu: int = 0

    def __post_init__(self) -> None:
        """Check each field."""
        check_share("used_share", self.used_share)
        if self.tasks is not None:
            check_number("tasks", self.tasks, 1)
        check_number("pages_a_cpu", self.pages_a_cpu, 0)
        check_number("pages", self.pages, 1)
        check_number("warm_up_pages", self.warm_up_pages, 0)
        check_choice("swap_in", self.swap_in, SWAP_IN)
        check_number("threads_per_address_space", self.threads_per_address_space, 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Streams:
    """Workload: what the tasks of a real kernel requested (REQUESTS), at another pace.

    In the microbenchmark all tasks run at the same rate, each on CPU task % CPUs; on the machine
    each has its own CPU. A share of the rows, 0 to below 1, runs before anything is counted.
    """

    requests: pl.DataFrame = field(repr=False)
    skipped_share: float = 0.0
    swap_in: str = "synchronous"

    def __post_init__(self) -> None:
        """Check each field."""
        require(self.requests, REQUESTS, "requests")
        if self.requests.is_empty():
            raise InputError("the table of requests has no rows: choose a trace that swaps")
        if not isinstance(self.skipped_share, Real) or not 0 <= self.skipped_share < 1:
            raise InputError(f"skipped_share={self.skipped_share!r}: choose from 0 to below 1")
        check_choice("swap_in", self.swap_in, SWAP_IN)

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return self.requests["task"].n_unique()

    @property
    def skipped(self) -> int:
        """The number of rows before the counted ones."""
        return int(self.skipped_share * self.requests.height)

    @property
    def long_rows(self) -> int:
        """The least number of rows of a task that takes part throughout: half an even share."""
        return max(self.requests.height // (2 * self.tasks), 1)

    @property
    def pages_held(self) -> list[int]:
        """The most pages that each task held that had come in, by task number.

        A task swaps out a page that came in before, or a new page if it has none.
        """
        came = pl.col("came")
        counted = self.requests.select(
            "task", came=pl.when(op="put").then(1).otherwise(-1).cum_sum().over("task")
        ).with_columns(lowest=came.cum_min().clip(upper_bound=0).over("task"))
        most = counted.group_by("task").agg((came - pl.col("lowest")).max())
        return most.sort("task")["came"].to_list()


Workload = Fill | Churn | Streams
