# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded requests for swap slots as memory operations, which any rules can serve."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from rig.collect import Captured, events, moved
from rig.counts import Metrics, Rows
from rig.errors import GuestError
from rig.kernel import CLUSTER_SLOTS
from swapsim import ffi
from swapsim.traces.event_fields import SWAP_TYPE_SHIFT

_ACCESS, _DROP, _OUT = (ffi.FOLIO_STEPS.index(name) for name in ("access", "drop", "out"))
_WINDOW: Final = CLUSTER_SLOTS
"""Pages of a mapping that keep their places to each other: those of the largest folio."""
_LARGE: Final = 1 << 6
_ORDER_MASK: Final = 0xFF
_SLOT: Final = (1 << SWAP_TYPE_SHIFT) - 1
_COUNTER: Final = re.compile(r"^counter (\d+)kB (\w+) (\d+)$", re.MULTILINE)
_OBJECTS: Final = re.compile(r"^objects (\d+)$", re.MULTILINE)
_EVENTS: Final = ("folio_out", "folio_granted", "slot_return", "slot_free")


Row = tuple[int, int, int, int, int]
"""Columns cpu, step, order, page and n of FOLIO_STREAM, the step by its number."""


def read(captured: Captured, work: Path, _first: int) -> tuple[Metrics, Rows]:
    """Read the kernel's counters of a build, and its requests as rows of FOLIO_STREAM.

    Raises
    ------
    GuestError
        The build did not end, or no large folio was to be swapped out.
    """
    output = captured.report["output"]
    objects = _OBJECTS.search(output)
    if objects is None:
        raise GuestError("the build did not end")
    counts = {
        (int(size).bit_length() - 3, name): int(n) for size, name, n in _COUNTER.findall(output)
    }
    metrics: Metrics = {"objects": (int(objects[1]), "object")}
    for counter in ("pswpout", "pswpin"):
        metrics[counter] = (moved(captured, counter), "page")
    for (order, name), n in counts.items():
        size = f"{4 << order}K" if order < 8 else f"{1 << (order - 8)}M"
        if any(
            counts.get((order, each)) for each in ("swpout", "swpout_fallback", "anon_fault_alloc")
        ):
            metrics[f"{name} {size}"] = (n, "folio")
    if not any(name.startswith("swpout") and n for (_, name), n in counts.items()):
        raise GuestError("no large folio was to be swapped out")
    recorded = events(captured, work, *_EVENTS, missing=True)
    rows = steps(recorded)
    return metrics, [[cpu, ffi.FOLIO_STEPS[step], *rest] for cpu, step, *rest in rows]


def steps(recorded: dict[str, pl.DataFrame]) -> list[Row]:
    """Return rows ``cpu, step, order, page, n`` of what tasks did with pages that were swapped.

    A page is known by its folio's mapping and index. Before it is swapped out for the first time it
    is accessed. When its slot is freed it is accessed if the slot goes through 6.12's slot cache,
    or, on 7.3, if the page is swapped out again; else it is dropped. Pages whose slots a task frees
    one after the other are one row. Folios that the kernel split when they
    had no slots go out as they were, and may come in whole under rules that gave them slots.
    """
    made = _Pages(slot_cache="slot_return" in recorded and not recorded["slot_return"].is_empty())
    for cpu, pid, kind, number, n in _merged(recorded):
        if kind == "out":
            made.out(cpu, pid, number, n)
        elif kind == "granted":
            made.granted(pid, number)
        else:
            made.free(cpu, pid, number, n, returned=kind == "returned")
    return list(made.rows())


