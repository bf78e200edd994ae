# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch A and a real 6.1 kernel: acquisitions per page, and the nodes of the swap cache's trees."""

import sys
from collections import defaultdict
from collections.abc import Iterable
from importlib import import_module
from itertools import product
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab_machines import LEDGER, compare_counts, run_as_lab, writers
from lab_machines import medians as medians_of

from swapsim import ffi as core
from swapsim import io, mapping, traces
from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.mapping import MappingConfig
from swapsim.published import data
from swapsim.published.data import SLOTS_IN_USE

SLOTS = 1 << 20

EXPERIMENTS = [name for name in io.shipped_measurements() if name.startswith("tree-nodes")]

OFFSETS = st.one_of(
    st.sets(st.integers(0, SLOTS - 1), max_size=60),
    st.builds(
        lambda first, count: set(range(first, min(first + count, SLOTS))),
        st.integers(0, SLOTS - 1),
        st.integers(1, 300),
    ),
)

OUTPUT = """\
sample before objects 700 used 0 cached 0 slots 0
allocated by
    650 radix_tree_extend+0x9d/0xc0 age=1/2/3 pid=1
        radix_tree_extend+0x9d/0xc0
        idr_alloc_cyclic+0x5e/0xd0

     50 xas_alloc+0x9d/0xc0 age=4 pid=1

sample sequential objects 703 used 5 cached 2 slots 5
extent 60 4
extent 300 1
allocated by
    650 radix_tree_extend+0x9d/0xc0 age=1/2/3 pid=1
        radix_tree_extend+0x9d/0xc0
        idr_alloc_cyclic+0x5e/0xd0

      2 xas_alloc+0x9d/0xc0 age=1 pid=66
        xas_alloc+0x9d/0xc0
        add_to_swap_cache+0x15e/0x2f0
        add_to_swap+0x2e/0x60

      1 xas_alloc+0x9d/0xc0 age=2 pid=66
        xas_alloc+0x9d/0xc0
        add_to_swap_cache+0x15e/0x2f0
        __read_swap_cache_async+0x1c/0x90

     50 xas_alloc+0x9d/0xc0 age=4 pid=1

"""


def simulated(seeds: int) -> pl.DataFrame:
    """Return the counts of the experiment's machines."""
    points = product(("off", "on"), range(1, seeds + 1))
    return pl.concat(run_as_lab(writers(policy=on, seed=seed)) for on, seed in points)


def test_each_lock_of_the_writers_is_taken_as_often_as_in_the_kernel() -> None:
    """Six locks with tags off and on are within the tolerance that was set before."""
    medians = medians_of(data.measured_results("writeback-tags"))
    table = compare_counts(simulated(2), medians).filter(pl.col("metric").is_in(LEDGER))
    assert table.height == 2 * len(LEDGER) == 12
    assert table.filter(pl.col("verdict") != "reproduced").is_empty(), table


def test_the_replay_counts_what_the_real_kernel_counted() -> None:
    """Acquisitions of the swap cache's lock a page, tags off and on, agree within five percent."""
    rounds = data.measured_results("writeback-tags")
    assert rounds["seed"].n_unique() >= 7
    medians = medians_of(rounds.filter(metric="xa_lock acquisitions"))
    trace = traces.shipped_folders("mapping")["swap-w-seq"]
    sites = mapping.replay(trace, kernels="6.1").filter(flow="swap, written")
    counted = dict(medians.select("policy", "median").iter_rows())
    for tags, policy in ((True, "on"), (False, "off")):
        own = sites.filter(tags=tags)
        found = own["acquisitions"].sum() / own["pages"][0]
        assert found == pytest.approx(counted[policy], rel=0.05)


@pytest.fixture(scope="module")
def rig() -> SimpleNamespace:
    """Return the rig's modules, a package next to their program."""
    sys.path.insert(0, str(io.data_root() / "capture"))
    try:
        return SimpleNamespace(
            experiment=import_module("rig.experiment"), tree_nodes=import_module("rig.tree_nodes")
        )
    finally:
        sys.path.remove(str(io.data_root() / "capture"))


