# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch B's machine, the constants that its mail leaves open, its predictions and what-ifs."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl
import pytest

from swapsim import study
from swapsim.errors import InputError
from swapsim.machine.constants import costs
from swapsim.machine.running import PAGE_KIB, metric_values
from swapsim.patches import writeback_tags as of_a
from swapsim.patches.batched_removal import prediction, studies
from swapsim.patches.batched_removal.prediction import MIDDLE, at_middle, machine, price_ns
from swapsim.patches.batched_removal.workload import lock_fits
from swapsim.patches.stored_fits import base_figure
from swapsim.patches.what_if import Case, gains, report, trials

SHARES = sorted(set(lock_fits()["tag_share"]))


@pytest.mark.parametrize("sweeps", [False, True])
def test_the_patch_is_one_field_of_the_machine(sweeps: bool) -> None:
    """With the patch and without it the machine differs in the removal only."""
    off, on = (machine(threads=3, batched=batched, sweeps=sweeps) for batched in (False, True))
    assert replace(off, removal="batched") == on
    assert (off.nodes, off.tasks, off.rotational) == (4, 3, True)


def test_all_kswapds_work_with_one_thread() -> None:
    """Memory is shared: one writer keeps four kswapds busy, as the mail's 1-thread row needs."""
    value = metric_values(machine(threads=1, batched=False), prediction.constants_at(MIDDLE))
    assert value["idle.kswapd"] < 20
    assert value["cycles.tree_lock.__remove_mapping"] > 1


def test_each_access_of_a_sweep_faults() -> None:
    """The machine of prices has pages that go out and come in all the time."""
    config = machine(threads=2, batched=False, sweeps=True)
    value = metric_values(config, prediction.constants_at(MIDDLE))
    assert value["swap_in"] / PAGE_KIB > 0.95 * value["accesses"]
    assert value["swap_out"] == pytest.approx(value["swap_in"], rel=0.05)


def test_a_points_constants_are_those_of_uniform_memory() -> None:
    """A cache line travels equally far to all CPUs, and a further removal costs its share."""
    value = dict(prediction.constants_at(MIDDLE).select("name", "value").iter_rows())
    known = dict(costs().select("name", "value").iter_rows())
    assert value["travel_same_socket_ns"] == value["travel_other_socket_ns"]
    assert value["travel_same_socket_ns"] == known["travel_same_socket_ns"]
    assert value["tree_next_ns"] == round(0.3 * value["tree_ns"])
    with pytest.raises(InputError, match=r"tag_share=0\.2"):
        prediction.constants_at(replace(MIDDLE, tag_share=0.2))


@pytest.mark.parametrize("share", SHARES)
def test_the_stored_costs_of_locks_meet_patch_as_base(share: float) -> None:
    """With each stored fit, patch A's machine has the rate and the cycles of the base column."""
    stored = dict(lock_fits().filter(tag_share=share).select("name", "value").iter_rows())
    assert stored["tag_ns"] == round(share * stored["tree_ns"])
    assert stored["map_ns"] == round(of_a.MAP_SHARE * stored["tree_ns"])
    found = of_a.reported(of_a.life(stored, of_a.swapped_share(stored)))
    base = partial(base_figure, of_a.PATCH, of_a.BASE)
    cycles = sum(found[f"cycles.{site}"] for site in of_a.TREE_ROWS)
    assert cycles == pytest.approx(sum(map(base, of_a.TREE_ROWS.values())), rel=0.02)
    assert found[of_a.THROUGHPUT] == pytest.approx(base(of_a.THROUGHPUT), rel=0.01)


@pytest.fixture(scope="module")
def predicted() -> pl.DataFrame:
    """Return the stored predictions at each point."""
    return studies.by_points.load()


def test_vanilla_with_one_thread_is_fitted(predicted: pl.DataFrame) -> None:
    """Its system and elapsed time are those of the mail, and it has no noise."""
    own = pl.col("metric").is_in(["Amean System-1", "Amean Elapsd-1"])
    rows = predicted.filter(at_middle(), own)
    assert rows["base"].to_list() == [
        pytest.approx(260.53, rel=1e-3),
        pytest.approx(292.89, rel=1e-3),
    ]
    assert rows["null_low"].to_list() == rows["null_high"].to_list() == [0, 0]


def test_what_a_further_removal_costs_decides_the_gain(predicted: pl.DataFrame) -> None:
    """Three threads gain more where it is cheap."""
    same = {"metric": "Amean Elapsd-3", "tag_share": MIDDLE.tag_share}
    rows = predicted.filter(**same, uneven_percent=MIDDLE.uneven_percent)
    cheap, dear = (rows.filter(next_share=share)["simulated"].item() for share in (0.3, 1.0))
    assert cheap < 0
    assert cheap < dear - 2


def test_a_fault_is_dearer_the_more_threads_fault() -> None:
    """Threads wait for each other, and batching relieves them."""
    alone, together = (price_ns(0.1, 0.3, "vanilla", crowd) for crowd in (1, 3))
    assert together > 1.5 * alone
    assert price_ns(0.1, 0.3, "batch-v1", 3) < together


def test_a_run_that_is_out_of_swap_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prediction has no rows of unfinished runs."""
    short = replace(prediction.sweep_config(MIDDLE, threads=3), slots=100)
    monkeypatch.setattr(prediction, "sweep_config", lambda *_, **__: short)
    with pytest.raises(InputError, match="2 of 2 runs"):
        prediction.run_sweeps(MIDDLE, threads=3, runs=2)


def gained(cases: list[Case], policies: Mapping[str, Mapping[str, Any]]) -> list[float]:
    """Return the gains of cases with one set of constants and one seed."""
    fits = studies.fits_by_next_share([0.3])
    rows = study.table(partial(report, "written"), trials(cases, fits, policies, [1]))
    return gains(rows)["middle"].to_list()


def test_trunks_gain_more_than_batching_but_not_on_a_disk() -> None:
    """Where CPUs have clusters; on a disk all share a run of slots, and trunks gain nothing."""
    on_disk, on_flash = ([case] for case in studies.by_device())
    assert abs(gained(on_disk, studies.REMEDIES)[1]) < 2
    batched, trunks, both = gained(on_flash, studies.REMEDIES)
    assert trunks > 2 * batched > 20
    assert both >= trunks


def test_longer_lists_are_longer_holds_and_waits() -> None:
    """The longest hold grows with the list; an add waits at least as long as one hold."""
    one, batched = (
        dict(studies.holds((1.0, pages)).select("metric", "value").iter_rows()) for pages in (1, 32)
    )
    assert batched["longest hold"] == pytest.approx(32 * one["longest hold"])
    assert batched["longest wait of an add"] > batched["longest hold"]


def test_a_list_of_one_page_gains_nothing_and_four_kswapds_gain_more_than_one() -> None:
    """Cases by list and by kswapds are of the mail's machine."""
    assert abs(gained(studies.by_list([1], [1]), studies.POLICIES)[0]) < 2
    few, many = gained(studies.by_kswapds([1, 4]), studies.POLICIES)
    assert few < many
