# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch D: its machines, what they are fitted to, and the cases of its what-ifs."""

from dataclasses import fields
from typing import Any

import pytest

from swapsim import machine, published
from swapsim.machine.config import Machine
from swapsim.machine.running import metric_values, run_rows
from swapsim.patches import cluster_next as patch
from swapsim.patches import common
from swapsim.patches.common import base_figure
from swapsim.published import data
from swapsim.published.data import RESULTS
from swapsim.study import Study

SMALL = {"frames": 3 * 2**12, "pages": 2**12, "slots": 2**16, "duration_ns": 10_000_000}


def differing(one: Machine, other: Machine) -> set[str]:
    """Return the fields in which two machines differ."""
    names = [field.name for field in fields(one) if field.init]
    return {name for name in names if getattr(one, name) != getattr(other, name)}


def test_the_machine_of_patch_d_is_that_of_its_mail() -> None:
    """Sixteen tasks on two pmems of 48 GB, eight each; memory holds its share at any size."""
    config = patch.machine(gigabytes=48)
    assert (config.walkers, config.nodes, config.devices, config.channels) == (16, 2, 2, 0)
    assert (config.kernel, config.read_percent, config.cpus) == ("5.7+scan-more", 80, 18)
    assert config.slots * 4096 == 48 * 2**30
    for gigabytes in (6, 12, 48):
        small = patch.machine("V3", gigabytes=gigabytes)
        pages = small.walkers * small.pages
        assert small.nodes * small.frames / pages == pytest.approx(patch.IN_MEMORY, rel=1e-4)
        out = pages - small.nodes * small.frames
        assert out / (small.devices * small.slots) == pytest.approx(patch.IN_USE, rel=1e-4)
        assert small.inactive_ratio == config.inactive_ratio


@pytest.mark.parametrize("version", patch.MAILS)
def test_the_preset_is_the_studies_machine(version: str) -> None:
    """With the costs of the stored fit."""
    found = machine.preset(f"D-{version}")
    assert differing(found, patch.machine(version)) == {"costs"}
    assert found.costs == common.fitted_costs(patch.fits.load())[version]


def test_the_part_in_memory_is_that_of_the_mails_kernels() -> None:
    """From the base of the first mail to the patched kernel of the third: what misses comes in."""
    of_mails = data.published_tables()["mail"].is_in(
        ["D-percpu-cluster-next", "D-percpu-cluster-next-v3"]
    )
    rows = data.published_tables().filter(of_mails).filter(metric="swapin throughput")
    accesses = 16 * base_figure(patch.PATCH, "not stated", "accesses/s")
    parts = [1 - rate * 1e9 / 4096 / accesses for rate in rows["value"]]
    assert min(parts) == pytest.approx(0.21, abs=0.01)
    assert max(parts) == pytest.approx(patch.IN_MEMORY, abs=0.01)


def test_the_kernel_of_v3_charges_a_page_without_lru_lock() -> None:
    """Nothing else of the machine differs."""
    old, new = (patch.machine(version, gigabytes=1) for version in patch.MAILS)
    assert differing(new, old) == {"kernel"}
    charges = [
        metric_values(config)["acquisitions.lru_lock.mem_cgroup_commit_charge"]
        for config in (old, new)
    ]
    assert charges[0] > 0.5
    assert charges[1] == 0


def test_the_aged_device_is_seven_tenths_full() -> None:
    """Eight tasks' pages that memory does not hold fill that share of two gigabytes."""
    config = patch.aged_device(policy="percpu", seed=4)
    assert (config.policy, config.seed, config.walkers) == ("percpu", 4, 8)
    assert config.slots * 4096 == 2 * 2**30
    out = config.walkers * config.pages - config.frames
    assert out / config.slots == pytest.approx(0.7, abs=0.001)


@pytest.mark.parametrize(
    ("version", "swap_out", "lru", "xa_lock"),
    [
        # The base's rows of xa_lock, as printed.
        ("V1", 2.87, "mem_cgroup_commit_charge", 7.93 + 7.03),
        ("V3", 2.99, "shrink_inactive_list", 7.91 + 7.11),
    ],
)
def test_each_mail_is_fitted_to_its_own_base(
    version: str, swap_out: float, lru: str, xa_lock: float
) -> None:
    """Rate and lock rows are the mail's, on devices of an eighth, under the base's policy."""
    config, found = patch.to_meet(version)
    targets = {target.name: target for target in found}
    assert (config.policy, config.slots) == ("shared", 6 * 2**18)
    assert targets["swap_out"].wanted == pytest.approx(swap_out * 1e9 / 1024)
    assert targets["lru_lock"].metrics == (f"cycles.lru_lock.{lru}",)
    assert targets["xa_lock"].wanted == pytest.approx(xa_lock)
    sites = {metric for target in found for metric in target.metrics}
    assert sites <= set(run_rows(config.replace(**SMALL))["metric"])


