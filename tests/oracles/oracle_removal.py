# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, plain model of removal.h: Python lists for the kernel's lists.

Trees are dictionaries, or those of oracle_rtree if their work is compared.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import oracle_rtree

SWAP = "swap"
SHADOW, PAGE = 1, 2
Mapping = tuple[str, int]
"""("swap", trunk) or ("file", its key)."""


class PlainTree:
    """A dictionary with the calls of `oracle_rtree.Tree` that removal needs."""

    def __init__(self) -> None:
        self.items: dict[int, int] = {}

    def insert(self, index: int, item: int) -> None:
        """Put an item at an empty index."""
        self.items[index] = item

    def delete(self, index: int) -> tuple[int, oracle_rtree.Work]:
        """Remove an item."""
        return self.items.pop(index), oracle_rtree.Work()

    def replace(self, index: int, item: int) -> tuple[int, oracle_rtree.Work]:
        """Put another item where one is."""
        self.items[index] = item
        return 0, oracle_rtree.Work()

    def tag_update(self, *_: object) -> tuple[int, oracle_rtree.Work]:
        """Clear the tags, of which there are none."""
        return 0, oracle_rtree.Work()


Tree = PlainTree | oracle_rtree.Tree


@dataclass(eq=False)
class Page:
    """A page that reclaim has isolated: struct sws_removal_page; compared by identity."""

    mapping: Mapping | None
    index: int
    references: int = 2
    dirty: bool = False
    freepage: bool = False
    lazyfree: bool = False
    locked: bool = True
    entry: int = 0


@dataclass
class Hold:
    """The work under one hold of a mapping's lock: struct sws_removal_hold."""

    mapping: Mapping
    removed: int = 0
    failed: int = 0
    passed_over: int = 0
    descents: int = 0
    nodes: int = 0
    tag_words: int = 0
    nodes_freed: int = 0

    def add(self, work: oracle_rtree.Work) -> None:
        """Add the work of one call on the tree."""
        self.descents += work.descents
        self.nodes += work.nodes_touched
        self.tag_words += work.tag_words_touched
        self.nodes_freed += work.nodes_freed

    def figures(self) -> tuple[int, ...]:
        """Return all but the mapping, in the order of the columns of holds."""
        pages = (self.removed, self.failed, self.passed_over)
        return (*pages, self.descents, self.nodes, self.tag_words, self.nodes_freed)


@dataclass
class Reclaim:
    """One reclaimer of one kernel (4.8, 5.8 or 6.1): struct sws_removal."""

    kernel: str
    trunk_shift: int
    make_tree: Callable[[], Tree] = PlainTree
    trees: dict[Mapping, Tree] = field(default_factory=dict)
    holds: list[Hold] = field(default_factory=list)
    freed_slots: list[int] = field(default_factory=list)
    freed: list[Page] = field(default_factory=list)
    kept: list[Page] = field(default_factory=list)
    results: list[tuple[bool, int]] = field(default_factory=list)
    lazyfreed: int = 0
    freepages: int = 0

    def bring(self, swap: bool, key: int, index: int, **state: int | bool) -> Page:
        """Return a page of a mapping, added if needed. Stands for sws_mapping_add (mapping.c)."""
        trunk = 0 if self.kernel == "4.8" else index >> self.trunk_shift
        mapping = (SWAP, trunk) if swap else ("file", key)
        tree = self.trees.setdefault(mapping, self.make_tree())
        if tree.items.get(index) == SHADOW:
            tree.replace(index, PAGE)
        elif index not in tree.items:
            tree.insert(index, PAGE)
        return Page(mapping, index, entry=index if swap else 0, **state)  # type: ignore[arg-type]

    def take_out(self, page: Page, hold: Hold) -> bool:
        """Remove a clean page without other users. Stands for sws_mapping_remove (mapping.c)."""
        assert page.locked
        assert page.mapping is not None
        if page.references != 2 or page.dirty:
            hold.failed += 1
            return False
        tree = self.trees[page.mapping]
        if page.mapping[0] == SWAP:
            leaves = self.kernel == "6.1"
        else:
            # 4.8 counts a shadow in its node: a page that is alone at index 0 has none.
            leaves = not (self.kernel == "4.8" and set(tree.items) == {0})
        if leaves and page.mapping[0] != SWAP:
            hold.add(tree.tag_update(page.index, set(), {0, 1, 2})[1])
            tree.replace(page.index, SHADOW)
        elif leaves:
            hold.add(tree.replace(page.index, SHADOW)[1])
        else:
            hold.add(tree.delete(page.index)[1])
        page.mapping = None
        page.references = 0
        hold.removed += 1
        return True

    def finish(self, page: Page) -> None:
        """Free the slot, or call the filesystem. Stands for finish_page (removal.c)."""
        if page.entry:
            self.freed_slots.append(page.entry)
            page.entry = 0
        elif page.freepage:
            self.freepages += 1

    def page_by_page(self, pages: list[Page]) -> None:
        """Remove each page under its own hold. Stands for sws_removal_hold (removal.c)."""
        for page in pages:
            assert page.mapping is not None
            self.holds.append(hold := Hold(page.mapping))
            removed = self.take_out(page, hold)
            page.locked = False
            if not removed:
                self.kept.insert(0, page)
                continue
            self.finish(page)
            self.lazyfreed += page.lazyfree
            self.freed.insert(0, page)

    def batched(self, pages: list[Page]) -> None:
        """Remove as patch B does. Stands for sws_removal_hold and _settle (removal.c)."""
        waiting = pages[::-1]
        self.lazyfreed += sum(page.lazyfree for page in pages)
        while waiting:
            mapping = waiting[0].mapping
            assert mapping is not None
            theirs = [page for page in waiting if page.mapping != mapping]
            ours = [page for page in waiting if page.mapping == mapping]
            waiting = theirs
            self.holds.append(hold := Hold(mapping, passed_over=len(theirs)))
            swapcache: list[Page] = []
            filecache: list[Page] = []
            for page in ours:
                removed = self.take_out(page, hold)
                page.locked = False
                if not removed:
                    self.kept.insert(0, page)
                elif page.entry:
                    swapcache.insert(0, page)
                elif page.freepage:
                    filecache.insert(0, page)
                else:
                    self.freed.insert(0, page)
            for page in swapcache + filecache:
                self.finish(page)
            self.freed = filecache + swapcache + self.freed

    def run(self, mode: str, pages: list[Page]) -> None:
        """Remove a list and record each page's result. Stands for sws_removal_lists (lists.c)."""
        self.freed, self.kept = [], []
        (self.batched if mode == "batched" else self.page_by_page)(pages)
        for page in pages:
            removed = page.mapping is None
            self.results.append((removed, (self.freed if removed else self.kept).index(page)))

    def counts(self) -> dict[str, int]:
        """Return the counters. Stands for sws_removal_counts (removal.c)."""
        return {
            "holds": len(self.holds),
            "reclaimed": sum(removed for removed, _ in self.results),
            "failed": sum(not removed for removed, _ in self.results),
            "lazyfreed": self.lazyfreed,
            "slots_freed": len(self.freed_slots),
            "freepages": self.freepages,
        }

    def state(self) -> dict[Mapping, dict[int, int]]:
        """Return the items of all trees that are not empty."""
        return {mapping: dict(tree.items) for mapping, tree in self.trees.items() if tree.items}
