# SPDX-License-Identifier: GPL-2.0-or-later
"""The C radix tree against the dictionary of oracle_rtree, driven by Hypothesis."""

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from oracle_rtree import TAGS, Tree, Work, interesting_indexes

from swapsim._core import ffi, lib

TREES = 2
tag_strategy = st.sampled_from(TAGS)
item_strategy = st.integers(1, 2**64 - 1)
RELAXED = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def make_forest(shift: int, trees: int, sort_threshold: int = 4096) -> Any:
    """Return a forest that frees itself."""
    config = ffi.new("struct sws_forest_config *")
    lib.sws_forest_config_init(config)
    config.shift, config.tree_count, config.sort_threshold = shift, trees, sort_threshold
    out = ffi.new("struct sws_forest **")
    assert lib.sws_forest_new(config, out) == lib.SWS_OK
    return ffi.gc(out[0], lib.sws_forest_free)


def assert_same(forest: Any, oracles: list[Tree]) -> None:
    """Compare everything that needs no index."""
    reason = ffi.new("const char **")
    assert lib.sws_forest_verify(forest, reason) == lib.SWS_OK, ffi.string(reason[0])
    assert lib.sws_forest_node_count(forest) == sum(len(tree.nodes()) for tree in oracles)
    for number, oracle in enumerate(oracles):
        assert lib.sws_rtree_height(forest, number) == oracle.height()
        assert lib.sws_rtree_node_count(forest, number) == len(oracle.nodes())
        for tag in TAGS:
            assert lib.sws_rtree_tagged(forest, number, tag) == oracle.tagged(tag)


def gang(forest: Any, tree: int, first: int, limit: int, tag: int | None) -> list[tuple[int, int]]:
    """Return the result of a gang lookup as pairs of index and item."""
    items, indexes = ffi.new("uint64_t[]", limit + 1), ffi.new("uint64_t[]", limit + 1)
    if tag is None:
        count = lib.sws_rtree_gang_lookup(forest, tree, first, limit, items, indexes)
    else:
        count = lib.sws_rtree_gang_lookup_tag(forest, tree, first, limit, tag, items, indexes)
    return list(zip(indexes[0:count], items[0:count], strict=True))


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

    @rule(data=st.data(), limit=st.integers(0, 6), tag=st.none() | tag_strategy)
    def gang_lookup(self, data: st.DataObject, limit: int, tag: int | None) -> None:
        """Gang lookups give items in order of index."""
        number, oracle, first = self.target(data)
        assert gang(self.forest, number, first, limit, tag) == oracle.gang(first, limit, tag)

    @rule(data=st.data(), limit=st.integers(0, 6), if_tag=tag_strategy, set_tag=tag_strategy)
    def range_tag(self, data: st.DataObject, limit: int, if_tag: int, set_tag: int) -> None:
        """Range_tag_if_tagged tags up to its limit and returns where to continue."""
        number, oracle, first = self.target(data)
        last = data.draw(st.sampled_from(self.indexes))
        place = ffi.new("uint64_t *", first)
        met = lib.sws_rtree_range_tag_if_tagged(
            self.forest, number, place, last, limit, if_tag, set_tag
        )
        assert (met, place[0]) == oracle.range_tag(first, last, limit, if_tag, set_tag)

    @precondition(lambda self: hasattr(self, "forest"))
    @invariant()
    def same_structure(self) -> None:
        """Heights, node counts and root tags follow from the items."""
        assert_same(self.forest, self.oracles)


# Single calls agree with the dictionary in result, structure and work.
TestSingleCalls = SingleCalls.TestCase
TestSingleCalls.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None, suppress_health_check=RELAXED
)


@settings(max_examples=150, deadline=None, suppress_health_check=RELAXED)
@given(data=st.data(), shift=st.integers(1, 6), threshold=st.sampled_from([0, 1, 8, 2**64 - 1]))
def test_batches(data: st.DataObject, shift: int, threshold: int) -> None:
    """A batch, sorted or not, has the results of the dictionary row by row."""
    forest = make_forest(shift, 3, threshold)
    oracles = [Tree(shift) for _ in range(3)]
    rows = st.tuples(st.integers(0, 2), st.sampled_from(interesting_indexes(shift)))
    for _ in range(data.draw(st.integers(1, 5))):
        batch = data.draw(st.lists(rows, max_size=60))
        operation = data.draw(
            st.sampled_from(["insert", "insert", "lookup", "delete", "tag_set", "tag_clear"])
        )
        count, tag = len(batch), data.draw(tag_strategy)
        trees = ffi.new("uint32_t[]", [tree for tree, _ in batch])
        indexes = ffi.new("uint64_t[]", [index for _, index in batch])
        items = ffi.new("uint64_t[]", list(range(1, count + 1)))
        words, status = ffi.new("uint64_t[]", count + 1), ffi.new("int8_t[]", count + 1)
        call = getattr(lib, f"sws_forest_{operation}")
        if operation == "insert":
            assert call(forest, count, trees, indexes, items, status) == lib.SWS_OK
            extra: list[tuple[int, ...]] = [(row,) for row in range(1, count + 1)]
        elif operation in ("lookup", "delete"):
            assert call(forest, count, trees, indexes, words) == lib.SWS_OK
            extra = [()] * count
        else:
            assert call(forest, count, trees, indexes, tag, status) == lib.SWS_OK
            extra = [(tag,)] * count
        results = words if operation in ("lookup", "delete") else status
        expected = [
            getattr(oracles[tree], operation)(index, *more)[0]
            for (tree, index), more in zip(batch, extra, strict=True)
        ]
        assert list(results[0:count]) == expected
        assert_same(forest, oracles)
        for tag in TAGS:
            for tree, index in batch:
                has = lib.sws_rtree_tag_get(forest, tree, index, tag, ffi.NULL)
                assert has == oracles[tree].tag_get(index, tag)[0]


@pytest.mark.parametrize("first", [0, 16384, 2**18, 2**20 + 16384])
def test_trunk_of_64_megabytes(first: int) -> None:
    """A full trunk takes 256 leaves, 4 nodes and 1, and 1 more where its offsets need 4 levels."""
    forest, count = make_forest(6, 1), 16384
    oracle = Tree(6, {first + slot: slot + 1 for slot in range(count)})
    trees = ffi.new("uint32_t[]", count)
    indexes = ffi.new("uint64_t[]", list(oracle.items))
    items = ffi.new("uint64_t[]", list(oracle.items.values()))
    status = ffi.new("int8_t[]", count)
    assert lib.sws_forest_insert(forest, count, trees, indexes, items, status) == lib.SWS_OK
    assert not any(status)
    expected = 256 + 4 + 1 + (first >= 2**18)
    assert lib.sws_rtree_node_count(forest, 0) == len(oracle.nodes()) == expected
    assert lib.sws_rtree_height(forest, 0) == oracle.height() == (4 if first >= 2**18 else 3)
