# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload's description: workloads/NAME.toml and its groups of events.toml, checked."""

import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path

from rig.errors import CaptureError
from rig.table import Table, read_fields, read_table

HOME = Path(__file__).resolve().parent.parent
WORKLOADS = HOME / "workloads"
EVENTS = HOME / "events.toml"
CLUSTER_EVENTS = HOME / "clusters" / "events.toml"
# In a file of its own, so that recordings made before it keep their sources.
CLUSTER_DEVICE_EVENTS = HOME / "clusters" / "device-events.toml"
MODULES = HOME / "lab" / "modules"
# Of stock 6.12 and 7.3: what is not of their allocators.
NEWER_EVENTS = HOME / "newer" / "events.toml"
GENERATION_EVENTS = HOME / "generations" / "events.toml"
THROTTLE_EVENTS = HOME / "throttles" / "events.toml"
LAB_EVENTS = tuple(
    HOME / "lab" / f"{name}.toml" for name in ("events", "removal-events", "reclaim-events")
)
# Of lab/reclaim-events.toml: a folio that a batch removes does not record its outcome.
STALLS = "stalls"
SWAP_DEVICES = ("brd", "virtio")
# Stock kernels whose slots come from clusters; without one of them a workload boots 6.1.
KERNELS = ("6.12", "7.3")
CLUSTER_KINDS = ("brd", "virtio", "zram", "file")
CLUSTER_ORDERS = range(1, 10)
KERNEL_WORD = "KERNEL"
"""In the name of a group of probes: the version of the kernel, with an underscore."""

# As patches/04-percpu-cluster-next/switch.cocci names them.
SWAP_BASES = ("shared", "percpu", "percpu-rerandomise", "spread", "avoid", "permm")
# As patches/03-stall-decisions/switch.cocci names them.
# Of the lab kernel, as rig/kernel.py knows their sources.
LAB_KERNELS = ("6.1", "6.12", "7.3")
RECLAIM_RULES = ("3.9", "mmotm", *(f"series-{n}" for n in range(1, 9)), "3.11", "6.1")
# The emulator's own limit.
LONGEST_INSTRUCTION_NS = 1 << 10

