# SPDX-License-Identifier: GPL-2.0-or-later
"""Each what-if of patch A changes one thing."""

from dataclasses import fields, replace

import polars as pl
import pytest

from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.what_if import CPUS, gains
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
        (studies.cases_by_writers(), {"writers", "frames"}),
        (studies.cases_by_drive(), {"channels"}),
        (studies.cases_by_trunk_size(), {"kernel", "trunk_shift"}),
    ):
        for one in cases:
            assert differing(one.base, one.patched) == {"swap_writeback_tags"}
            assert differing(one.base, usual) <= changed
        assert len({one.label for one in cases}) == len(cases)
    assert [one.base.writers for one in studies.cases_by_writers()] == list(CPUS)
    assert studies.cases_by_writers([8])[0].base == usual
    assert studies.cases_by_drive()[-1].base == usual


def test_patch_a_gains_most_where_one_lock_serves_all() -> None:
    """Under 5.8 a device of one trunk has one lock to wait for, one of many trunks hardly any."""
    cases = [
        replace(one, base=brief(one.base), patched=brief(one.patched))
        for one in studies.cases_by_trunk_size([8, 20])
    ]
    assert [one.label for one in cases] == ["1 MB a trunk", "4096 MB a trunk"]
    many, one = gains(cases, {"a": costs()}, seeds=[1], executor=SERIAL).iter_rows(named=True)
    assert one["base_waits"] > 4 * many["base_waits"]
    assert one["gain_percent"] > 2 * many["gain_percent"] > 0


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
