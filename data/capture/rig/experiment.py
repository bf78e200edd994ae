# SPDX-License-Identifier: GPL-2.0-or-later
"""An experiment: experiments/NAME.toml, a workload on the lab kernel with a switch that varies."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rig import workload
from rig.errors import CaptureError
from rig.stock import READERS
from rig.table import Table, over, read_fields, read_table
from rig.workload import HOME, LAB_KERNELS, RECLAIM_RULES, SWAP_BASES, Switches, Workload

EXPERIMENTS: Final = HOME / "experiments"

# What may vary, and the values that it takes, as RESULTS names them.
VARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "swap_base": SWAP_BASES,
    "swap_tags": ("off", "on"),
    "batched_removal": ("off", "on"),
    "reclaim_rules": RECLAIM_RULES,
    "kernel": LAB_KERNELS,
}
VISITS_A_CPU: Final = "VISITS_A_CPU"
"""In a command: how many visits a task makes on a CPU. A value of swap_base may name it after the
base, as in "percpu 500"; without it a task stays on its CPU, and with FREE the kernel moves it."""

FREE: Final = "free"

STOCK: Final = "stock kernel"
"""What varies in an experiment on stock kernels, and with them its settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One experiment: its workload is run with each value in turn, in several rounds.

    With slot events each run has a second one, on the kernel without lock statistics, that records
    where slots were handed out. With tree nodes its metrics are those of the swap cache's trees,
    and no locks are counted. By turns one run counts several numbers of tasks, one after another,
    per page that reclaim frees; on the slow disk, files of several sizes next to one server, and
    the work and stalls of reclaim instead of locks. With sampled slots the metrics are the tasks
    that were in one trunk, and no locks are counted. With a module they are the instructions that
    it counts. A ledger counts locks in two turns, on kernels that take turns like the values of a
    switch.
    """

    name: str
    workload: Workload
    patch: str
    rounds: int
    tasks: tuple[int, ...]
    varies: str
    values: tuple[str, ...]
    slot_events: bool
    tree_nodes: bool
    # On stock kernels: the workload of each value, which is a kernel and the name of a setting.
    stock: Mapping[str, Workload] = field(default_factory=dict)
    # What is read of a run there.
    reads: str = ""

    @property
    def by_turns(self) -> bool:
        """Whether turns of so many tasks are counted one by one."""
        return self.workload.switches is not None and self.workload.switches.by_turns

    @property
    def stalls(self) -> bool:
        """Whether reclaim and its stalls are counted, on a disk that seeks."""
        return self.by_turns and self.workload.switches.slow_disk is not None

    @property
    def ledger(self) -> bool:
        """Whether the locks of two turns are counted, to compare kernels."""
        return self.workload.switches is not None and self.workload.switches.folio_kibibytes > 0

    @property
    def instructions(self) -> bool:
        """Whether a module counts the instructions of reclaim, and no lock is counted."""
        return self.workload.switches is not None and self.workload.switches.module != ""

    @property
    def sampled_slots(self) -> bool:
        """Whether a sample of the slots that are handed out is all that is recorded."""
        return self.workload.switches is not None and self.workload.switches.sampled_slots

    @property
    def no_locks(self) -> bool:
        """Whether something else than locks is counted."""
        return self.tree_nodes or self.stalls or self.sampled_slots or self.instructions

    def counted(self, value: str) -> Workload:
        """Give the workload that counts, at one value of the switch."""
        if self.stock:
            return self.stock[value]
        visits = {"": "0", FREE: "-1"}.get(stay := value.partition(" ")[2], stay)
        return replace(
            self.workload,
            switches=self._switched(value),
            cgroup_commands=tuple(
                command.replace(VISITS_A_CPU, visits) for command in self.workload.cgroup_commands
            ),
        )

    def traced(self, value: str) -> Workload:
        """Give the workload that records slot events, at one value of the switch."""
        return replace(
            self.workload,
            switches=replace(self._switched(value), lock_statistics=False, lock_sites=False),
            recording=workload.slot_events_of(self.workload),
        )

    def _switched(self, value: str) -> Switches:
        switches = self.workload.switches
        assert switches is not None
        if self.varies == "swap_base":
            return replace(switches, swap_base=value.partition(" ")[0])
        if self.varies == "reclaim_rules":
            return replace(switches, reclaim_rules=value)
        if self.varies == "kernel":
            return replace(switches, kernel=value)
        if self.varies == "swap_tags":
            return replace(switches, swap_tags=value == "on")
        return replace(switches, batched_removal=value == "on")


def names() -> list[str]:
    """Names of all experiments that are described."""
    return sorted(path.stem for path in EXPERIMENTS.glob("*.toml"))


def load(name: str) -> Experiment:
    """Read and check the description of one experiment."""
    path: Path = EXPERIMENTS / f"{name}.toml"
    if name not in names():
        raise CaptureError(f"no experiment '{name}': there are {', '.join(names())}")
    table = read_table(path)
    own = table.take_table("experiment")
    varies = own.take("varies", str)
    if varies == STOCK:
        return _on_stock_kernels(path, own)
    if varies not in VARIES:
        raise own.error("varies", f"is '{varies}': give one of {', '.join((*VARIES, STOCK))}")
    values = own.take_strings("values")
    for value in values:
        base, _, visits = value.partition(" ")
        moves = varies == "swap_base" and (visits == FREE or visits.isdecimal())
        if (base if moves else value) not in VARIES[varies]:
            raise own.error("values", f"has '{value}': {varies} takes {', '.join(VARIES[varies])}")
    described = Experiment(
        name=name,
        workload=workload.take(table),
        patch=own.take("patch", str),
        rounds=own.take_positive("rounds"),
        tasks=own.take_numbers("tasks"),
        varies=varies,
        values=values,
        slot_events=own.take("slot_events", bool, False),
        tree_nodes=own.take("tree_nodes", bool, False),
    )
    own.close()
    table.close()
    if described.workload.switches is None:
        raise table.error("lab", "is missing: an experiment runs on the lab kernel")
    if len(described.tasks) > 1 and not described.by_turns:
        raise table.error("experiment.tasks", "are several: set lab.by_turns, or give one number")
    if described.ledger != (varies == "kernel"):
        raise own.error("varies", "is 'kernel' if lab.folio_kibibytes is given, and only then")
    if described.no_locks == described.workload.switches.lock_statistics:
        wanted = "false" if described.no_locks else "true"
        raise table.error("lab.lock_statistics", f"must be {wanted} for what is counted")
    return described


def _on_stock_kernels(path: Path, own: Table) -> Experiment:
    """Read an experiment on stock kernels: each of them runs the workload in each setting.

    A setting has fields of the workload that replace the file's.
    """
    kernels = own.take_strings("values")
    settings = own.take_table("settings").rest() or {"stock": {}}
    stock = {
        f"{kernel} {setting}": _stock_workload(path, kernel, fields)
        for setting, fields in settings.items()
        for kernel in kernels
    }
    reads = own.take("reads", str)
    if reads not in READERS:
        raise own.error("reads", f"is '{reads}': give one of {', '.join(READERS)}")
    described = Experiment(
        name=path.stem,
        workload=next(iter(stock.values())),
        patch=own.take("patch", str),
        rounds=own.take_positive("rounds"),
        tasks=own.take_numbers("tasks"),
        varies=STOCK,
        values=tuple(stock),
        slot_events=False,
        tree_nodes=False,
        stock=stock,
        reads=reads,
    )
    own.close()
    return described


def _stock_workload(path: Path, kernel: str, setting: dict[str, Any]) -> Workload:
    fields = over(read_fields(path), {"kernel": kernel, **setting})
    fields.pop("experiment")
    table = Table(path, "", fields)
    taken = workload.take(table)
    table.close()
    return taken
