# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's machine with the lists of a node."""

from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions.node import NODE, RULES, ZONES, NodeCase, run_of


def test_a_node_has_the_memory_of_both_zones() -> None:
    """Nothing else of the machine is another."""
    zones, node = (run_of(NodeCase(lists, "mmotm", 1)).world()[0] for lists in (ZONES, NODE))
    assert node.normal_pages == 0 < zones.normal_pages
    assert node.dma32_pages == zones.dma32_pages + zones.normal_pages
    for name in ("items", "files", "disk_rate", "min_free_pages", "rules", "seed"):
        assert getattr(node, name) == getattr(zones, name)


def test_the_stored_runs_side_by_side() -> None:
    """A line for each rule set on a node, and for those that zones have."""
    table = patch.node_beside_zones(
        patch.studies.on_a_node.load(), ["Kswapd pages scanned", "Swap Outs"]
    )
    assert table.columns == ["lists", "rules", "Kswapd pages scanned", "Swap Outs"]
    assert table.filter(lists=NODE)["rules"].to_list() == list(RULES)
    assert table.filter(lists=ZONES)["rules"].to_list() == list(RULES[:-1])
    assert table.null_count().row(0) == (0, 0, 0, 0)
