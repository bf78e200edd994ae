# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong descriptions and wrong calls are refused in one line."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swapsim.io import data_root

CAPTURE = data_root() / "capture"
RAM_DISK = '[[swap_device]]\nkind = "brd"\nmebibytes = 1\n'
RAM_DISKS = RAM_DISK + RAM_DISK.replace("1", "2")
SWAP = '[swap]\ndevice = "brd"\nmebibytes = 1\nrotational = false\n'
CLUSTERS = "workloads/clusters-6.12-orders-8"
LEDGER = "experiments/lock-ledger-newer-brd"
STALLS = "experiments/stall-rules"
NFS = "experiments/stall-rules-nfs"


@pytest.fixture
def load(
    rig: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str, str], Any]:
    """Return a function that loads a description of the repository with one text replaced."""
    monkeypatch.setattr(rig.experiment, "EXPERIMENTS", tmp_path)
    monkeypatch.setattr(rig.workload, "WORKLOADS", tmp_path)

    def load_changed(name: str, old: str, new: str) -> Any:
        description = (CAPTURE / f"{name}.toml").read_text(encoding="utf-8")
        assert old in description
        (tmp_path / "changed.toml").write_text(description.replace(old, new), encoding="utf-8")
        home = rig.experiment if name.startswith("experiments") else rig.workload
        return home.load("changed")

    return load_changed


@pytest.mark.parametrize(
    ("name", "old", "new", "word"),
    [
        ("experiments/batched-removal", "by_turns = true\n", "", "by_turns"),
        ("experiments/tree-nodes", "[lab]", "[lab]\nlock_statistics = true", "lock_statistics"),
        (LEDGER, "folio_kibibytes = 4\n", "", "folio_kibibytes"),
        (LEDGER, '"7.3"', '"7.2"', "6.12, 7.3"),
        (STALLS, "\ncpus = 1\n", "\ncpus = 2\n", "instruction_ns"),
        (STALLS, "\ninstruction_ns = 8\n", "\ninstruction_ns = 12\n", "instruction_ns"),
        (NFS, '[lab.nfs]\nexport = "/files"\nmount = "/nfs"\n', "", "server_disk"),
        (
            NFS,
            "[lab.server_disk]\nmount = ",
            "[lab.server_disk]\nplace = ",
            "'lab.server_disk.mount'",
        ),
        ("workloads/stalls-disk-1", "[lab]\n", "[lab]\nbatched_removal = true\n", "= false"),
        (CLUSTERS, '"6.12"', '"6.13"', "give one of 6.12, 7.3"),
        (CLUSTERS, "8, 9]", "8, 10]", "from 1 to 9"),
        (CLUSTERS, "multigen_lru = false\n", "", "'multigen_lru' is missing"),
        (CLUSTERS, '"virtio"', '"zram"\ndiscard = true', "needs the kind 'virtio'"),
        (CLUSTERS, '"virtio"', '"floppy"', "'swap_device[0].kind'"),
        (CLUSTERS, '"virtio"', '"file"\nmount = "/files"', "[[file_system]]"),
        (CLUSTERS, "[trace]", f"{SWAP}[trace]", "[lab]"),
        (CLUSTERS, "[trace]", f"{RAM_DISKS}[trace]", "two sizes"),
        (CLUSTERS, '"clusters-KERNEL"', '"slot-events"', "'trace.groups'"),
        (CLUSTERS, 'kernel = "6.12"', 'like = "another"', "'like' is 'another'"),
        ("workloads/slow-disk", "commands = [", 'commands = ["idler",', "no programs/idler"),
    ],
)
def test_a_wrong_description_names_its_field(
    name: str, old: str, new: str, word: str, load: Callable[..., Any], rig: SimpleNamespace
) -> None:
    """The error is one line with the file, too."""
    with pytest.raises(rig.errors.CaptureError) as refused:
        load(name, old, new)
    message = str(refused.value)
    assert message.startswith("changed.toml: ")
    assert word in message
    assert "\n" not in message


def test_equal_ram_disks_are_taken(load: Callable[..., Any]) -> None:
    """The kernel's driver makes all of one size."""
    assert len(load(CLUSTERS, "[trace]", f"{RAM_DISK * 2}[trace]").newer.of_kind("brd")) == 2


@pytest.mark.parametrize(
    ("call", "word"),
    [
        ("capture no-such-workload -o out", "no-such-workload"),
        ("capture swap-w-seq", "-o DIR"),
        ("capture", "--all"),
        ("lab no-such-experiment -o out", "no-such-experiment"),
        ("lab writeback-tags", "-o DIR"),
        ("lab writeback-tags -o out --rounds 0", "--rounds"),
        ("lab", "--list"),
    ],
)
def test_a_wrong_call_is_refused(call: str, word: str, refused: Callable[..., str]) -> None:
    """Exit 2 with the wrong word, before anything is downloaded or built."""
    assert word in refused(*call.split())
