# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B's machine, and the constants that its mail leaves open."""

from dataclasses import replace

import pytest

from swapsim.errors import InputError
from swapsim.machine.costs import costs
from swapsim.machine.run import PAGE_KIB, metric_values
from swapsim.patches import batched_removal as patch
from swapsim.patches.batched_removal.prediction import NEXT_SHARES, TAG_SHARES, UNEVEN
from swapsim.patches.writeback_tags import fit
from swapsim.patches.writeback_tags.prediction import MAP_SHARE


@pytest.mark.parametrize("sweeps", [False, True])
def test_the_patch_is_one_field_of_the_machine(sweeps: bool) -> None:
    """With the patch and without it the machine differs in the removal only."""
    off, on = (
        patch.machine(threads=3, batched=batched, sweeps=sweeps) for batched in (False, True)
    )
    assert replace(off, removal="batched") == on
    assert (off.nodes, off.tasks, off.rotational) == (4, 3, True)


def test_all_kswapds_work_with_one_thread() -> None:
    """Memory is shared: one writer keeps four kswapds busy, as the mail's 1-thread row needs."""
    config = patch.machine(threads=1, batched=False)
    value = metric_values(config, patch.constants_at(patch.MIDDLE))
    assert value["idle.kswapd"] < 20
    assert value["cycles.tree_lock.__remove_mapping"] > 1


def test_each_point_is_one_combination() -> None:
    """The points are all combinations of open shares, and the middle one at each unevenness."""
    points = list(patch.points())
    assert len(points) == len(set(points)) == len(TAG_SHARES) * 3 + len(UNEVEN) - 1
    assert patch.MIDDLE in points
    assert {point.next_share for point in points} == set(NEXT_SHARES)
    assert {point.uneven_percent for point in points} == set(UNEVEN)


def test_each_access_of_a_sweep_faults() -> None:
    """The machine of prices has pages that go out and come in all the time."""
    config = patch.machine(threads=2, batched=False, sweeps=True)
    value = metric_values(config, patch.constants_at(patch.MIDDLE))
    assert value["swap_in"] / PAGE_KIB > 0.95 * value["accesses"]
    assert value["swap_out"] == pytest.approx(value["swap_in"], rel=0.05)


def test_a_points_constants_are_those_of_uniform_memory() -> None:
    """A cache line travels equally far to all CPUs, and a further removal costs its share."""
    point = patch.Point(tag_share=0.1, next_share=0.3)
    value = dict(patch.constants_at(point).select("name", "value").iter_rows())
    known = dict(costs().select("name", "value").iter_rows())
    assert value["travel_same_socket_ns"] == value["travel_other_socket_ns"]
    assert value["travel_same_socket_ns"] == known["travel_same_socket_ns"]
    assert value["tree_next_ns"] == round(0.3 * value["tree_ns"])
    with pytest.raises(InputError, match=r"tag_share=0\.2: choose of"):
        patch.constants_at(replace(point, tag_share=0.2))


@pytest.mark.parametrize("tag_share", TAG_SHARES)
def test_the_constants_are_fits_of_patch_as_base(tag_share: float) -> None:
    """They are what `fit` finds."""
    found = fit(tag_share=tag_share, map_share=MAP_SHARE).constants
    point = patch.Point(tag_share=tag_share, next_share=1.0)
    names = ["unmap_ns", "tree_ns", "tag_ns", "map_ns"]
    stored, fitted = (
        dict(frame.select("name", "value").iter_rows())
        for frame in (patch.constants_at(point), found)
    )
    assert [stored[name] for name in names] == [fitted[name] for name in names]
