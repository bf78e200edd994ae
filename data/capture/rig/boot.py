# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of the guest under software emulation, ended by its power-off or a time limit."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from rig.errors import CaptureError, GuestError
from rig.guest import Guest
from rig.packages import tool
from rig.workload import ServerDisk, Switches, Workload

# nokaslr and no5lvl: a folio's address is then 0xffffea0000000000 + 64 * its page frame number.
KERNEL_PARAMETERS = ("console=ttyS0", "panic=-1", "quiet", "nokaslr", "no5lvl")
# Above the slow disk: what the firmware keeps there, and the initramfs before it is unpacked.
SPARE_MEBIBYTES = 32
# In MiB: where memory goes on that has no room below.
FOUR_GIBIBYTES = 4096
TRACE_DISK_BYTES = 4 << 30
REPORT_DISK_BYTES = 16 << 20
# As on a disk of any size to speak of: a small one would have blocks of 1 KiB, several a page.
BLOCK_BYTES = 4096
# The guest prints these on its console as it goes.
PHASES = ("boot", "run", "copy", "end")
POLL_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The files of a run."""

    trace_disk: Path
    report_disk: Path
    console: Path
    emulator_version: str


def emulator_version() -> str:
    """Return the first line of QEMU's version."""
    command = [tool("qemu-system-x86_64"), "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]


def run(workload: Workload, guest: Guest, work: Path) -> Run:
    """Boot the guest, wait for its end, and return its disks and console.

    Raises
    ------
    GuestError
        The guest reached its time limit, panicked, or reported a failure.
    """
    console = work / "console.txt"
    console.write_bytes(b"")
    trace_disk = _disk(work / "trace.disk", TRACE_DISK_BYTES)
    report_disk = _disk(work / "report.disk", REPORT_DISK_BYTES)
    command = _command(workload, guest, work, console, trace_disk, report_disk)
    with _process(command, work / "qemu.txt") as qemu:
        _wait(workload, qemu, console)
    last = _last_phase(console)
    if last != "end" or qemu.returncode != 0:
        reason = _reason(console) or f"it stopped in phase '{last}'"
        raise GuestError(
            f"{workload.name}: the guest failed: {reason}; its console is in {console}"
        )
    return Run(
        trace_disk=trace_disk,
        report_disk=report_disk,
        console=console,
        emulator_version=emulator_version(),
    )


def kernel_parameters(workload: Workload) -> tuple[str, ...]:
    """Command line of the guest's kernel."""
    return (*KERNEL_PARAMETERS, *_lab_parameters(workload), *workload.kernel_parameters)


def _lab_parameters(workload: Workload) -> tuple[str, ...]:
    """Switches of the lab kernel, and the size of its RAM disk, which is no module."""
    switches = workload.switches
    # The early check of the timer's interrupts fails where the emulator is starved for a moment.
    if switches is None:
        return ("no_timer_check",) if workload.newer else ()
    parameters = ["no_timer_check"]
    if switches.kernel == "6.1":
        parameters += [f"swap_base={switches.swap_base}", f"swap_tags={int(switches.swap_tags)}"]
        parameters += [f"batched_removal={int(switches.batched_removal)}"]
        parameters += [f"reclaim_rules={switches.reclaim_rules}"]
    if switches.folio_kibibytes:
        parameters += ["transparent_hugepage=never"]
    if switches.folio_kibibytes > BLOCK_BYTES >> 10:
        parameters += [f"thp_anon={switches.folio_kibibytes}K:always"]
    if workload.swap and workload.swap.device == "brd":
        parameters += ["brd.rd_nr=1", f"brd.rd_size={workload.swap.mebibytes * 1024}"]
    if switches.slow_disk:
        parameters += _slow_disk_parameters(switches, _end_mebibytes(workload))
    return tuple(parameters)


def _end_mebibytes(workload: Workload) -> int:
    """Return the address behind the kernel's memory, a part of which may lie above 4 GiB."""
    above = FOUR_GIBIBYTES - workload.low_mebibytes if workload.low_mebibytes else 0
    return above + workload.memory_mebibytes


def _slow_disk_mebibytes(switches: Switches | None) -> int:
    """Return the memory of the slow disks, and what is spare above them; 0 without slow disks."""
    if switches is None or switches.slow_disk is None:
        return 0
    server = switches.server_disk.mebibytes if switches.server_disk else 0
    return switches.slow_disk.mebibytes + server + SPARE_MEBIBYTES


def _slow_disk_parameters(switches: Switches, start_mebibytes: int) -> list[str]:
    """Keep the kernel off the memory above its own, and put the disks there."""
    disk, server = switches.slow_disk, switches.server_disk
    assert disk is not None
    return [
        f"memmap={_slow_disk_mebibytes(switches)}M${start_mebibytes}M",
        f"slow_disk.start={start_mebibytes << 20}",
        f"slow_disk.bytes={disk.mebibytes << 20}",
        f"slow_disk.rate={disk.bytes_per_second}",
        f"slow_disk.seek_us={disk.seek_us}",
        f"blkdevparts=slow:{disk.file_mebibytes}M(files),-(swap)",
        *(_server_disk_parameters(server, start_mebibytes + disk.mebibytes) if server else ()),
    ]


def _server_disk_parameters(disk: ServerDisk, start_mebibytes: int) -> list[str]:
    return [
        f"slow_server.start={start_mebibytes << 20}",
        f"slow_server.bytes={disk.mebibytes << 20}",
        f"slow_server.rate={disk.bytes_per_second}",
        f"slow_server.seek_us={disk.seek_us}",
    ]


def _disk(path: Path, size: int) -> Path:
    """Make a sparse file."""
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.truncate(size)
    return path


def _command(
    workload: Workload, guest: Guest, work: Path, console: Path, trace: Path, report: Path
) -> list[str]:
    drives = _drive("trace", trace, 0) + _drive("report", report, 0)
    for i, system in enumerate(workload.file_systems):
        disk = _disk(work / f"files{i}.disk", system.mebibytes << 20)
        _make_file_system(disk)
        drives += _drive(f"files{i}", disk, system.write_bytes_per_second)
    if workload.swap and workload.swap.device == "virtio":
        disk = _disk(work / "swap.disk", workload.swap.mebibytes << 20)
        drives += _drive("swap", disk, workload.swap.write_bytes_per_second)
    for i, device in enumerate(workload.newer.of_kind("virtio") if workload.newer else ()):
        size = (device.mebibytes << 20) + (device.kibibytes << 10)
        disk = _disk(work / f"swap{i}.disk", size)
        drives += _drive(f"swap{i}", disk, 0)
    if workload.switches:
        drives += _slow_disks(workload.switches, _end_mebibytes(workload), work)
    mebibytes = workload.memory_mebibytes + _slow_disk_mebibytes(workload.switches)
    return [
        tool("qemu-system-x86_64"),
        *_clock(workload),
        *("-smp", str(workload.cpus), "-m", f"{mebibytes}M"),
        *_nodes(workload),
        *_zones(workload),
        *("-nodefaults", "-no-reboot", "-display", "none", "-serial", f"file:{console}"),
        *("-kernel", str(guest.kernel), "-initrd", str(guest.initramfs)),
        *("-append", " ".join(kernel_parameters(workload))),
        *drives,
    ]


def _clock(workload: Workload) -> list[str]:
    """Take the host's clock, or one that counts instructions and skips the time that is idle.

    There the CPU has no fast string instructions: each byte that they move would count as one.
    """
    if not workload.instruction_ns:
        return ["-accel", "tcg,thread=multi", "-cpu", "max"]
    shift = workload.instruction_ns.bit_length() - 1
    return [
        *("-accel", "tcg,thread=single", "-cpu", "max,-erms"),
        *("-icount", f"shift={shift},sleep=off,align=off"),
    ]


def _slow_disks(switches: Switches, start_mebibytes: int, work: Path) -> list[str]:
    """Put a file system where each slow disk begins."""
    disk, server = switches.slow_disk, switches.server_disk
    if disk is None:
        return []
    options = _preloaded(disk.file_mebibytes, start_mebibytes, work / "slow.disk")
    if server:
        behind = start_mebibytes + disk.mebibytes
        options += _preloaded(server.mebibytes, behind, work / "slow-server.disk")
    return options


def _preloaded(mebibytes: int, start_mebibytes: int, path: Path) -> list[str]:
    """Put a file system into memory before the guest starts."""
    _make_file_system(_disk(path, mebibytes << 20), "-b", str(BLOCK_BYTES))
    address = start_mebibytes << 20
    return ["-device", f"loader,file={path},addr={address:#x},force-raw=on"]


def _zones(workload: Workload) -> list[str]:
    """Put memory above 4 GiB where that is asked for: it is then in two zones, DMA32 and Normal."""
    low = workload.low_mebibytes
    return ["-machine", f"pc,max-ram-below-4g={low}M"] if low else []


def _nodes(workload: Workload) -> list[str]:
    """Spread memory and CPUs evenly over the nodes, where there are several."""
    nodes = workload.switches.numa_nodes if workload.switches else 1
    if nodes == 1:
        return []
    mebibytes, cpus = workload.memory_mebibytes // nodes, workload.cpus // nodes
    options = []
    for node in range(nodes):
        options += ["-object", f"memory-backend-ram,id=node{node},size={mebibytes}M"]
        node_options = f"nodeid={node},cpus={node * cpus}-{(node + 1) * cpus - 1},memdev=node{node}"
        options += ["-numa", f"node,{node_options}"]
    return options


def _drive(serial: str, path: Path, write_bytes_per_second: int) -> list[str]:
    options = f"id={serial},file={path},format=raw,if=none,cache=unsafe,discard=unmap"
    if write_bytes_per_second:
        options += f",throttling.bps-write={write_bytes_per_second}"
    return ["-drive", options, "-device", f"virtio-blk-pci,drive={serial},serial={serial}"]


def _make_file_system(disk: Path, *more: str) -> None:
    # Fixed identifiers: the same disk each time. No lazy initialisation: no late writes of its own.
    options = (
        "lazy_itable_init=0,lazy_journal_init=0,hash_seed=00000000-0000-0000-0000-000000000001"
    )
    uuid = "00000000-0000-0000-0000-000000000002"
    command = [tool("mkfs.ext4"), "-q", "-F", "-E", options, "-U", uuid, *more, str(disk)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CaptureError(f"mkfs.ext4 refuses the guest's disk: {done.stderr.strip()}")


@contextmanager
def _process(command: list[str], messages: Path) -> Iterator[subprocess.Popen[bytes]]:
    """QEMU for the length of a block: whatever ends the block ends QEMU."""
    with messages.open("wb") as log:
        # A session of its own: Ctrl-C reaches this program alone, which then stops QEMU in order.
        qemu = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield qemu
        finally:
            if qemu.poll() is None:
                qemu.terminate()
                try:
                    qemu.wait(10)
                except subprocess.TimeoutExpired:
                    qemu.kill()
                    qemu.wait()


def _wait(workload: Workload, qemu: subprocess.Popen[bytes], console: Path) -> None:
    started = time.monotonic()
    with tqdm(
        total=len(PHASES) - 1,
        desc=workload.name,
        disable=None,
        leave=False,
        bar_format="{desc}: {n_fmt}/{total_fmt} {bar} {postfix} {elapsed}",
    ) as bar:
        while qemu.poll() is None:
            phase = _last_phase(console)
            bar.n = PHASES.index(phase)
            bar.set_postfix_str(phase)
            if time.monotonic() - started > workload.time_limit_s:
                raise GuestError(
                    f"{workload.name}: no end within {workload.time_limit_s} s, stopped in phase "
                    f"'{phase}'; its console is in {console}"
                )
            time.sleep(POLL_S)


def _last_phase(console: Path) -> str:
    text = console.read_text(encoding="utf-8", errors="replace")
    seen = [phase for phase in PHASES if f"capture: {phase}\n" in text]
    return seen[-1] if seen else PHASES[0]


def _reason(console: Path) -> str | None:
    """Return the guest's own report of its failure."""
    for line in console.read_text(encoding="utf-8", errors="replace").splitlines():
        for mark in ("capture: failed: ", "Kernel panic - "):
            if mark in line:
                return line[line.index(mark) :].removeprefix("capture: failed: ").strip()
    return None
