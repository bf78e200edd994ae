# SPDX-License-Identifier: GPL-2.0-or-later
"""The C radix tree against the dictionary of oracle_rtree, driven by Hypothesis."""

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from oracle_rtree import TAGS, Tree, Work, interesting_indexes

from swapsim._core import ffi, lib

TREES = 2
tag_strategy = st.sampled_from(TAGS)
item_strategy = st.integers(1, 2**64 - 1)
RELAXED = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def make_forest(shift: int, trees: int) -> Any:
    """Return a forest that frees itself."""
    config = ffi.new("struct sws_forest_config *")
    lib.sws_forest_config_init(config)
    config.shift, config.tree_count = shift, trees
    out = ffi.new("struct sws_forest **")
    assert lib.sws_forest_new(config, out) == lib.SWS_OK
    return ffi.gc(out[0], lib.sws_forest_free)


def assert_same(forest: Any, oracles: list[Tree]) -> None:
    """Compare everything that needs no index."""
    reason = ffi.new("const char **")
    assert lib.sws_forest_verify(forest, reason) == lib.SWS_OK, ffi.string(reason[0])
    for number, oracle in enumerate(oracles):
        assert lib.sws_rtree_height(forest, number) == oracle.height()
        assert lib.sws_rtree_node_count(forest, number) == len(oracle.nodes())
        for tag in TAGS:
            assert lib.sws_rtree_tagged(forest, number, tag) == oracle.tagged(tag)


def mask(tags: set[int]) -> int:
    """Return a set of tags as bits."""
    return sum(1 << tag for tag in tags)


class SingleCalls(RuleBasedStateMachine):
    """Each single call on both, and its work; the whole structure after each."""

    @initialize(shift=st.integers(1, 6))
    def begin(self, shift: int) -> None:
        """Begin with empty trees of some fan-out."""
        self.forest = make_forest(shift, TREES)
        self.oracles = [Tree(shift) for _ in range(TREES)]
        self.indexes = interesting_indexes(shift)
        self.work = ffi.new("struct sws_rtree_work *")

    def target(self, data: st.DataObject) -> tuple[int, Tree, int]:
        """Draw a tree and an index, half of them in use if any are."""
        number = data.draw(st.integers(0, TREES - 1))
        oracle = self.oracles[number]
        in_use = data.draw(st.booleans())
        if in_use and oracle.items:
            return number, oracle, data.draw(st.sampled_from(sorted(oracle.items)))
        return number, oracle, data.draw(st.sampled_from(self.indexes))

    def check(self, result: int, expected: tuple[int, Work]) -> None:
        """Compare a call's result and its work, and start the next work from zero."""
        assert result == expected[0]
        assert {name: getattr(self.work, name) for name in asdict(expected[1])} == asdict(
            expected[1]
        )
        self.work[0] = ffi.new("struct sws_rtree_work *")[0]

    @rule(data=st.data(), item=item_strategy)
    def insert(self, data: st.DataObject, item: int) -> None:
        """Insert at used and at free indexes."""
        number, oracle, index = self.target(data)
        result = lib.sws_rtree_insert(self.forest, number, index, item, self.work)
        self.check(result, oracle.insert(index, item))

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Delete at used and at free indexes."""
        number, oracle, index = self.target(data)
        result = lib.sws_rtree_delete(self.forest, number, index, self.work)
        self.check(result, oracle.delete(index))

    @rule(data=st.data(), item=item_strategy)
    def replace(self, data: st.DataObject, item: int) -> None:
        """Replace keeps tags, counts and nodes."""
        number, oracle, index = self.target(data)
        result = lib.sws_rtree_replace(self.forest, number, index, item, self.work)
        self.check(result, oracle.replace(index, item))

    @rule(data=st.data())
    def lookup(self, data: st.DataObject) -> None:
        """Look up used and free indexes."""
        number, oracle, index = self.target(data)
        result = lib.sws_rtree_lookup(self.forest, number, index, self.work)
        self.check(result, oracle.lookup(index))

    @rule(data=st.data(), tag=tag_strategy)
    def tag_set(self, data: st.DataObject, tag: int) -> None:
        """Tag_set sets the tag at all levels."""
        number, oracle, index = self.target(data)
        result = lib.sws_rtree_tag_set(self.forest, number, index, tag, self.work)
        self.check(result, oracle.tag_set(index, tag))

    @rule(data=st.data(), tag=tag_strategy)
    def tag_clear(self, data: st.DataObject, tag: int) -> None:
        """Tag_clear clears the tag up to the first level with another tagged item."""
        number, oracle, index = self.target(data)
        result = lib.sws_rtree_tag_clear(self.forest, number, index, tag, self.work)
        self.check(result, oracle.tag_clear(index, tag))

    @rule(data=st.data(), sets=st.sets(tag_strategy), clears=st.sets(tag_strategy))
    def tag_update(self, data: st.DataObject, sets: set[int], clears: set[int]) -> None:
        """Tag_update sets and clears in one walk."""
        number, oracle, index = self.target(data)
        clears = clears - sets
        result = lib.sws_rtree_tag_update(
            self.forest, number, index, mask(sets), mask(clears), self.work
        )
        self.check(result, oracle.tag_update(index, sets, clears))

    @rule(data=st.data(), tag=tag_strategy)
    def tag_get(self, data: st.DataObject, tag: int) -> None:
        """Tag_get changes nothing."""
        number, oracle, index = self.target(data)
        result = lib.sws_rtree_tag_get(self.forest, number, index, tag, self.work)
        self.check(result, oracle.tag_get(index, tag))

    @rule(data=st.data())
    def next(self, data: st.DataObject) -> None:
        """Next gives the first item from an index on."""
        number, oracle, first = self.target(data)
        place = ffi.new("uint64_t *", first)
        item = lib.sws_rtree_next(self.forest, number, place)
        assert (place[0], item) == oracle.next(first)

    @precondition(lambda self: hasattr(self, "forest"))
    @invariant()
    def same_structure(self) -> None:
        """Heights, node counts and root tags follow from the items."""
        assert_same(self.forest, self.oracles)


# The calls agree with the dictionary in result, structure and work.
TestSingleCalls = SingleCalls.TestCase
TestSingleCalls.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None, suppress_health_check=RELAXED
)


@pytest.mark.parametrize("first", [0, 16384, 2**18, 2**20 + 16384])
def test_trunk_of_64_megabytes(first: int) -> None:
    """A full trunk takes 256 leaves, 4 nodes and 1, and 1 more where its offsets need 4 levels."""
    forest, count = make_forest(6, 1), 16384
    oracle = Tree(6, {first + slot: slot + 1 for slot in range(count)})
    for index, item in oracle.items.items():
        assert lib.sws_rtree_insert(forest, 0, index, item, ffi.NULL) == lib.SWS_OK
    expected = 256 + 4 + 1 + (first >= 2**18)
    assert lib.sws_rtree_node_count(forest, 0) == len(oracle.nodes()) == expected
    assert lib.sws_rtree_height(forest, 0) == oracle.height() == (4 if first >= 2**18 else 3)