def _merged(recorded: dict[str, pl.DataFrame]) -> Iterator[tuple[int, int, str, int, int]]:
    """Yield ``cpu, pid, kind, number, n`` in the order of the clock: a page, or a slot."""
    out = recorded["folio_out"]
    flags, size, mapping = (_unsigned(name) for name in ("flags", "size", "mapping"))
    order = pl.when(flags & _LARGE != 0).then(size & _ORDER_MASK).otherwise(0)
    window = pl.struct(mapping, pl.col("index") // _WINDOW).rank("dense").cast(pl.Int64) - 1
    outs = out.select(
        "seq",
        "cpu",
        "pid",
        kind=pl.lit("out"),
        number=window * _WINDOW + pl.col("index") % _WINDOW,
        n=order.cast(pl.Int64),
    )
    granted = recorded["folio_granted"]
    if "folio" in granted.columns:
        # The same function brings folios in: a task's last request has to be of this folio.
        last = out.select("seq", "pid", requested="folio").sort("seq")
        granted = granted.sort("seq").join_asof(last, on="seq", by="pid", check_sortedness=False)
        granted = granted.filter(pl.col("folio") == pl.col("requested"))
    frames = [
        outs,
        _of(granted.filter(pl.col("entry") != 0), "granted", pl.col("entry") & _SLOT, pl.lit(1)),
    ]
    freed = recorded["slot_free"]
    if "ci" in freed.columns:
        at = (_unsigned("ci") - _unsigned("clusters")).cast(pl.Int64)
        bytes_each = math.gcd(*freed.select(at).to_series().to_list()) or 1
        slot = at // bytes_each * CLUSTER_SLOTS + pl.col("offset")
        frames.append(_of(freed, "free", slot, pl.col("nr")))
    else:
        frames.append(_of(freed, "free", pl.col("entry") & _SLOT, pl.col("nr")))
        returned = recorded["slot_return"]
        if returned.height:
            frames.append(_of(returned, "returned", pl.col("entry") & _SLOT, pl.lit(1)))
    yield from pl.concat(frames).sort("seq").drop("seq").iter_rows()


def _of(frame: pl.DataFrame, kind: str, number: pl.Expr, n: pl.Expr) -> pl.DataFrame:
    return frame.select(
        "seq", "cpu", "pid", kind=pl.lit(kind), number=number.cast(pl.Int64), n=n.cast(pl.Int64)
    )


def _unsigned(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.UInt64, wrap_numerical=True)


@dataclass(slots=True, kw_only=True)
class _Out:
    """A request for slots for a folio; refused if it had none as a whole."""

    cpu: int
    page: int
    order: int
    refused: bool = False

    @property
    def pages(self) -> range:
        return range(self.page, self.page + (1 << self.order))


@dataclass(slots=True, kw_only=True)
class _Free:
    """Slots that a task frees one after the other, of pages one after the other.

    ``kinds``: log2 of the pages that got slots with each page; below 0 for a page of a folio that
    was split for lack of slots, log2 of that folio's pages. ``accessed``: pages in memory after it.
    """

    cpu: int
    page: int
    returned: bool
    kinds: list[int] = field(default_factory=list)
    accessed: list[bool] = field(default_factory=list)

    def parts(self) -> Iterator[tuple[int, int, int, bool]]:
        """Yield page, pages, order and whether they are accessed: folios, and runs of pages."""
        at = 0
        while at < len(self.kinds):
            kind, n = self.kinds[at], 1
            whole = 1 << max(kind, 0)
            fits = (self.page + at) % whole == 0 and set(self.kinds[at : at + whole]) == {kind}
            if kind > 0 and fits and len(self.kinds) - at >= whole:
                yield self.page + at, whole, kind, any(self.accessed[at : at + whole])
                at += whole
                continue
            accessed = self.accessed[at]
            while self.kinds[at : at + n + 1] == [kind] * (n + 1) and kind <= 0:
                if self.accessed[at + n] != accessed:
                    break
                n += 1
            yield self.page + at, n, max(-kind, 0), accessed
            at += n


class _Pages:
    """The requests and frees of tasks in order, and which page has which slot meanwhile."""

    def __init__(self, *, slot_cache: bool) -> None:
        self._slot_cache = slot_cache
        self._records: list[_Out | _Free] = []
        self._page_at: dict[int, int] = {}
        self._kind: dict[int, int] = {}
        """As in _Free."""
        self._request: dict[int, _Out] = {}
        """Task -> its last request, while it has no slots."""
        self._open: dict[int, _Free] = {}
        """Task -> its last record, if it frees slots."""

    def out(self, cpu: int, pid: int, page: int, order: int) -> None:
        """Note a request. A task's last one was refused if it has no slots yet."""
        before = self._request.get(pid)
        if before is not None and before.order:
            before.refused = True
            self._kind.update(dict.fromkeys(before.pages, -before.order))
        record = self._request[pid] = _Out(cpu=cpu, page=page, order=order)
        self._records.append(record)
        self._open.pop(pid, None)

    def granted(self, pid: int, slot: int) -> None:
        """Give the pages of a task's request their slots."""
        record = self._request.pop(pid, None)
        if record is None:
            return
        for i, page in enumerate(record.pages):
            self._page_at[slot + i] = page
            if record.order or self._kind.get(page, 0) > 0:
                self._kind[page] = record.order

    def free(self, cpu: int, pid: int, slot: int, n: int, *, returned: bool) -> None:
        """Note that slots are freed; those of no page were in a slot cache."""
        for each in range(slot, slot + n):
            page = self._page_at.pop(each, None)
            if page is None:
                continue
            record = self._open.get(pid)
            end = record and (record.page + len(record.kinds), record.returned)
            if record is None or end != (page, returned):
                record = self._open[pid] = _Free(cpu=cpu, page=page, returned=returned)
                self._records.append(record)
            record.kinds.append(self._kind.get(page, 0))

    def rows(self) -> Iterator[Row]:
        """Yield the rows."""
        comes_back: set[int] = set()
        for record in reversed(self._records):
            if isinstance(record, _Out):
                comes_back.update(record.pages)
            else:
                pages = range(record.page, record.page + len(record.kinds))
                record.accessed = [
                    record.returned if self._slot_cache else page in comes_back for page in pages
                ]
                comes_back.difference_update(pages)
        # Page in memory that was swapped before -> log2 of its folio's pages.
        resident: dict[int, int] = {}
        # Pages that went out with their folio, which was split, and that are requested once more.
        gone: set[int] = set()
        for record in self._records:
            if isinstance(record, _Free):
                for page, n, order, accessed in record.parts():
                    yield record.cpu, _ACCESS if accessed else _DROP, order, page, n
                    pages = range(page, page + n)
                    gone.difference_update(pages)
                    size = order if n == 1 << order else 0
                    for each in pages:
                        resident.pop(each, None)
                        if accessed:
                            resident[each] = size
            elif record.page in gone and not record.order:
                gone.remove(record.page)
            else:
                yield from _first_access(record, resident)
                yield record.cpu, _OUT, record.order, record.page, len(record.pages)
                gone.difference_update(record.pages)
                if record.refused:
                    gone.update(record.pages)


def _first_access(record: _Out, resident: dict[int, int]) -> Iterator[Row]:
    """Yield rows that bring a request's folio into memory, and take it out of ``resident``."""
    sizes = {resident.pop(page, -1) for page in record.pages}
    if record.order and sizes != {record.order}:
        if sizes != {-1}:
            yield record.cpu, _DROP, 0, record.page, len(record.pages)
        yield record.cpu, _ACCESS, record.order, record.page, len(record.pages)
    elif sizes == {-1}:
        yield record.cpu, _ACCESS, 0, record.page, 1