# Slots are replayed in the order of a lock: any time will do, the order must be strict.
_SLOT_EVENTS = {"clock": "counter", "groups": ["slot-events"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """The swap device: a RAM disk inside the guest, or a virtio disk on a file of the host."""

    device: str
    mebibytes: int
    rotational: bool
    write_bytes_per_second: int
    # A RAM disk that has all of its memory from the start: for pressure on all of memory.
    filled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDevice:
    """A swap device of a newer kernel, switched on when recording begins.

    A file lies at a mount of the guest. Discard needs a virtio disk. Without a priority the kernel
    chooses one. A virtio disk may have some KiB above its MiB, so that it ends inside a cluster.
    """

    kind: str
    mebibytes: int
    kibibytes: int
    rotational: bool
    discard: bool
    priority: int | None
    mount: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Newer:
    """A newer stock kernel: its version, its lists of pages, its huge pages, its swap devices."""

    kernel: str
    multigen_lru: bool
    huge_page_orders: tuple[int, ...]
    devices: tuple[ClusterDevice, ...]

    def of_kind(self, kind: str) -> tuple[ClusterDevice, ...]:
        """Return the devices of one kind, in their order."""
        return tuple(device for device in self.devices if device.kind == kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystem:
    """An ext4 file system on a virtio disk, slowed down where a rate is given (0: not)."""

    mount: str
    mebibytes: int
    write_bytes_per_second: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What is recorded: events and probes as tracefs takes them, their room, their end."""

    clock: str
    buffer_kibibytes_per_cpu: int
    stop_after_events: int
    groups: tuple[str, ...]
    events: tuple[str, ...]
    probes: tuple[str, ...]
    also: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowDisk:
    """The lab kernel's disk that seeks, in guest time: an ext4 file system, and swap behind it."""

    mount: str
    file_mebibytes: int
    swap_mebibytes: int
    bytes_per_second: int
    seek_us: int

    @property
    def mebibytes(self) -> int:
        """Size of the disk."""
        return self.file_mebibytes + self.swap_mebibytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDisk:
    """A second disk that seeks, behind the first: the ext4 file system of an NFS server."""

    mount: str
    mebibytes: int
    bytes_per_second: int
    seek_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Nfs:
    """A directory of the guest that it exports, and mounts from itself.

    So much memory is in use until the first turn: programs that take a share of what is available
    leave it to the server's pages.
    """

    export: str
    mount: str
    kept_mebibytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """Which lab kernel is built, and how its switches stand when it boots.

    A trunk is the part of a swap device that one mapping of the swap cache serves: 1 << trunk_shift
    slots. Lock sites are counted by the same kernel as lock statistics. Tree nodes of full
    size have 64 slots, others 16. Memory lies in numa_nodes equal nodes, and so do the CPUs. By
    turns: a program's turns are counted one by one, of so many tasks or, on a slow disk, of files
    of so many sizes.
    """

    trunk_shift: int
    lock_statistics: bool
    lock_sites: bool
    swap_base: str
    swap_tags: bool
    # Not in repr: its fragment of the configuration distinguishes such runs from stored ones.
    full_size_nodes: bool = dataclasses.field(default=False, repr=False)
    batched_removal: bool = False
    reclaim_rules: str = "6.1"
    debug_checks: bool = False
    by_turns: bool = False
    numa_nodes: int = 1
    slow_disk: SlowDisk | None = dataclasses.field(default=None, repr=False)
    # Without it the lab kernel throttles no cgroup's writers: reclaim waits for its pages instead.
    cgroup_writeback: bool = dataclasses.field(default=False, repr=False)
    nfs: Nfs | None = dataclasses.field(default=None, repr=False)
    server_disk: ServerDisk | None = dataclasses.field(default=None, repr=False)
    # The switches are those of 6.1; a newer kernel has none of them.
    kernel: str = dataclasses.field(default="6.1", repr=False)
    # A ledger by turns, of anonymous folios of so much (4: single pages). Clusters have 512 slots.
    folio_kibibytes: int = dataclasses.field(default=0, repr=False)
    # Slots alone are recorded, and of these a sample: see guest/mark-slots. Idle CPUs do not tick.
    sampled_slots: bool = dataclasses.field(default=False, repr=False)
    # A module of lab/modules that the guest loads, and whose program counts instructions.
    module: str = dataclasses.field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One named run of the guest; without switches it boots a stock kernel.

    Its clock is the host's, or counts instructions of instruction_ns each, on one CPU alone.
    """

    name: str
    path: Path
    title: str
    cpus: int
    memory_mebibytes: int
    time_limit_s: int
    switches: Switches | None
    kernel_parameters: tuple[str, ...]
    commands: tuple[str, ...]
    cgroup_commands: tuple[str, ...]
    sysctl: dict[str, int]
    swap: Swap | None
    cgroup_memory_max_mebibytes: int | None
    file_systems: tuple[FileSystem, ...]
    recording: Recording
    instruction_ns: int = 0
    # Of the memory so much lies below 4 GiB, the rest above; 0: all of it below.
    low_mebibytes: int = 0
    newer: Newer | None = None

    @property
    def all_commands(self) -> tuple[str, ...]:
        """Command lines outside and inside the cgroup: all start at once."""
        return (*self.commands, *self.cgroup_commands)

    @property
    def programs(self) -> tuple[str, ...]:
        """Names of the C programs that the commands start, each once."""
        return tuple(sorted({command.split()[0] for command in self.all_commands}))


def names() -> list[str]:
    """Names of all workloads that are described."""
    return sorted(path.stem for path in WORKLOADS.glob("*.toml"))


def load(name: str) -> Workload:
    """Read and check the description of one workload."""
    if name not in names():
        raise CaptureError(f"no workload '{name}': there are {', '.join(names())}")
    table = read_table(WORKLOADS / f"{name}.toml")
    workload = take(table)
    table.close()
    return workload


def take(table: Table) -> Workload:
    """Take a workload's fields from a table that may have others."""
    limit, cgroup_commands = _cgroup(table.take_table("cgroup"))
    switches = _switches(table.take_table("lab"))
    newer = _newer(table)
    cpus = table.take_positive("cpus")
    workload = Workload(
        name=table.path.stem,
        path=table.path,
        title=table.take("title", str),
        cpus=cpus,
        memory_mebibytes=table.take_positive("memory_mebibytes"),
        time_limit_s=table.take_positive("time_limit_s"),
        switches=switches,
        kernel_parameters=table.take_strings("kernel_parameters", default=()),
        commands=table.take_strings("commands", default=()),
        cgroup_commands=cgroup_commands,
        sysctl=_sysctl(table.take_table("sysctl")),
        swap=_swap(table.take_table("swap")),
        cgroup_memory_max_mebibytes=limit,
        file_systems=_file_systems(table),
        recording=_recording(table.take_table("trace"), switches, newer),
        instruction_ns=_instruction_ns(table, cpus),
        low_mebibytes=table.take_positive("low_mebibytes", 0),
        newer=newer,
    )
    if newer and (switches or workload.swap):
        raise table.error("kernel", "goes with [[swap_device]], and with neither [lab] nor [swap]")
    mounts = [system.mount for system in workload.file_systems]
    for device in newer.of_kind("file") if newer else ():
        if device.mount not in mounts:
            raise table.error("swap_device", f"has a file at {device.mount}: no [[file_system]]")
    if not workload.all_commands:
        raise table.error("commands", "is missing: give command lines here or under [cgroup]")
    if switches and switches.batched_removal and STALLS in workload.recording.groups:
        raise table.error("groups", f"has '{STALLS}', which needs batched_removal = false")
    for program in workload.programs:
        if not (HOME / "programs" / f"{program}.c").is_file():
            raise CaptureError(
                f"{table.path.name}: field 'commands': there is no programs/{program}.c"
            )
    return workload


def slot_events_of(workload: Workload) -> Recording:
    """Give what a workload on the lab kernel records when its slot events are asked for."""
    table = {**_SLOT_EVENTS, "buffer_kibibytes_per_cpu": 131072 // workload.cpus}
    return _recording(Table(workload.path, "trace.", table), workload.switches, None)


def _instruction_ns(table: Table, cpus: int) -> int:
    time = table.take_positive("instruction_ns", 0)
    if time & (time - 1) or time > LONGEST_INSTRUCTION_NS:
        wanted = f"give a power of 2 up to {LONGEST_INSTRUCTION_NS}, or leave it out"
        raise table.error("instruction_ns", f"is {time}: {wanted}")
    if time and cpus != 1:
        raise table.error("instruction_ns", f"needs cpus = 1: with {cpus} no guest boots")
    return time


def _sysctl(table: Table) -> dict[str, int]:
    settings = table.rest()
    for field, value in settings.items():
        if not re.fullmatch(r"[a-z_]+(\.[a-z_-]+)+", field) or type(value) is not int:
            raise table.error(field, f"is {value!r}: give a quoted sysctl name and an integer")
    return settings


def _switches(table: Table) -> Switches | None:
    if not table:
        return None
    switches = Switches(
        trunk_shift=table.take_positive("trunk_shift"),
        lock_statistics=table.take("lock_statistics", bool, False),
        lock_sites=table.take("lock_sites", bool, False),
        swap_base=table.take("swap_base", str),
        swap_tags=table.take("swap_tags", bool, False),
        full_size_nodes=table.take("full_size_nodes", bool, False),
        batched_removal=table.take("batched_removal", bool, False),
        reclaim_rules=table.take("reclaim_rules", str, "6.1"),
        debug_checks=table.take("debug_checks", bool, False),
        by_turns=table.take("by_turns", bool, False),
        numa_nodes=table.take_positive("numa_nodes", 1),
        slow_disk=_slow_disk(table.take_table("slow_disk")),
        cgroup_writeback=table.take("cgroup_writeback", bool, False),
        nfs=_nfs(table.take_table("nfs")),
        server_disk=_server_disk(table.take_table("server_disk")),
        sampled_slots=table.take("sampled_slots", bool, False),
        kernel=table.take("kernel", str, "6.1"),
        folio_kibibytes=table.take_positive("folio_kibibytes", 0),
        module=table.take("module", str, ""),
    )
    if switches.module and not (MODULES / f"{switches.module}.c").is_file():
        raise table.error("module", f"is '{switches.module}': lab/modules has no such file")
    if switches.server_disk and not (switches.slow_disk and switches.nfs):
        raise table.error("server_disk", "goes with [lab.slow_disk] and [lab.nfs]")
    if switches.lock_sites and not switches.lock_statistics:
        raise table.error("lock_sites", "needs lock_statistics = true")
    for switch, value, values in (
        ("swap_base", switches.swap_base, SWAP_BASES),
        ("reclaim_rules", switches.reclaim_rules, RECLAIM_RULES),
        ("kernel", switches.kernel, LAB_KERNELS),
    ):
        if value not in values:
            raise table.error(switch, f"is '{value}': give one of {', '.join(values)}")
    table.close()
    return switches


def _nfs(table: Table) -> Nfs | None:
    if not table:
        return None
    nfs = Nfs(
        export=_directory(table, "export"),
        mount=_directory(table, "mount"),
        kept_mebibytes=table.take_positive("kept_mebibytes", 0),
    )
    table.close()
    return nfs


def _slow_disk(table: Table) -> SlowDisk | None:
    if not table:
        return None
    disk = SlowDisk(
        mount=_directory(table, "mount"),
        file_mebibytes=table.take_positive("file_mebibytes"),
        swap_mebibytes=table.take_positive("swap_mebibytes"),
        bytes_per_second=table.take_positive("bytes_per_second"),
        seek_us=table.take_positive("seek_us"),
    )
    table.close()
    return disk


def _server_disk(table: Table) -> ServerDisk | None:
    if not table:
        return None
    disk = ServerDisk(
        mount=_directory(table, "mount"),
        mebibytes=table.take_positive("mebibytes"),
        bytes_per_second=table.take_positive("bytes_per_second"),
        seek_us=table.take_positive("seek_us"),
    )
    table.close()
    return disk


def _swap(table: Table) -> Swap | None:
    if not table:
        return None
    device = table.take("device", str)
    if device not in SWAP_DEVICES:
        raise table.error("device", f"is '{device}': give one of {', '.join(SWAP_DEVICES)}")
    swap = Swap(
        device=device,
        mebibytes=table.take_positive("mebibytes"),
        rotational=table.take("rotational", bool),
        write_bytes_per_second=table.take_positive("write_bytes_per_second", 0),
        filled=table.take("filled", bool, False),
    )
    if device == "brd" and swap.write_bytes_per_second:
        raise table.error("write_bytes_per_second", "needs the device 'virtio'")
    if device != "brd" and swap.filled:
        raise table.error("filled", "needs the device 'brd'")
    table.close()
    return swap


def _newer(table: Table) -> Newer | None:
    kernel = table.take("kernel", str, "")
    if not kernel:
        return None
    if kernel not in KERNELS:
        raise table.error("kernel", f"is '{kernel}': give one of {', '.join(KERNELS)}, or none")
    orders = table.take_numbers("huge_page_orders", ())
    if not all(order in CLUSTER_ORDERS for order in orders):
        raise table.error("huge_page_orders", f"is {list(orders)}: give numbers from 1 to 9")
    newer = Newer(
        kernel=kernel,
        multigen_lru=table.take("multigen_lru", bool),
        huge_page_orders=orders,
        devices=tuple(map(_cluster_device, table.take_tables("swap_device"))),
    )
    if len({device.mebibytes for device in newer.of_kind("brd")}) > 1:
        raise table.error("swap_device", "has RAM disks of two sizes: all have the same")
    return newer


def _cluster_device(table: Table) -> ClusterDevice:
    kind = table.take("kind", str)
    if kind not in CLUSTER_KINDS:
        raise table.error("kind", f"is '{kind}': give one of {', '.join(CLUSTER_KINDS)}")
    device = ClusterDevice(
        kind=kind,
        mebibytes=table.take_positive("mebibytes"),
        kibibytes=table.take_positive("kibibytes", 0),
        rotational=table.take("rotational", bool, False),
        discard=table.take("discard", bool, False),
        priority=table.take_positive("priority", 0) or None,
        mount=_directory(table, "mount") if kind == "file" else "",
    )
    for field in ("discard", "kibibytes"):
        if getattr(device, field) and kind != "virtio":
            raise table.error(field, "needs the kind 'virtio'")
    table.close()
    return device


def _cgroup(table: Table) -> tuple[int | None, tuple[str, ...]]:
    if not table:
        return None, ()
    mebibytes = table.take_positive("memory_max_mebibytes")
    commands = table.take_strings("commands")
    table.close()
    return mebibytes, commands


def _file_systems(fields: Table) -> tuple[FileSystem, ...]:
    file_systems = []
    for table in fields.take_tables("file_system"):
        file_systems.append(
            FileSystem(
                mount=_directory(table, "mount"),
                mebibytes=table.take_positive("mebibytes"),
                write_bytes_per_second=table.take_positive("write_bytes_per_second", 0),
            )
        )
        table.close()
    return tuple(file_systems)


def _directory(table: Table, field: str) -> str:
    directory = table.take(field, str)
    if not re.fullmatch(r"/[a-z][a-z0-9-]*", directory):
        raise table.error(field, f"is '{directory}': give one directory, such as '/files'")
    return directory


def _described_events(switches: Switches | None, newer: Newer | None) -> tuple[Path, ...]:
    if switches is not None:
        return LAB_EVENTS
    newer_only = (NEWER_EVENTS, GENERATION_EVENTS, THROTTLE_EVENTS)
    every = (EVENTS, CLUSTER_EVENTS, CLUSTER_DEVICE_EVENTS, *newer_only)
    return every if newer else (EVENTS,)


def _recording(table: Table, switches: Switches | None, newer: Newer | None) -> Recording:
    described = _described_events(switches, newer)
    known = {group: lines for path in described for group, lines in read_fields(path).items()}
    groups = table.take_strings("groups", default=None if described == (EVENTS,) else ())
    if newer is not None:
        version = newer.kernel.replace(".", "_")
        groups = tuple(group.replace(KERNEL_WORD, version) for group in groups)
    for group in groups:
        if group not in known:
            raise table.error("groups", f"has '{group}': there are {', '.join(known)}")

    def gather(field: str) -> tuple[str, ...]:
        return tuple(line for group in groups for line in known[group].get(field, []))

    recording = Recording(
        clock=table.take("clock", str),
        buffer_kibibytes_per_cpu=table.take_positive("buffer_kibibytes_per_cpu"),
        stop_after_events=table.take_positive("stop_after_events", 0),
        groups=groups,
        events=gather("events"),
        probes=gather("probes"),
        also=gather("also"),
    )
    table.close()
    return recording
