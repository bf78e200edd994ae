# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, plain model of mapping_replay.h: dictionaries for mappings, without trees.

It counts calls, unresolved and contradicted rows, acquisitions and descents.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

SWAP_ADD, SWAP_DELETE, SLOT_FREE, START, END, FILE_ADD, FILE_DELETE, FILE_DIRTY, MOVE = range(9)
UNKNOWN, SWAP = 0, 1
WRITTEN, UNWRITTEN, FILE = "swap, written", "swap, not written", "file"

Place = tuple[object, int]
"""A mapping ("trunk 4", "device", or a file's key) and an index in it."""


@dataclass
class Stay:
    """A folio in a mapping: struct sws_stay."""

    place: Place
    swap: bool
    written: bool = False
    add_booked: bool = True


@dataclass
class Oracle:
    """A replay of one kernel (4.8, 5.8 or 6.1), with writeback tags of the swap cache or not."""

    kernel: str
    tags: bool
    trunk_shift: int
    stays: dict[int, Stay] = field(default_factory=dict)
    pages: dict[Place, int] = field(default_factory=dict)
    ledger: dict[tuple[str, str], Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    def swap_place(self, offset: int) -> Place:
        """Return an offset's mapping. Stands for sws_mapping_of_swap (mapping.c)."""
        return ("device" if self.kernel == "4.8" else f"trunk {offset >> self.trunk_shift}", offset)

    def book(self, flow: str, site: str, *, lock: bool, descents: int) -> None:
        """Count one call of a site. Stands for book (mapping_replay.c)."""
        self.ledger[flow, site] += Counter(
            calls=1, acquisitions=int(lock), descents=descents if lock else 0
        )

    def flow(self, stay: Stay) -> str:
        """Return the flow of a stay's steps. Stands for flow_of (mapping_replay.c)."""
        return FILE if not stay.swap else WRITTEN if stay.written else UNWRITTEN

    def book_add(self, stay: Stay) -> None:
        """Count the add once the flow is known. Stands for book_add (mapping_replay.c)."""
        if not stay.add_booked:
            self.book(self.flow(stay), "add", lock=True, descents=1)
            stay.add_booked = True

    def leave(self, folio: int) -> None:
        """End a stay. Stands for close_stay (mapping_replay.c)."""
        stay = self.stays.pop(folio)
        self.book_add(stay)
        del self.pages[stay.place]

    def take_place(self, folio: int, place: Place, site: str) -> None:
        """End the stays of a folio and at its new place. Stands for evict (mapping_replay.c)."""
        for other in (folio, self.pages.get(place)):
            if other in self.stays:
                if self.stays[other].swap:
                    self.ledger[WRITTEN, site]["contradicted"] += 1
                self.leave(other)
        self.pages.pop(place, None)

    def enter(self, folio: int, place: Place, *, swap: bool, seen: bool) -> Stay:
        """Open a stay, whose add the trace may show. Stands for open_stay (mapping_replay.c)."""
        self.pages[place] = folio
        self.stays[folio] = Stay(place, swap, add_booked=not seen)
        return self.stays[folio]

    def find(self, folio: int, file: int, index: int, site: str) -> Stay | None:
        """Return a row's stay, opened if needed. Stands for resolve (mapping_replay.c)."""
        stay = self.stays.get(folio)
        if file == UNKNOWN:
            return stay
        if stay and stay.swap == (file == SWAP) and stay.place[1] == index:
            return stay
        place = self.swap_place(index) if file == SWAP else (file, index)
        self.take_place(folio, place, site)
        return self.enter(folio, place, swap=file == SWAP, seen=False)

    def feed(self, op: int, folio: int, index: int, file: int) -> None:
        """Process one row. Stands for feed_row (mapping_replay.c)."""
        if op in (SWAP_ADD, FILE_ADD):
            swap = op == SWAP_ADD
            place = self.swap_place(index) if swap else (file, index)
            self.take_place(folio, place, "add")
            stay = self.enter(folio, place, swap=swap, seen=True)
            if not swap:
                self.book_add(stay)
        elif op in (SWAP_DELETE, FILE_DELETE):
            found = self.find(folio, SWAP if op == SWAP_DELETE else file, index, "delete")
            assert found is not None
            self.book(self.flow(found), "delete", lock=True, descents=1)
            self.leave(folio)
        elif op == SLOT_FREE:
            if self.kernel == "6.1":
                self.book(WRITTEN, "clear-shadow", lock=True, descents=1)
        elif op in (START, END):
            self.writeback("start" if op == START else "end", folio, index, file)
        elif op == MOVE:
            self.move(folio, index)
        else:
            self.pages.setdefault((file, index), -1)
            self.book(FILE, "dirty", lock=True, descents=1)

    def writeback(self, site: str, folio: int, index: int, file: int) -> None:
        """Start or end a writeback. Stands for writeback (mapping_replay.c)."""
        stay = self.find(folio, file, index, site)
        if stay is None:
            self.book(FILE, site, lock=True, descents=0)
            self.ledger[FILE, site]["unresolved"] += 1
            return
        stay.written = True
        self.book_add(stay)
        descents = 3 if site == "start" and self.kernel == "4.8" else 1
        self.book(self.flow(stay), site, lock=not stay.swap or self.tags, descents=descents)

    def move(self, new: int, old: int) -> None:
        """Replace a folio by compaction. Stands for move (mapping_replay.c)."""
        if old not in self.stays:
            self.book(FILE, "move", lock=True, descents=0)
            self.ledger[FILE, "move"]["unresolved"] += 1
            return
        if new in self.stays:
            if self.stays[new].swap:
                self.ledger[WRITTEN, "move"]["contradicted"] += 1
            self.leave(new)
        stay = self.stays[new] = self.stays.pop(old)
        self.pages[stay.place] = new
        self.book(self.flow(stay), "move", lock=True, descents=1)

    def finish(self) -> dict[tuple[str, str], Counter[str]]:
        """Count open adds. Stands for sws_mapping_replay_finish (mapping_replay.c)."""
        for stay in self.stays.values():
            self.book_add(stay)
        return self.ledger
