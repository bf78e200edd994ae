# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D's what-ifs change one thing."""

from dataclasses import fields

from swapsim.machine.config import MachineConfig
from swapsim.patches import cluster_next as patch
from swapsim.patches.cluster_next import questions


def differing(one: MachineConfig, other: MachineConfig) -> set[str]:
    """Return the fields in which two machines differ."""
    names = [field.name for field in fields(one)]
    return {name for name in names if getattr(one, name) != getattr(other, name)}


def test_the_cases_of_patch_d_differ_by_the_policy_alone() -> None:
    """Within a case only the base's policy differs, between cases what is asked."""
    usual = patch.machine(policy="shared", gigabytes=12)
    for cases, changed in (
        (questions.cases_by_tasks(policy="avoid"), {"walkers", "pages"}),
        (questions.cases_by_trunk_size(policy="avoid"), {"trunk_shift"}),
        (questions.cases_by_drive(policy="avoid"), {"channels"}),
    ):
        for one in cases:
            assert differing(one.base, one.patched) == {"policy"}
            assert (one.base.policy, one.patched.policy) == ("shared", "avoid")
            assert differing(one.base, usual) <= changed
    for one in questions.cases_by_tasks():
        pages = one.base.walkers * one.base.pages
        assert 0 <= usual.walkers * usual.pages - pages < one.base.walkers
    trunks = {one.label: one.base.trunk_shift for one in questions.cases_by_trunk_size([12, 14])}
    assert trunks == {"16 MB a trunk": 12, "64 MB a trunk": 14}
