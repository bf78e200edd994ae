# SPDX-License-Identifier: GPL-2.0-or-later
"""Each what-if of patch A changes one thing."""

from dataclasses import fields

import pytest

from swapsim.machine.config import Machine
from swapsim.machine.constants import costs
from swapsim.patches import writeback_tags as patch
from swapsim.patches.what_if import CPUS, by_drive, trials
from swapsim.patches.writeback_tags import studies


def differing(one: Machine, other: Machine) -> set[str]:
    """Return the fields in which two machines differ."""
    names = [field.name for field in fields(one) if field.compare]
    return {name for name in names if getattr(one, name) != getattr(other, name)}


def test_the_cases_of_patch_a_differ_by_the_patch_alone() -> None:
    """Within a case only the tags differ, between cases what is asked and the memory for it."""
    usual = patch.machine(tags=True)
    for cases, changed in (
        (studies.by_writers(), {"writers", "frames", "slots", "warmup_ns"}),
        (by_drive(usual), {"channels"}),
        (studies.by_trunk_size(), {"kernel", "trunk_shift"}),
    ):
        for one in cases:
            assert one.machine.tags
            assert differing(one.machine, usual) <= changed
            base, patched = trials([one], {"a": costs()}, studies.POLICIES, [1])
            assert base.machine == one.machine
            assert differing(base.machine, patched.machine) == {"tags"}
        assert len({one.names["label"] for one in cases}) == len(cases)
    assert [one.machine.writers for one in studies.by_writers()] == list(CPUS)
    for one in studies.by_writers():  # all of memory is written twice before the window
        assert one.machine.warmup_ns / one.machine.frames == pytest.approx(4e8 / 2**15)


def test_what_ifs_do_not_change_fitted_constants() -> None:
    """Fitted and tied constants are not moved to their ends."""
    known = set(costs()["name"])
    assert set(studies.OTHER_COSTS) <= known - {"unmap_ns", "tree_ns", "tag_ns", "map_ns"}
