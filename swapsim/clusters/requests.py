# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams of memory operations: the kernel's own test, and one that stands in for a kernel build.

Both are deterministic. The parameters of `kernel_build` were stored in data/published/README.md
before its first run.
"""

import math
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, islice
from random import Random
from typing import Final

import numpy as np
import polars as pl

from swapsim.checks import check_choice
from swapsim.claims.tables import FOLIO_REQUESTS
from swapsim.clusters.tables import FOLIO_STEPS, STEP
from swapsim.errors import ConfigError
from swapsim.ffi import FOLIO_STEPS as STEPS

ACCESS, DROP, OUT = (STEPS.index(name) for name in ("access", "drop", "out"))

CLUSTER: Final = 512
"""Slots of a cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """A stream of memory operations (FOLIO_STEPS), and the device that it is meant for.

    ``marks`` are the numbers of rows at which stages end, the last one that of all rows; the first
    ``warm_up`` stages are not counted. ``slots`` has the device's header included. Folios of
    ``swap_in_orders`` may be swapped in whole; the kernel can since 6.12.
    """

    name: str
    steps: pl.DataFrame
    marks: tuple[int, ...]
    slots: int
    swap_in_orders: tuple[int, ...] = ()
    warm_up: int = 0


@dataclass(slots=True)
class _Rows:
    """Rows of FOLIO_STEPS that are being made, and the ends of stages."""

    values: "array[int]" = field(default_factory=lambda: array("q"))
    marks: list[int] = field(default_factory=list)

    def add(self, *row: int) -> None:
        """Add a row."""
        self.values.extend(row)

    def mark(self) -> None:
        """End a stage."""
        self.marks.append(len(self.values) // len(FOLIO_STEPS))

    def frame(self) -> pl.DataFrame:
        """Return the rows (FOLIO_STEPS)."""
        rows = np.frombuffer(self.values, np.int64).reshape(-1, len(FOLIO_STEPS))
        step = pl.col("step").replace_strict(dict(enumerate(STEPS)), return_dtype=STEP)
        return (
            pl.DataFrame(rows, schema=list(FOLIO_STEPS))
            .with_columns(step)
            .cast(pl.Schema(FOLIO_STEPS))
        )


def glibc_rand(seed: int = 1) -> Iterator[int]:
    """Yield the numbers of glibc's ``rand``, whose seed is 1 unless a program sets it.

    It is an additive feedback generator: 31 numbers of a linear congruential one, then each number
    is the sum of those 3 and 31 before it, modulo 2^32. The first 310 sums are dropped; a result
    lacks the lowest bit.

    Source
    ------
    random(3), and initstate(3) with a state of 128 bytes.
    """
    state = [seed]
    for _ in range(30):
        state.append(16807 * state[-1] % 2147483647)
    state += state[:3]
    for number in range(34, 1 << 62):
        state.append((state[-31] + state[-3]) & 0xFFFFFFFF)
        if number >= 344:
            yield state[-1] >> 1
        if len(state) > 4096:
            del state[:-31]


_PAGES_OF_MEBIBYTE: Final = 256
_LARGE: Final = 4  # 64 KiB


def allocator_test(
    *,
    small: bool = False,
    aligned: bool = False,
    first: bool = False,
    iterations: int = 100,
    swap_in_whole: bool = True,
) -> Requests:
    """Return the operations of the kernel's test of swapping large folios (64 KiB) out.

    A process fills 60 MB of 64 KiB folios and pages all out. Each iteration writes to 16 MB of
    random pages, then gives 16 MB of random folios back and writes them again, and pages all out.
    A stage is an iteration, for a device of 64 MB. In our own words, from
    tools/mm/thp_swap_allocator_test.c of 6.12 and 7.3:

    - ``small`` (option -s): also 4 MB of single pages, 1 MB of which is written. The program of
      6.12 aligns this area to 64 KiB, that of 7.3 to a page; it allows no large folios, so that the
      operations are the same.
    - ``aligned`` (option -a): random folios instead of random pages are written first.
    - ``first``: the first version (15 June 2024), with 54 MB, which printed the lists of the third
      version of the clusters by order: it writes nothing but what it has given back, does not fill
      its memory first (so that there is no warm-up), and with ``small`` gives back 256 KB of 1 MB.
    - ``swap_in_whole``: large folios are swapped in whole, as to and from zram since 6.12.
    """
    if iterations < 1:
        raise ConfigError(f"iterations={iterations}: give at least 1")
    if first and aligned:
        raise ConfigError("aligned=True: the first version of the program has no such option")
    rows, numbers, one = _Rows(), glibc_rand(), 1 << _LARGE
    pages = (54 if first else 60) * _PAGES_OF_MEBIBYTE
    singles = (1 if first else 4) * _PAGES_OF_MEBIBYTE
    base = -(-pages // 1024) * 1024  # where the area of single pages begins
    folios = pages // one

    def out() -> None:
        rows.add(0, 0, OUT, 0, 0, pages)
        if small:
            rows.add(0, 0, OUT, 0, base, singles)

    def turn_over(units: int, count: int, size: int, order: int, at: int) -> None:
        for number in islice(numbers, count):
            page = at + number % units * size
            rows.add(0, 0, DROP, order, page, size)
            rows.add(0, 0, ACCESS, order, page, size)

    def write(units: int, count: int, size: int, order: int, at: int) -> None:
        for number in islice(numbers, count):
            rows.add(0, 0, ACCESS, order, at + number % units * size, size)

    if not first:
        rows.add(0, 0, ACCESS, _LARGE, 0, pages)
        rows.add(0, 0, OUT, 0, 0, pages)
        if small:
            rows.add(0, 0, ACCESS, 0, base, singles)
            rows.add(0, 0, OUT, 0, base, singles)
        rows.mark()
    for _ in range(iterations):
        if not first:
            size = one if aligned else 1
            write(pages // size, 4096 // size, size, _LARGE, 0)
        turn_over(folios, 256, one, _LARGE, 0)
        if small and first:
            turn_over(singles, 64, 1, 0, base)
        elif small:
            write(singles, 256, 1, 0, base)
        out()
        rows.mark()
    options = [" -a"] * aligned + [" -s"] * small
    return Requests(
        name="thp_swap_allocator_test" + "".join(options) + ", first version" * first,
        steps=rows.frame(),
        marks=tuple(rows.marks),
        slots=64 * _PAGES_OF_MEBIBYTE,
        swap_in_orders=(_LARGE,) if swap_in_whole else (),
        warm_up=0 if first else 1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A kernel build of a mail, a quarter of its size.

    ``jobs`` compilers run on as many CPUs. ``folios`` are the shares of the orders, in folios, and
    ``device`` and ``memory`` slots and pages.
    """

    jobs: int
    device: int
    memory: int
    folios: Mapping[int, float]
    swap_in_whole: bool = True


_OF_V5: Final = {2: 381.465, 3: 350.831, 4: 359.545, 5: 277.889, 6: 38.196, 7: 11.634, 8: 5.183,
                 9: 3.365}  # fmt: skip
"""Requests of the fifth version's table, column ``with``, in thousands."""

BUILDS: Final[Mapping[str, Build]] = {
    "64K": Build(jobs=24, device=1024 * CLUSTER, memory=131072, folios={_LARGE: 1}),
    "64K, 1152 MB": Build(jobs=24, device=1024 * CLUSTER, memory=73728, folios={_LARGE: 1}),
    "all": Build(
        jobs=24,
        device=1024 * CLUSTER,
        memory=131072,
        folios={2: 694, 3: 639, 4: 654, 5: 506.124, 6: 66.36, 7: 13.43, 8: 9.4, 9: 1.466},
    ),
    "all, fifth version": Build(
        jobs=8, device=512 * CLUSTER, memory=65536, folios=_OF_V5, swap_in_whole=False
    ),
}
"""The builds of the mails by name (data/published/README.md)."""

_SIGMA: Final = 0.5
_GROWS: Final = 2 / 3
"""Share of its life in which a job grows."""
_LONGEST_RUN: Final = 16
"""Most single pages of an area."""
_WARM_UP, _TURNS, _STAGES_A_TURN = 2, 6, 4


@dataclass(slots=True)
class _Job:
    """A compiler: the pages that it has mapped, of those that it will map, and its folios."""

    size: float
    mapped: int = 0
    end: int = 0
    left: int = -1
    units: list[tuple[int, int, int]] = field(default_factory=list)


def kernel_build(
    build: str = "64K", *, seed: int = 1, in_use: float = 0.7, singles: float = 0.25
) -> Requests:
    """Return the operations of compilers in too little memory: the stand-in for a kernel build.

    Each job maps folios, and touches one of its own for each; it stops growing after two thirds of
    its life, and then exits. The oldest folios of all jobs are swapped out when memory is full, on
    the CPU of the job that needs it. ``in_use`` is the mean share of the device's slots in use,
    ``singles`` the share of the pages in folios of one page. A stage is a quarter of the device's
    slots swapped out.
    """
    check_choice("build", build, BUILDS)
    for name, share, low, high in (("in_use", in_use, 0.3, 0.9), ("singles", singles, 0.05, 0.9)):
        if not low <= share <= high:
            raise ConfigError(f"{name}={share}: give {low} to {high}")
    made = Churn(BUILDS[build], Random(seed), in_use, singles)
    made.run()
    return Requests(
        name=f"kernel build, {build}",
        steps=made.rows.frame(),
        marks=tuple(made.rows.marks),
        slots=BUILDS[build].device,
        swap_in_orders=tuple(k for k in BUILDS[build].folios if k < 9)
        if BUILDS[build].swap_in_whole
        else (),
        warm_up=_WARM_UP * _STAGES_A_TURN,
    )


class Churn:
    """Jobs that map, touch, exit, and the folios in memory from the oldest to the youngest."""

    def __init__(self, build: Build, rng: Random, in_use: float, singles: float) -> None:
        """Start with jobs of random age."""
        self.build, self.rng, self.rows = build, rng, _Rows()
        # The mean over time of a job that grows for two thirds of its life is two thirds of its
        # size; larger jobs live longer, which weighs them by exp(sigma squared).
        total = build.memory + in_use * build.device
        mean = total / build.jobs / (1 - _GROWS / 2) / math.exp(_SIGMA**2)
        self.mu = math.log(mean) - _SIGMA**2 / 2
        self.orders = list(build.folios)
        weights = list(build.folios.values())
        self.weights = list(accumulate(weights))
        pages = sum(share * (1 << order) for order, share in build.folios.items())
        large = pages / sum(weights)
        single = (1 + _LONGEST_RUN) / 2
        self.single_areas = singles / single / (singles / single + (1 - singles) / large)
        self.resident: OrderedDict[tuple[int, int], int] = OrderedDict()
        self.used = 0
        self.out = 0
        self.jobs = [_Job(self.size() * rng.random()) for _ in range(build.jobs)]

    def size(self) -> float:
        """Draw the pages of a job."""
        return self.rng.lognormvariate(self.mu, _SIGMA)

    def run(self) -> None:
        """Make the rows."""
        stage = self.build.device // _STAGES_A_TURN
        while len(self.rows.marks) < (_WARM_UP + _TURNS) * _STAGES_A_TURN:
            cpu = self.rng.randrange(self.build.jobs)
            self.step(cpu)
            while self.used > self.build.memory:
                self.swap_out(cpu)
            if self.out >= stage * (len(self.rows.marks) + 1):
                self.rows.mark()

    def step(self, cpu: int) -> None:
        """Let the job of a CPU map or touch, or exit."""
        job = self.jobs[cpu]
        if job.mapped < job.size:
            self.map(cpu, job)
        elif job.left < 0:
            # As many steps as it took to grow, by the shares of its life.
            job.left = round(len(job.units) * (1 - _GROWS) / _GROWS)
        elif job.left == 0:
            self.exit(cpu, job)
            return
        else:
            job.left -= 1
        self.touch(cpu, job)

    def map(self, cpu: int, job: _Job) -> None:
        """Map a folio, or a few single pages."""
        order = 0
        if self.rng.random() >= self.single_areas:
            (order,) = self.rng.choices(self.orders, cum_weights=self.weights)
        n = 1 << order if order else self.rng.randint(1, _LONGEST_RUN)
        page = -(-job.end >> order) << order if order else job.end
        job.end = page + n
        job.mapped += n
        job.units.append((page, n, order))
        self.bring(cpu, job, len(job.units) - 1)

    def touch(self, cpu: int, job: _Job) -> None:
        """Touch a folio of a job, more often a young one."""
        count = len(job.units)
        young = self.rng.random() < 0.75
        first = count - max(1, count // 4) if young else 0
        number = self.rng.randrange(first, count)
        if (cpu, number) in self.resident:
            self.resident.move_to_end((cpu, number))
        else:
            self.bring(cpu, job, number)

    def bring(self, cpu: int, job: _Job, number: int) -> None:
        """Bring a folio into memory."""
        page, n, order = job.units[number]
        self.rows.add(cpu, cpu, ACCESS, order, page, n)
        self.resident[cpu, number] = n
        self.used += n

    def swap_out(self, cpu: int) -> None:
        """Swap the oldest folio out, on the CPU that needs memory."""
        (owner, number), n = self.resident.popitem(last=False)
        page, _, order = self.jobs[owner].units[number]
        self.rows.add(owner, cpu, OUT, order, page, n)
        self.used -= n
        self.out += n

    def exit(self, cpu: int, job: _Job) -> None:
        """Give the memory of a job back, and start another one."""
        self.rows.add(cpu, cpu, DROP, 0, 0, job.end)
        for number in range(len(job.units)):
            self.used -= self.resident.pop((cpu, number), 0)
        self.jobs[cpu] = _Job(self.size())


def turnover(table: pl.DataFrame, *, seed: int = 1, mebibytes: int = 128) -> Requests:
    """Return the operations of ``folio_turnover``, whose processes run at once, in one order.

    The program's processes meet after each iteration, which is a stage; between, their operations
    (FOLIO_REQUESTS) interleave. Each seed is one interleaving, in which the next operation is that
    of a random process. Source: data/capture/programs/folio_turnover.c.
    """
    frame = FOLIO_REQUESTS.check(table).with_columns(
        n=pl.when(order=0).then(_LONGEST_RUN).otherwise(2 ** pl.col("order").cast(pl.Int64))
    )
    # The areas of a process, one for each order, and chunks with a gap of their own size.
    spans = frame.group_by("order").agg(span=((pl.col("chunk") + 1) * 2 * pl.col("n")).max())
    ends = spans.sort("order", descending=True).with_columns(end=pl.col("span").cum_sum())
    placed = frame.join(ends, on="order", maintain_order="left").with_columns(
        first=pl.col("end") - pl.col("span") + pl.col("chunk") * 2 * pl.col("n")
    )
    rng, rows = Random(seed), _Rows()
    for (_,), part in placed.group_by("iteration", maintain_order=True):
        queues = [
            own.select("process", "op", "order", "first", "n", "page").rows()[::-1]
            for _, own in part.group_by("process", maintain_order=True)
        ]
        while queues:
            queue = queues[rng.randrange(len(queues))]
            process, op, order, first, n, page = queue.pop()
            if op == "touch":
                first, n = first + page, 1
            step = {"unmap": DROP, "out": OUT}.get(op, ACCESS)
            rows.add(process, process, step, order, first, n)
            if not queue:
                queues.remove(queue)
        rows.mark()
    return Requests(
        name=f"folio_turnover, seed {seed}",
        steps=rows.frame(),
        marks=tuple(rows.marks),
        slots=mebibytes * _PAGES_OF_MEBIBYTE,
        swap_in_orders=(3, 4, 5, 6, 7),
        warm_up=11,
    )
