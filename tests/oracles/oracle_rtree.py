# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow, plain model of rtree.h: a dictionary of items, without nodes.

Height, nodes, tag words and the work of a call are derived from the items at each call.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

TAGS = (0, 1, 2)
OK, EXISTS, NOT_FOUND = 0, -4, -5

# A node by its level (leaves are level 1) and the index bits above it.
Node = tuple[int, int]


@dataclass
class Work:
    """What one call adds to ``struct sws_rtree_work``."""

    descents: int = 1
    nodes_touched: int = 0
    tag_words_touched: int = 0
    nodes_allocated: int = 0
    nodes_freed: int = 0


@dataclass
class Tree:
    """Items by index, and the tags of each: a tree of struct sws_forest."""

    shift: int
    items: dict[int, int] = field(default_factory=dict)
    tags: dict[int, set[int]] = field(default_factory=dict)

    def height(self) -> int:
        """Return the levels for the largest index. Stands for sws_rtree_height (rtree.c)."""
        largest = max(self.items, default=0)
        return -(-largest.bit_length() // self.shift)

    def path(self, index: int) -> list[Node]:
        """Return the places of nodes on the way to an index, leaf first."""
        return [(level, index >> level * self.shift) for level in range(1, self.height() + 1)]

    def nodes(self) -> set[Node]:
        """Return all nodes. Stands for sws_rtree_node_count (rtree.c), which counts them."""
        levels = range(1, self.height() + 1)
        return {(level, index >> level * self.shift) for level in levels for index in self.items}

    def word(self, node: Node, tag: int) -> set[int]:
        """Return the slots of a node below which an item has the tag."""
        level, prefix = node
        return {
            index >> (level - 1) * self.shift
            for index, tags in self.tags.items()
            if tag in tags and index >> level * self.shift == prefix
        }

    def tagged(self, tag: int) -> bool:
        """Return whether any item has the tag. Stands for sws_rtree_tagged (rtree.c)."""
        return any(tag in tags for tags in self.tags.values())

    def passed(self, index: int) -> list[Node]:
        """Return the nodes that a walk to an index passes, top first."""
        if index >> self.height() * self.shift:
            return []
        nodes = self.nodes()
        passed = []
        for node in reversed(self.path(index)):
            if node not in nodes:
                break
            passed.append(node)
        return passed

    def insert(self, index: int, item: int) -> tuple[int, Work]:
        """Put an item at an empty index. Stands for sws_rtree_insert (rtree.c)."""
        work = Work(nodes_touched=len(self.passed(index)))
        if index in self.items:
            return EXISTS, work
        nodes, passed, height, filled = self.nodes(), self.passed(index), self.height(), self.items
        carried = sum(self.tagged(tag) for tag in TAGS)
        self.items = {**filled, index: item}
        self.tags[index] = set()
        made = self.nodes() - nodes
        work.nodes_touched = len(made | set(passed))
        work.nodes_allocated = len(made)
        work.tag_words_touched = carried * (self.height() - height) if filled else 0
        return OK, work

    def delete(self, index: int) -> tuple[int, Work]:
        """Remove an item and its tags. Stands for sws_rtree_delete (rtree.c)."""
        passed, nodes = self.passed(index), self.nodes()
        work = Work(nodes_touched=len(passed))
        if index not in self.items:
            return 0, work
        work.tag_words_touched = sum(self._untag(index, tag) for tag in TAGS)
        item = self.items.pop(index)
        del self.tags[index]
        freed = nodes - self.nodes()
        work.nodes_touched = len(freed | set(passed))
        work.nodes_freed = len(freed)
        return item, work

    def replace(self, index: int, item: int) -> tuple[int, Work]:
        """Put another item where one is. Stands for sws_rtree_replace (rtree.c)."""
        work = Work(nodes_touched=len(self.passed(index)))
        if index not in self.items:
            return NOT_FOUND, work
        self.items[index] = item
        return OK, work

    def lookup(self, index: int) -> tuple[int, Work]:
        """Return the item at an index, or 0. Stands for sws_rtree_lookup (rtree.c)."""
        return self.items.get(index, 0), Work(nodes_touched=len(self.passed(index)))

    def tag_get(self, index: int, tag: int) -> tuple[bool, Work]:
        """Return whether the item has the tag. Stands for sws_rtree_tag_get (rtree.c)."""
        work = Work(nodes_touched=len(self.passed(index)))
        return tag in self.tags.get(index, ()), work

    def tag_set(self, index: int, tag: int) -> tuple[int, Work]:
        """Set a tag on all levels, as 4.8 does. Stands for sws_rtree_tag_set (rtree.c)."""
        work = Work(nodes_touched=len(self.passed(index)))
        if index not in self.items:
            return NOT_FOUND, work
        self.tags[index].add(tag)
        work.tag_words_touched = self.height() + 1
        return OK, work

    def _untag(self, index: int, tag: int) -> int:
        """Clear a tag; return the words tested: upward while the one left is empty."""
        had = tag in self.tags[index]
        self.tags[index].discard(tag)
        if not had or not self.height():
            return 1
        emptied = 0
        for node in self.path(index):
            if self.word(node, tag):
                break
            emptied += 1
        return 1 + emptied

    def tag_clear(self, index: int, tag: int) -> tuple[int, Work]:
        """Clear a tag. Stands for sws_rtree_tag_clear (rtree.c)."""
        work = Work(nodes_touched=len(self.passed(index)))
        if index not in self.items:
            return NOT_FOUND, work
        work.tag_words_touched = self._untag(index, tag)
        return OK, work

    def tag_update(self, index: int, set_tags: set[int], clear: set[int]) -> tuple[int, Work]:
        """Set and clear tags, as 6.1 does. Stands for sws_rtree_tag_update (rtree.c)."""
        work = Work(nodes_touched=len(self.passed(index)))
        if index not in self.items:
            return NOT_FOUND, work
        for tag in set_tags:
            lacking = 0
            for level, prefix in self.path(index):
                if index >> (level - 1) * self.shift in self.word((level, prefix), tag):
                    break
                lacking += 1
            work.tag_words_touched += lacking + 1
            self.tags[index].add(tag)
        work.tag_words_touched += sum(self._untag(index, tag) for tag in clear)
        return OK, work

    def next(self, first: int) -> tuple[int, int]:
        """Return the first item from an index on. Stands for sws_rtree_next (rtree.c)."""
        index = min((index for index in self.items if index >= first), default=first)
        return index, self.items.get(index, 0)


def edges(shift: int) -> Iterator[int]:
    """Yield the indexes at which trees grow and shrink."""
    for bits in range(0, 64, shift):
        yield from (index for index in ((1 << bits) - 1, 1 << bits) if index >= 0)
    yield 2**64 - 1


def interesting_indexes(shift: int) -> list[int]:
    """Return a few dozen indexes: dense ones, sparse ones, and those at the edges."""
    spread: Iterable[int] = (step * 37 for step in range(12))
    return sorted({*range(12), *spread, *edges(shift), 2**64 - 2, 2**63 + 5})
