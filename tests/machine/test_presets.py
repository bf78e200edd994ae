# SPDX-License-Identifier: GPL-2.0-or-later
"""The published machines are those of the patches' studies, notebooks and panels."""

from dataclasses import replace

import pytest

from swapsim import machine, study
from swapsim.errors import InputError
from swapsim.live import panels
from swapsim.live.models import machine as rows
from swapsim.machine.constants import change_costs, costs_by_name, costs_of
from swapsim.patches import cluster_next, common, writeback_tags


def of_patch(name: str) -> tuple[machine.Machine, object]:
    """Return a patch's own machine of a mail and the costs of its fit."""
    if name == "A-2016":
        rows = writeback_tags.three_fits.load().filter(tag_share=writeback_tags.TAG_SHARE)
        ((_, found),) = writeback_tags.fitted_costs(rows).items()
        return writeback_tags.machine(), change_costs(costs_of(), found)
    costs = common.fitted_costs(cluster_next.fits.load())[name[2:]]
    return cluster_next.machine(name[2:]), change_costs(costs_of(), costs)


@pytest.mark.parametrize("name", [each for each in machine.PRESETS if each[0] != "B"])
def test_a_preset_is_the_machine_of_its_patch(name: str) -> None:
    """In each field, with the costs of the fit that studies and panels read; B's is its preset."""
    own, costs = of_patch(name)
    found = machine.preset(name)
    tags = found.tags if name != "A-2016" else True  # 4.8 as it was released
    assert replace(found, tags=tags) == replace(own, costs=costs)
    assert costs_by_name(machine.costs(found)) == costs_by_name(costs)


def test_a_gain_is_that_of_the_stored_study() -> None:
    """Of notebook 01's table of writers: the same machine, fit and seeds."""
    rows = study.load("writeback-tags-gain-by-writers")
    rows = rows.filter(setting=8.0, fit="tags 0.1, map 0.31", metric="swap_out")
    stored = study.over(study.against(rows, policy="base")).row(0, named=True)
    settled = machine.preset("A-2016").replace(warmup_ns=400_000_000, slots=2**22)
    found = machine.gain(settled, seeds=2, tags=False).row(0, named=True)
    for name in ("middle", "low", "high"):
        assert found[name] == pytest.approx(stored[name], abs=0.05)


def test_a_gain_is_that_of_the_panel() -> None:
    """The same machine in the panel's window has the same rates."""
    panel = panels.tags()
    window = {name: panel.base[name] for name in ("warmup_ns", "duration_ns", "slots")}
    short = machine.preset("A-2016").replace(**window, frames=panels.frames_of(8))
    for case, fields in panel.cases:
        setting = {**panel.base, **fields, "frames": short.frames, "costs": short.costs}
        rate = rows(setting).filter(metric="swap_out")["value"].item()
        tags = case["tags"] == panels.KEPT
        assert machine.run(short.replace(tags=tags)).swap_out == rate


def test_what_binds_is_named() -> None:
    """The lock that is waited for longest, or work; saturated where nearly all find it held."""
    a = machine.preset("A-2016")
    ran = machine.run(a)
    assert (ran.bound_by, ran.saturated) == ("tree_lock", True)
    assert ran.locks["lock"][0] == "tree_lock"
    assert ran.throughput == (ran.swap_out + ran.swap_in) / 4
    assert ran.time_per_page["percent"].sum() == pytest.approx(100)
    assert "bound_by='tree_lock', saturated" in repr(ran)
    alone = machine.run(a, seed=3)
    assert alone.machine.seed == 3
    one = machine.run(a.replace(writers=1, nodes=1))
    assert (one.bound_by, one.saturated) == ("work", False)


def test_a_fit_returns_a_machine() -> None:
    """With the costs that were found; a metric that a run does not have is named."""
    small = machine.Machine(kernel="4.8", writers=4, duration_ns=5_000_000)
    wanted = machine.run(small.replace(unmap_ns=8000)).swap_out
    fitted, residuals = machine.fit(small, {"swap_out": wanted}, free=["unmap_ns"])
    assert fitted.costs["unmap_ns"] == pytest.approx(8000, rel=0.15)
    assert residuals["off_percent"].abs().max() < 1
    with pytest.raises(InputError, match="no metric 'tides'"):
        machine.fit(small, {"tides": 1.0}, free=["unmap_ns"])


def test_an_unknown_preset_is_named() -> None:
    """With those that there are."""
    with pytest.raises(InputError, match="choose one of A-2016, B-2016, D-V1, D-V3"):
        machine.preset("A-2017")
