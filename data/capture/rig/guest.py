# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's root: an initramfs of busybox, our programs, the modules, the settings."""

import lzma
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rig import packages
from rig.errors import CaptureError
from rig.kernel import CLUSTER_SLOTS, Kernel
from rig.packages import Package, tool
from rig.table import files, read_fields
from rig.workload import (
    CLUSTER_DEVICE_EVENTS,
    CLUSTER_EVENTS,
    CLUSTER_KINDS,
    EVENTS,
    GENERATION_EVENTS,
    HOME,
    LAB_EVENTS,
    NEWER_EVENTS,
    THROTTLE_EVENTS,
    Newer,
    Switches,
    Workload,
)

C_FLAGS = (
    *("-std=c11", "-O2", "-static", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow"),
    *("-Wcast-qual", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"),
)
RESOLVER = HOME / "guest" / "resolve_offsets.c"
INIT = HOME / "guest" / "init"
LAB = HOME / "guest" / "lab"
RECLAIM = HOME / "guest" / "reclaim"
STALL_RULES = HOME / "guest" / "stall-rules"
MARK = HOME / "guest" / "mark"
MARK_SLOTS = HOME / "guest" / "mark-slots"
LEDGER = HOME / "guest" / "ledger"
MARK_LEDGER = HOME / "guest" / "mark-ledger"
MARK_HOLDS = HOME / "guest" / "mark-holds"
MARK_TURNS = HOME / "guest" / "mark-turns"
MARK_STALLS = HOME / "guest" / "mark-stalls"
MARK_STALLS_NFS = HOME / "guest" / "mark-stalls-nfs"
SLOW_DISK = HOME / "guest" / "slow-disk"
SERVER_DISK = HOME / "guest" / "server-disk"
MARK_NFS = HOME / "guest" / "mark-nfs"
NFS_TO_ITSELF = HOME / "guest" / "nfs_to_itself.c"
LEFTOVERS = HOME / "guest" / "leftovers"
CLUSTER_DEVICES = HOME / "clusters" / "devices"
CLUSTER_PROGRAMS = tuple(HOME / "clusters" / name for name in ("fit_probes.c", "swap_on.c"))
# init resolves offsets of structures; the lab's events need none, and its kernel has no types.
NO_RESOLVER = "#!/bin/sh\nexec cat\n"
TYPES = "/sys/kernel/btf/vmlinux"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """What QEMU boots."""

    kernel: Path
    initramfs: Path


def sources(workload: Workload) -> list[Path]:
    """Return our files that the guest depends on."""
    described = files(workload.path)
    names = ("program.h", *(f"{program}.c" for program in workload.programs))
    programs = [HOME / "programs" / name for name in names]
    if workload.switches is not None:
        scripts = [INIT, LAB, RECLAIM, STALL_RULES, _mark(workload.switches)]
        if workload.switches.folio_kibibytes:
            scripts = [INIT, LEDGER, _mark(workload.switches)]
        scripts += [LEFTOVERS] * workload.switches.debug_checks
        scripts += [SLOW_DISK] * (workload.switches.slow_disk is not None)
        scripts += [SERVER_DISK] * (workload.switches.server_disk is not None)
        scripts += [*_further_marks(workload.switches)]
        scripts += [NFS_TO_ITSELF] * (workload.switches.nfs is not None)
        return [*described, *LAB_EVENTS, *scripts, *programs]
    if workload.newer is not None:
        described += [EVENTS, CLUSTER_EVENTS]
        described += [
            path
            for path in (CLUSTER_DEVICE_EVENTS, NEWER_EVENTS, GENERATION_EVENTS, THROTTLE_EVENTS)
            if {*workload.recording.groups} & read_fields(path).keys()
        ]
        return [*described, INIT, CLUSTER_DEVICES, RESOLVER, *CLUSTER_PROGRAMS, *programs]
    return [*described, EVENTS, INIT, RESOLVER, *programs]


def _mark(switches: Switches) -> Path:
    if switches.sampled_slots:
        return MARK_SLOTS
    if switches.folio_kibibytes:
        return MARK_LEDGER if switches.lock_sites else MARK_HOLDS
    if not switches.by_turns:
        return MARK_NFS if switches.nfs else MARK
    if switches.server_disk:
        return MARK_STALLS_NFS
    return MARK_STALLS if switches.slow_disk else MARK_TURNS


def _further_marks(switches: Switches) -> tuple[Path, ...]:
    """Return the scripts that a mark calls."""
    return (MARK_STALLS, MARK_NFS) if _mark(switches) == MARK_STALLS_NFS else ()


def build(workload: Workload, kernel: Kernel, busybox: Package, work: Path) -> Guest:
    """Put the initramfs together in the work directory."""
    root = lay_out(workload, kernel, busybox, work)
    return Guest(kernel=kernel.image, initramfs=pack(root, work))


def lay_out(workload: Workload, kernel: Kernel, busybox: Package, work: Path) -> Path:
    """Write the files of the initramfs to a folder, and return it."""
    root = work / "root"
    shutil.rmtree(root, ignore_errors=True)
    for directory in ("bin", "programs", "modules", "capture"):
        (root / directory).mkdir(parents=True)
    shutil.copy(INIT, root / "init")
    (root / "init").chmod(0o755)
    shutil.copy(packages.find(busybox, "bin/busybox"), root / "bin" / "busybox")
    for source in sources(workload):
        if source.suffix == ".c":
            compile_program(source, root / "programs" / source.stem)
    _write_settings(workload, root / "capture")
    if workload.switches is not None:
        shutil.copy(LAB, root / "capture" / "lab")
        shutil.copy(LEDGER, root / "capture" / "ledger")
        shutil.copy(RECLAIM, root / "capture" / "reclaim")
        shutil.copy(STALL_RULES, root / "capture" / "stall-rules")
        if workload.switches.debug_checks:
            shutil.copy(LEFTOVERS, root / "capture" / "leftovers")
        if workload.switches.slow_disk:
            shutil.copy(SLOW_DISK, root / "capture" / "slow-disk")
        if workload.switches.server_disk:
            shutil.copy(SERVER_DISK, root / "capture" / "server-disk")
        mark = _mark(workload.switches).read_text(encoding="utf-8")
        write_script(root / "capture" / "mark", mark)
        for script in _further_marks(workload.switches):
            write_script(root / "capture" / script.name, script.read_text(encoding="utf-8"))
        write_script(root / "programs" / RESOLVER.stem, NO_RESOLVER)
    if workload.newer is not None:
        shutil.copy(CLUSTER_DEVICES, root / "capture" / "cluster-devices")
        _write_cluster_devices(workload.newer, root / "capture" / "devices")
    modules = _copy_modules(workload, kernel.modules, root / "modules") if kernel.modules else []
    if kernel.module:
        shutil.copy(kernel.module, root / "modules" / "lab.ko")
        modules = ["lab.ko"]
    (root / "capture" / "modules").write_text("".join(f"{line}\n" for line in modules))
    return root


def write_script(path: Path, text: str) -> None:
    """Write a file that the guest can execute."""
    path.write_text(text)
    path.chmod(0o755)


def compile_program(source: Path, program: Path) -> None:
    """Compile one C file to a static program."""
    command = [tool("gcc"), *C_FLAGS, "-o", str(program), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CaptureError(f"gcc refuses {source.name}: {done.stderr.splitlines()[0]}")


def _write_settings(workload: Workload, directory: Path) -> None:
    """Write the plain files that guest/init reads line by line; only settings is shell code."""
    swap = workload.swap
    limit = workload.cgroup_memory_max_mebibytes
    recording = workload.recording
    settings = {
        "swap_device": swap.device if swap else "",
        "swap_rotational": int(swap.rotational) if swap else "",
        "cgroup_memory_max": f"{limit}M" if limit else "",
        "trace_clock": recording.clock,
        "buffer_kibibytes": recording.buffer_kibibytes_per_cpu,
        "stop_after_events": recording.stop_after_events,
    }
    lab = []
    if workload.switches is not None:
        settings["swap_base"] = workload.switches.swap_base
        settings["lock_sites"] = int(workload.switches.lock_sites)
        settings["swap_tags"] = "Y" if workload.switches.swap_tags else "N"
        settings["batched_removal"] = "Y" if workload.switches.batched_removal else "N"
        settings["reclaim_rules"] = workload.switches.reclaim_rules
        settings["swap_filled"] = int(swap.filled) if swap else 0
        settings["swap_mebibytes"] = swap.mebibytes if swap else 0
        settings["cpus"] = workload.cpus
        settings["numa_nodes"] = workload.switches.numa_nodes
        lab = [". /capture/lab", ". /capture/reclaim", ". /capture/stall-rules"]
        if workload.switches.folio_kibibytes:
            settings["folio_kibibytes"] = workload.switches.folio_kibibytes
            settings["lab_switches"] = "swap_base swap_tags" * (workload.switches.kernel == "6.1")
            lab = [". /capture/ledger"]
        if workload.switches.nfs:
            nfs = workload.switches.nfs
            (directory / "nfs").write_text(f"{nfs.export} {nfs.mount}\n")
            (directory / "kept").write_text(f"{nfs.kept_mebibytes}\n")
        if workload.switches.slow_disk:
            settings["slow_disk_mount"] = workload.switches.slow_disk.mount
            lab.append(". /capture/slow-disk")
        if workload.switches.server_disk:
            settings["server_disk_mount"] = workload.switches.server_disk.mount
            lab.append(". /capture/server-disk")
    if workload.newer is not None:
        settings["kernel"] = workload.newer.kernel
        settings["cluster_slots"] = CLUSTER_SLOTS
        settings["multigen_lru"] = "y" if workload.newer.multigen_lru else "n"
        settings["huge_page_orders"] = " ".join(map(str, workload.newer.huge_page_orders))
        lab = [". /capture/cluster-devices"]
    mounts = [f"files{i} {system.mount}" for i, system in enumerate(workload.file_systems)]
    sysctl = [f"{name.replace('.', '/')} {value}" for name, value in workload.sysctl.items()]
    for name, lines in {
        "settings": [*(f"{name}='{value}'" for name, value in settings.items()), *lab],
        "mounts": mounts,
        "sysctl": sysctl,
        "commands": [
            *(f"root {command}" for command in workload.commands),
            *(f"cgroup {command}" for command in workload.cgroup_commands),
        ],
        "events": recording.events,
        "probes": recording.probes,
        "also": recording.also,
    }.items():
        (directory / name).write_text("".join(f"{line}\n" for line in lines))


def _write_cluster_devices(newer: Newer, path: Path) -> None:
    """Write one line per device, with its number among those of its kind, or its file's mount."""
    lines, seen = [], dict.fromkeys(CLUSTER_KINDS, 0)
    for device in newer.devices:
        fields = (device.mebibytes, int(device.rotational), int(device.discard))
        priority = "default" if device.priority is None else device.priority
        where = device.mount or seen[device.kind]
        lines.append(" ".join(map(str, (device.kind, where, *fields, priority))))
        seen[device.kind] += 1
    path.write_text("".join(f"{line}\n" for line in lines))


def _copy_modules(workload: Workload, modules: Path, directory: Path) -> list[str]:
    """Copy the modules of virtio and of swap; return insmod's arguments in order of dependence."""
    files = {
        path.name.partition(".")[0].replace("-", "_"): path
        for pattern in ("*.ko", "*.ko.xz")
        for path in modules.rglob(pattern)
    }
    contents: dict[str, bytes] = {}

    def require(name: str) -> None:
        if name in contents:
            return
        if name not in files:
            raise CaptureError(f"the kernel in {modules} has no module {name}")
        content = _module(files[name])
        # A module lists its dependencies: depends=a,b in its .modinfo section.
        depends = re.search(rb"\0depends=([^\0]*)\0", content)
        for other in depends[1].decode().split(",") if depends and depends[1] else []:
            require(other.replace("-", "_"))
        contents[name] = content

    parameters = {}
    # In newer kernels the bus is built in.
    for name in ("virtio_pci", "virtio_blk") if workload.newer is None else ("virtio_blk",):
        require(name)
    if workload.swap and workload.swap.device == "brd":
        require("brd")
        parameters["brd"] = f" rd_nr=1 rd_size={workload.swap.mebibytes * 1024}"
    if workload.newer and (disks := workload.newer.of_kind("brd")):
        require("brd")
        parameters["brd"] = f" rd_nr={len(disks)} rd_size={disks[0].mebibytes * 1024}"
    if workload.newer and (disks := workload.newer.of_kind("zram")):
        require("zram")
        parameters["zram"] = f" num_devices={len(disks)}"
    for name, content in contents.items():
        (directory / f"{name}.ko").write_bytes(content)
    return [f"{name}.ko{parameters.get(name, '')}" for name in contents]


def _module(path: Path) -> bytes:
    """Return a module, unpacked: busybox loads no other."""
    content = path.read_bytes()
    return lzma.decompress(content) if path.suffix == ".xz" else content


def pack(root: Path, work: Path) -> Path:
    """Pack the files of the guest."""
    initramfs = work / "initramfs.cpio"
    entries = sorted(str(path.relative_to(root)) for path in root.rglob("*"))
    with initramfs.open("wb") as archive:
        done = subprocess.run(
            [tool("cpio"), "--quiet", "-o", "-H", "newc", "--owner=0:0"],
            input="".join(f"{entry}\n" for entry in entries).encode(),
            stdout=archive,
            stderr=subprocess.PIPE,
            cwd=root,
            check=False,
        )
    if done.returncode != 0:
        raise CaptureError(f"cpio cannot pack the guest: {done.stderr.decode().strip()}")
    return initramfs
