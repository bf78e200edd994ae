# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tasks of the slot workbench do, and the windows of its measures."""

from dataclasses import dataclass, field
from numbers import Real
from typing import Final

import polars as pl

from swapsim.checks import check_choice, check_flags, check_number, check_share
from swapsim.errors import ConfigError, InputError
from swapsim.ffi.facts import OVERLAP_CALLS_MAX
from swapsim.slots.tables import REQUESTS

SWAP_IN: Final = ("synchronous", "asynchronous")
"""How a page comes in: past the swap cache, or through it (``slot_workbench.h``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillConfig:
    """Each CPU's task swaps page after page out, until a share of the device is in use.

    Parameters
    ----------
    filled_share : float
        Of the device's slots, above 0 and up to 1.
    threads_per_address_space : int
        Tasks that share one address space, from 1; there is one task a CPU.

    Raises
    ------
    ConfigError
        Naming the field and its value.
    """

    filled_share: float = 1.0
    threads_per_address_space: int = 1

    def __post_init__(self) -> None:
        """Check each field."""
        check_share("filled_share", self.filled_share)
        check_number("threads_per_address_space", self.threads_per_address_space, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnConfig:
    """A fragmented device, and on it tasks that swap a page out and one in, in turn.

    The device is filled, then pages are freed at random until a share of it is in use: few or no
    clusters are free then. The use stays, and each slot's neighbours come and go.

    Parameters
    ----------
    used_share : float
        Of the device's slots, above 0 and up to 1.
    pages : int
        Swapped out by all tasks while the measures are taken, from 1.
    warm_up_pages : int
        Swapped out before that, from 0.
    to_the_last_slot : bool
        Fill it to the last slot, where all bases meet, and not just until no cluster is free.
    swap_in : {"synchronous", "asynchronous"}
    threads_per_address_space : int
        Tasks that share one address space, from 1.
    tasks : int or None
        At most one an online CPU, which is what None stands for.
    pages_a_cpu : int
        Swapped out by a task, on average, before it goes to a CPU where no task is; 0: it stays.

    Raises
    ------
    ConfigError
        Naming the field and its value.
    """

    used_share: float = 0.7
    pages: int = 2**16
    warm_up_pages: int = 2**16
    to_the_last_slot: bool = False
    swap_in: str = "synchronous"
    threads_per_address_space: int = 1
    tasks: int | None = None
    pages_a_cpu: int = 0

    def __post_init__(self) -> None:
        """Check each field."""
        check_flags(self)
        check_share("used_share", self.used_share)
        if self.tasks is not None:
            check_number("tasks", self.tasks, 1)
        check_number("pages_a_cpu", self.pages_a_cpu, 0)
        check_number("pages", self.pages, 1)
        check_number("warm_up_pages", self.warm_up_pages, 0)
        check_choice("swap_in", self.swap_in, SWAP_IN)
        check_number("threads_per_address_space", self.threads_per_address_space, 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamsConfig:
    """The requests of a real kernel's tasks, re-timed.

    On the slot workbench all tasks go at the same rate, on CPU task % CPUs; on the contention
    machine each goes as fast as its own work allows, on a CPU of its own.

    Parameters
    ----------
    requests : polars.DataFrame
        Schema REQUESTS (``traces.request_streams``).
    skipped_share : float
        Of the rows, from 0 to below 1, that go by before the measures are taken.
    swap_in : {"synchronous", "asynchronous"}

    Raises
    ------
    ConfigError
        Naming the field and its value.
    InputError
        The requests are no such table, or an empty one.
    """

    requests: pl.DataFrame = field(repr=False)
    skipped_share: float = 0.0
    swap_in: str = "synchronous"

    def __post_init__(self) -> None:
        """Check each field."""
        REQUESTS.check(self.requests)
        if self.requests.is_empty():
            raise InputError("the table of requests has no rows: choose a trace that swaps")
        if not isinstance(self.skipped_share, Real) or not 0 <= self.skipped_share < 1:
            raise ConfigError(f"skipped_share={self.skipped_share!r}: choose from 0 to below 1")
        check_choice("swap_in", self.swap_in, SWAP_IN)

    @property
    def tasks(self) -> int:
        """Tasks that ask for something."""
        return self.requests["task"].n_unique()

    @property
    def skipped(self) -> int:
        """Rows that go by before the measures are taken."""
        return int(self.skipped_share * self.requests.height)

    @property
    def long_rows(self) -> int:
        """Rows of a task that is no visitor: half an even share of all, at least."""
        return max(self.requests.height // (2 * self.tasks), 1)

    @property
    def pages_held(self) -> list[int]:
        """Pages that came in for each task and did not go out again, at most; by task number.

        What goes out is a page that came in before, or a fresh one if there is none.
        """
        came = pl.col("came")
        counted = self.requests.select(
            "task", came=pl.when(op="put").then(1).otherwise(-1).cum_sum().over("task")
        ).with_columns(lowest=came.cum_min().clip(upper_bound=0).over("task"))
        most = counted.group_by("task").agg((came - pl.col("lowest")).max())
        return most.sort("task")["came"].to_list()


Workload = FillConfig | ChurnConfig | StreamsConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterConfig:
    """What counts as recent.

    Parameters
    ----------
    overlap_calls : int
        Calls of the device, 1 to 4096: a slot was just tested if one of these tested it.
    lock_window : int or None
        Acquisitions of any trunk's lock within which two are close; None for as many as there
        are CPUs, about a round.
    span_window : int
        Pages written, from 1, whose span is taken.

    Raises
    ------
    ConfigError
        Naming the field and its value.
    """

    overlap_calls: int = 64
    lock_window: int | None = None
    span_window: int = 1024

    def __post_init__(self) -> None:
        """Check each field."""
        check_number("overlap_calls", self.overlap_calls, 1, OVERLAP_CALLS_MAX)
        if self.lock_window is not None:
            check_number("lock_window", self.lock_window, 0)
        check_number("span_window", self.span_window, 1)