def test_the_targets_do_not_depend_on_a_patched_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the base column alone they are the same."""
    before = patch.to_meet("V3")
    base = data.published_tables().filter(kernel="v3 before")
    monkeypatch.setattr(common, "published_tables", lambda: base)
    common._base_column.cache_clear()
    assert patch.to_meet("V3") == before
    common._base_column.cache_clear()


@pytest.mark.parametrize(("version", "suffix"), [("V1", ""), ("V3", ", V3")])
def test_each_mail_has_its_own_kernels_rows_and_policy(version: str, suffix: str) -> None:
    """The score, both throughputs and the lock rows are rows of the mail's tables."""
    mail, config = patch.MAILS[version], patch.machine(version).replace(**SMALL)
    results = patch._predict((version, mail.base, config))
    assert results.schema == RESULTS.schema
    assert results.select("kernel", "policy").unique().row(0) == (mail.base, "shared")
    value = metric_values(config)
    for row, sites in mail.rows.items():
        cell = results.filter(metric=row)["value"].item()
        assert cell == sum(value[f"cycles.{site}"] for site in sites)
    printed = (published.table("D", name + suffix)["metric"] for name in ("profile", "score"))
    assert set(results["metric"]) <= set().union(*printed)


def test_the_cases_of_patch_d_differ_by_their_factor_alone() -> None:
    """Within a case only policy and seed differ; the pages stay with any number of tasks."""
    usual = machine.preset("D-V3")
    for cases, changed in (
        (patch.by_tasks(usual), {"walkers", "pages"}),
        (common.by_drive(usual), {"channels", "costs"}),
    ):
        for names, config in cases:
            assert differing(config, usual) <= changed
            for trial, run in common.trials([(names, config)], {"a": {}}, ("shared", "avoid"), [3]):
                assert differing(run, config) <= {"policy", "seed"}
                assert (run.policy, run.seed) == (trial["policy"], 3)
    for _, config in patch.by_tasks(usual):
        left = usual.walkers * usual.pages - config.walkers * config.pages
        assert 0 <= left < config.walkers


STUDIES = (patch.gain_by_tasks, patch.gain_by_drive, patch.life)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_mails_costs_are_used_on_its_own_kernel(study: Study) -> None:
    """V1's base was fitted on 5.7 with its own patch, V3's on 5.8."""
    for names, config in study.points():  # type: ignore[operator]
        own = machine.preset(f"D-{names['fit']}")
        assert config.kernel == own.kernel
        # That of a drive is no cost of a fit.
        assert {name: ns for name, ns in config.costs.items() if name != "channel_ns"} == own.costs


def test_the_settled_machine_is_the_young_one_later() -> None:
    """Only its age, its CPUs and the changes of CPU differ; a turn has as many of these."""
    young, settled = patch.machine("V1"), patch.settled("V1", 0.1)
    assert differing(settled, young) == {"warmup_ns", "spare_cpus", "stay_ns"}
    assert settled.device.possible_cpus == 48
    full = patch.settled("V1", 0.1, gigabytes=48)
    assert (full.slots, full.stay_ns) == (4 * settled.slots, 10_000_000_000)
    assert full.warmup_ns / full.stay_ns == settled.warmup_ns / settled.stay_ns == 3.6


def test_a_replys_drives_differ_from_v3s_machine_by_queue_and_age() -> None:
    """Queues differ young only; a drive of a lower rate is measured, and settles, for longer."""
    found = {names["label"]: config for names, config in patch._on_drives()}
    for label, config in found.items():
        if patch.YOUNG in str(label):
            changed: set[Any] = {"channels", "duration_ns", "policy", "seed", "costs"}
            assert differing(config, patch.machine("V3")) <= changed
    optane = [config for label, config in found.items() if "Optane" in str(label)]
    assert sorted(config.channels for config in optane) == [8, 32, 32, 128]
    settled = patch.settled("V3", 0.1)
    for field in ("warmup_ns", "duration_ns"):
        longest = max(getattr(config, field) for config in optane)
        assert longest / getattr(settled, field) == pytest.approx(2.99 / 1.61)
