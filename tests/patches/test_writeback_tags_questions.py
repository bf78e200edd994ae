# SPDX-License-Identifier: GPL-2.0-or-later
"""Each what-if of patch A changes one thing."""

from dataclasses import fields, replace

import polars as pl
import pytest

from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.what_if import CPUS, by_drive, by_trunk_size, gains, run, trials
from swapsim.patches import writeback_tags as patch
from swapsim.patches.writeback_tags import studies
from swapsim.patches.writeback_tags.prediction import MAP_SHARE, TAG_SHARE
from swapsim.study import SerialExecutor
from swapsim.study.constants import ends

SERIAL = SerialExecutor()


def differing(one: MachineConfig, other: MachineConfig) -> set[str]:
    """Return the fields in which two machines differ."""
    names = [field.name for field in fields(one)]
    return {name for name in names if getattr(one, name) != getattr(other, name)}


def brief(config: MachineConfig) -> MachineConfig:
    """Return the machine with less memory and a shorter run."""
    return replace(config, frames=2**13, duration_ns=20_000_000)


def test_the_cases_of_patch_a_differ_by_the_patch_alone() -> None:
    """Within a case only the tags differ, between cases what is asked and the memory for it."""
    usual = patch.machine(tags=True)
    for cases, changed in (
        (studies.by_writers(), {"writers", "frames"}),
        (by_drive(usual), {"channels"}),
        (studies.by_trunk_size(), {"kernel", "trunk_shift"}),
    ):
        for one in cases:
            assert one.machine.swap_writeback_tags
            assert differing(one.machine, usual) <= changed
            base, patched = trials([one], {"a": costs()}, studies.POLICIES, [1])
            assert base.machine == one.machine
            assert differing(base.machine, patched.machine) == {"swap_writeback_tags"}
        assert len({one.names["label"] for one in cases}) == len(cases)
    assert [one.machine.writers for one in studies.by_writers()] == list(CPUS)
    assert studies.by_writers([8])[0].machine == usual


def test_patch_a_gains_most_where_one_lock_serves_all() -> None:
    """Under 5.8 a device of one trunk has one lock to wait for, one of many trunks hardly any."""
    usual = studies.by_trunk_size()[0].machine
    cases = by_trunk_size(brief(usual), [8, 20])
    assert [one.names["label"] for one in cases] == ["1 MB a trunk", "4096 MB a trunk"]
    rows = run(cases, {"a": costs()}, studies.POLICIES, seeds=[1], executor=SERIAL)
    many, one = gains(rows).iter_rows(named=True)
    assert one["base_waits"] > 4 * many["base_waits"]
    assert one["middle"] > 2 * many["middle"] > 0


def test_patch_as_costs_are_fitted_with_its_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both shares come to the fit of patch A, at each end of each constant."""
    given: list[tuple[object, str, int]] = []

    def of_a(
        shares: object, *, name: str, seeds: tuple[int, ...], constants: pl.DataFrame
    ) -> pl.DataFrame:
        assert seeds == (1,)
        given.append((shares, name, constants.filter(name="copy_ns")["value"].item()))
        return constants.clear()

    monkeypatch.setattr(studies.fits, "predict_at_shares", of_a)
    for moved in ends(costs(), ["copy_ns"]):
        studies.fit_at_end(moved)
    copy = costs().filter(name="copy_ns").row(0, named=True)
    assert given == [
        ((TAG_SHARE, MAP_SHARE), f"copy_ns, {end}", copy[end]) for end in ("low", "high")
    ]


def test_what_ifs_do_not_change_fitted_constants() -> None:
    """Fitted and tied constants are not moved to their ends."""
    known = set(costs()["name"])
    assert set(studies.OTHER_COSTS) <= known - {"unmap_ns", "tree_ns", "tag_ns", "map_ns"}