def count_nodes(offsets: set[int], trunk_shift: int, tree_shift: int) -> int:
    """Count the blocks that hold an offset, of each size below the least that holds a trunk's."""
    trunks = defaultdict(set)
    for offset in offsets:
        trunks[offset >> trunk_shift].add(offset)
    nodes = 0
    for trunk in trunks.values():
        height = -(-max(trunk).bit_length() // tree_shift)
        for level in range(1, height + 1):
            nodes += len({offset >> level * tree_shift for offset in trunk})
    return nodes


def nodes_after_swap_out(offsets: Iterable[int], config: MappingConfig) -> int:
    """Return the nodes of the swap cache's trees after a page of each slot was swapped out."""
    trees = core.new(lib.sws_mappings_new, mapping.settings(config), free=lib.sws_mappings_free)
    tree, work = ffi.new("uint32_t *"), ffi.new("struct sws_mapping_work *")
    folio, shadow = (
        2,
        1,
    )  # nodes do not depend on what an entry means: a folio is even, a shadow odd
    for offset in offsets:
        core.check(lib.sws_mapping_of_swap(trees, offset, tree))
        core.check(lib.sws_mapping_add(trees, tree[0], offset, folio, work))
        core.check(lib.sws_mapping_delete(trees, tree[0], offset, shadow, work))
    return sum(lib.sws_mapping_nodes(trees, each) for each in range(lib.sws_mapping_count(trees)))


@given(offsets=OFFSETS, trunk_shift=st.integers(4, 21), tree_shift=st.integers(1, 6))
def test_c_counts_the_blocks_that_hold_a_slot(
    offsets: set[int], trunk_shift: int, tree_shift: int
) -> None:
    """Each trunk's tree has, at each of its levels, one node per block with a slot in use."""
    config = MappingConfig(
        kernel="6.1", swap_slots=SLOTS, trunk_shift=trunk_shift, tree_shift=tree_shift
    )
    wanted = count_nodes(offsets, trunk_shift, tree_shift)
    assert nodes_after_swap_out(offsets, config) == wanted


def test_earlier_kernels_have_no_node_for_a_page_that_is_gone() -> None:
    """Before shadows, a slot whose page was written and taken has no entry in a tree."""
    for kernel in ("4.8", "5.8"):
        config = MappingConfig(kernel=kernel, swap_slots=SLOTS)
        assert nodes_after_swap_out(range(1, 500), config) == 0


def simulated_nodes(experiment: str) -> pl.DataFrame:
    """Return the model's nodes for each set of slots that a real kernel had in use."""
    sets = data.measured_table(experiment, "slots_in_use")
    provenance = data.measured_provenance(experiment)
    config = MappingConfig(
        kernel="6.1",
        swap_slots=provenance["guest"]["swap"]["mebibytes"] * 256,
        trunk_shift=provenance["kernel"]["trunk_shift"],
        tree_shift=provenance["kernel"]["tree_shift"],
    )
    rows = []
    for (seed, name), extents in sets.group_by("seed", "set", maintain_order=True):
        offsets = (
            offset
            for first, count in extents.select("first", "count").iter_rows()
            for offset in range(first, first + count)
        )
        rows.append((seed, f"{name}: nodes", float(nodes_after_swap_out(offsets, config))))
    return pl.DataFrame(rows, schema=["seed", "metric", "value"], orient="row")


def by_set_and_round(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a row per set of slots and round, a column per metric of it."""
    names = pl.col("metric").str.split_exact(": ", 1).struct.rename_fields(["set", "what"])
    split = rows.select("seed", "value", names.alias("names")).unnest("names")
    return split.pivot("what", index=["set", "seed"], values="value")


def test_each_size_of_trees_was_measured() -> None:
    """Large and small trunks, and nodes of 64 and of 16 slots, have three rounds each."""
    provenances = [data.measured_provenance(name) for name in EXPERIMENTS]
    sizes = {(each["kernel"]["trunk_shift"], each["kernel"]["tree_shift"]) for each in provenances}
    assert sizes == {(14, 6), (10, 6), (14, 4)}
    assert all(data.measured_results(name)["seed"].n_unique() >= 3 for name in EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_model_has_the_nodes_of_the_kernel(name: str) -> None:
    """In each round the kernel's slab grew by the nodes that mapping.h has for these slots."""
    kernel = by_set_and_round(data.measured_results(name))
    model = by_set_and_round(simulated_nodes(name))
    both = kernel.join(model, on=["set", "seed"], suffix=" of the model")
    assert set(both["set"]) == {"sequential", "fragmented", "visited", "sparse", "few"}
    assert both.height == model.height
    for same in ("nodes of the model", "nodes by call stack"):
        assert both["nodes"].equals(both[same], check_names=False)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_most_slots_in_use_have_a_shadow(name: str) -> None:
    """The sets are shadows that a 6.1 kernel stores for pages that are gone."""
    slots = (
        data.measured_table(name, "slots_in_use").group_by("set", "seed").agg(pl.col("count").sum())
    )
    both = by_set_and_round(data.measured_results(name)).join(slots, on=["set", "seed"])
    assert both.height == slots.height
    assert (both["shadows"] > both["slots"] // 2).all()
    assert (both["slots"] == both["count"]).all()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_nodes_go_with_their_slots(name: str) -> None:
    """When all slots are freed, the slab has as many nodes as before the first set."""
    after = data.measured_results(name).filter(pl.col("metric").str.starts_with("after: "))
    assert after.height == 12
    assert (after["value"] == 0).all()


def test_an_experiment_without_tree_nodes_is_refused() -> None:
    """An experiment without sets of slots is refused."""
    with pytest.raises(InputError, match="slots_in_use"):
        simulated_nodes("writeback-tags")


def test_samples_become_metrics_and_slots(rig: SimpleNamespace) -> None:
    """Nodes are those beyond the first sample's, and those whose stack has add_to_swap_cache."""
    metrics, extents = rig.tree_nodes.read(OUTPUT, "test")
    assert metrics == {
        "sequential: slots": (5, "slot"),
        "sequential: shadows": (3, "slot"),
        "sequential: nodes": (3, "node"),
        "sequential: nodes by call stack": (3, "node"),
    }
    assert extents == [("sequential", 60, 4), ("sequential", 300, 1)]
    table = rig.tree_nodes.tabulate([("shared", 2, extents)])
    assert table.schema == SLOTS_IN_USE.schema
    assert table.row(0) == ("shared", 2, "sequential", 60, 4)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("extent 300 1\n", "", "'sequential' are missing"),
        ("sample before", "sample sooner", "not there"),
        ("add_to_swap_cache", "another_function", "which functions allocated"),
    ],
)
def test_half_an_output_is_refused(rig: SimpleNamespace, old: str, new: str, word: str) -> None:
    """Lost slots, samples or call stacks fail the run."""
    with pytest.raises(rig.tree_nodes.GuestError, match=word):
        rig.tree_nodes.read(OUTPUT.replace(old, new), "test")
