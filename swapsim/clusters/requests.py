# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams of memory operations: the kernel's own test, a harder one, and recorded builds."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Final

import numpy as np
import polars as pl

from swapsim.claims.tables import FOLIO_REQUESTS, FOLIO_STREAM
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


_STAGES: Final = 12
"""Stages of a recorded stream, with as many pages swapped out in each."""


def recorded(
    rows: pl.DataFrame, *, name: str, slots: int, swap_in_orders: tuple[int, ...] = ()
) -> Requests:
    """Return the operations of one recording (FOLIO_STREAM), for a device of so many slots.

    The recording has what tasks did with pages that were swapped: what they asked for follows from
    what the recorded kernel granted. A folio that it split comes in, and goes out again, page by
    page; one that it swapped out whole comes in whole, also if it is split here. A stage is a
    twelfth of the pages that are swapped out.
    """
    steps = FOLIO_STREAM.check(rows).select(
        pl.lit(0, pl.UInt32).alias("process"), *(name for name in FOLIO_STEPS if name != "process")
    )
    out = steps.select(pl.when(step="out").then("n").otherwise(0).cast(pl.UInt64).cum_sum())
    total = int(out.to_series()[-1])
    ends = pl.Series([total * stage // _STAGES for stage in range(1, _STAGES)], dtype=pl.UInt64)
    marks = out.to_series().search_sorted(ends, side="left") + 1
    return Requests(
        name=name,
        steps=steps,
        marks=(*marks.to_list(), steps.height),
        slots=slots,
        swap_in_orders=swap_in_orders,
    )


_LONGEST_RUN: Final = 16
"""Pages of a chunk of single pages in folio_turnover.c."""


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
