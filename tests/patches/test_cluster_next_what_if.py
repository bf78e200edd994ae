# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases of patch D's what-ifs change one thing; V1's ages are those of the mail's machine."""

from dataclasses import fields

import polars as pl
import pytest

from swapsim.machine.config import Machine
from swapsim.machine.constants import costs
from swapsim.patches.cluster_next import drives, machines, mails, studies
from swapsim.patches.what_if import CHANNELS, Case, by_drive, by_trunk_size, trials
from swapsim.study import Study


def differing(one: Machine, other: Machine) -> set[str]:
    """Return the fields in which two machines differ."""
    names = [field.name for field in fields(one)]
    return {name for name in names if getattr(one, name) != getattr(other, name)}


def test_the_cases_of_patch_d_differ_by_their_factor_alone() -> None:
    """Within a case only policy and seed differ; the pages stay with any number of tasks."""
    usual = studies.small()
    for cases, changed in (
        (studies.by_tasks(usual), {"walkers", "pages"}),
        (by_trunk_size(usual), {"trunk_shift"}),
        (by_drive(usual), {"channels"}),
        ([Case({}, studies.at_end(name)) for name in ("copy_ns, low", "in_memory, high")],
         {"frames", "pages", "inactive_ratio"}),
    ):  # fmt: skip
        for case in cases:
            assert differing(case.machine, usual) <= changed
            for trial in trials([case], {"a": costs()}, ("shared", "avoid"), [3]):
                assert differing(trial.machine, case.machine) <= {"policy", "seed"}
                assert (trial.machine.policy, trial.machine.seed) == (trial.names["policy"], 3)
    for case in studies.by_tasks(usual):
        pages = case.machine.walkers * case.machine.pages
        assert 0 <= usual.walkers * usual.pages - pages < case.machine.walkers
    less = studies.at_end("in_memory, low")
    assert less.frames < studies.at_end("copy_ns, low").frames


@pytest.mark.parametrize(
    "study",
    [
        *(studies.gain_by_tasks, studies.gain_by_trunk_size, studies.gain_by_drive),
        *(studies.gain_by_cpus_and_fill, studies.life),
    ],
    ids=lambda study: study.name,
)
def test_a_mails_constants_are_used_on_its_own_kernel(study: Study) -> None:
    """V1's base was fitted on 5.7 with its own patch, V3's on 5.8."""
    points = study.points() if callable(study.points) else study.points
    for trial in points:
        version = str(trial.names["fit"])
        assert trial.machine.kernel == mails.VERSIONS[version].machine
        of_drives = pl.col("name") == "channel_ns"  # that of a drive is no constant of a fit
        fitted = studies.constants()[version].filter(~of_drives)
        assert trial.constants.filter(~of_drives).equals(fitted)


def test_the_settled_machine_is_the_young_one_later() -> None:
    """Only its age, its CPUs and the changes of CPU differ; a turn has as many of these."""
    young = machines.machine(policy="percpu", gigabytes=machines.GIGABYTES)
    settled = machines.settled(policy="percpu", changes=0.1)
    assert differing(settled, young) == {"warmup_ns", "spare_cpus", "stay_ns"}
    assert settled.device.possible_cpus == 2 * machines.CPUS_OF_NODE
    full = machines.settled(policy="percpu", changes=0.1, gigabytes=machines.DEVICE_GIGABYTES)
    assert (full.slots, full.stay_ns) == (4 * settled.slots, 10_000_000_000)
    assert full.warmup_ns / full.stay_ns == settled.warmup_ns / settled.stay_ns == 3.6


def test_the_slot_workbench_has_the_same_trunks_cpus_and_use() -> None:
    """It is one of the settled machine's devices, with tasks on nine of a socket's CPUs."""
    device, churn = machines.wanderers(0.1)
    settled = machines.settled(policy="percpu")
    assert (device.slots, device.trunk_shift) == (settled.slots, settled.trunk_shift)
    assert (device.possible_cpus, churn.tasks) == (machines.CPUS_OF_NODE, 9)
    # 18 s a turn: nine tasks, 0.1 changes of CPU a second each, 16.2 changes a turn.
    free = (1 - churn.used_share) * device.slots
    assert free / churn.pages_a_cpu == pytest.approx(16.2, rel=0.001)


def test_a_replys_drives_differ_from_v3s_machine_by_queue_and_age() -> None:
    """Queues differ young only; a drive of a lower rate is measured, and settles, for longer."""
    same = {str(channels): costs() for channels in CHANNELS}
    found = {trial.names["label"]: trial.machine for trial in drives.cases("Optane", same)}
    usual = machines.machine(policy="shared", kernel="5.8", gigabytes=12)
    for label, machine in found.items():
        if drives.YOUNG in str(label):
            changed = {"channels", "duration_ns", "policy", "seed"}
            assert differing(machine, usual) <= changed
    assert sorted(machine.channels for machine in found.values()) == [8, 32, 32, 128]
    settled = machines.settled(policy="shared", changes=machines.CHANGES)
    for field in ("warmup_ns", "duration_ns"):
        longest = max(getattr(machine, field) for machine in found.values())
        assert longest / getattr(settled, field) == pytest.approx(2.99 / 1.61)
