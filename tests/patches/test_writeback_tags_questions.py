# SPDX-License-Identifier: GPL-2.0-or-later
"""Each what-if of patch A changes one thing."""

from dataclasses import fields, replace

import polars as pl
import pytest

from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.fit import Fitted
from swapsim.machine.tables import FIT
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


def fit(*, constants: pl.DataFrame) -> Fitted:
    """Stand in for a fit: tree_ns becomes thrice the copy, and no fit meets a copy of its high."""
    copy = constants.filter(name="copy_ns").row(0, named=True)
    return Fitted(
        constants=change_costs(constants, {"tree_ns": 3 * copy["value"]}),
        residuals=pl.DataFrame(schema=FIT.schema),
        converged=copy["value"] < copy["high"],
    )


def test_patch_as_costs_are_fitted_with_its_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both shares come to the fit of patch A, at each end of each constant."""
    shares: list[tuple[float, float]] = []

    def of_a(*, tag_share: float, map_share: float, constants: pl.DataFrame) -> Fitted:
        shares.append((tag_share, map_share))
        return replace(fit(constants=constants), converged=True)

    monkeypatch.setattr(studies.prediction, "fit", of_a)
    (case,) = studies.cases_by_writers([8])
    quick = replace(case, base=brief(case.base), patched=brief(case.patched))
    monkeypatch.setattr(studies, "cases_by_writers", lambda _: [quick])
    found = pl.concat(map(studies.gain_at_end, ends(costs(), ["copy_ns"])))
    assert found["fit"].to_list() == ["copy_ns, low"] * 2 + ["copy_ns, high"] * 2
    assert shares == [(TAG_SHARE, MAP_SHARE)] * 2


def test_what_ifs_do_not_change_fitted_constants() -> None:
    """Fitted and tied constants are not moved to their ends."""
    known = set(costs()["name"])
    assert set(studies.OTHER_COSTS) <= known - {"unmap_ns", "tree_ns", "tag_ns", "map_ns"}
