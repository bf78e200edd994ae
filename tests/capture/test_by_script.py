# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest calls the script of `swapsim probes` as a user does; no kernel is booted."""

import hashlib
import shutil
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

TYPES = bytes(range(256)) * 9
SETUP_SECTORS = 3


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Return a kernel's image: setup code, and a packed ELF file with types at an offset behind."""
    cc, objcopy, zstd = map(shutil.which, ("cc", "objcopy", "zstd"))
    if cc is None or objcopy is None or zstd is None:
        pytest.skip("needs cc, objcopy and zstd")
    unpacked, types = tmp_path / "a.o", tmp_path / "given.btf"
    types.write_bytes(TYPES)
    subprocess.run([cc, "-c", "-xc", "-o", unpacked, "/dev/null"], check=True)
    subprocess.run([objcopy, "--add-section", f".BTF={types}", unpacked], check=True)
    packed = subprocess.run([zstd, "-c", unpacked], capture_output=True, check=True).stdout
    head = bytearray((SETUP_SECTORS + 1) * 512 + 7)
    head[0x1F1] = SETUP_SECTORS
    struct.pack_into("<II", head, 0x248, 7, len(packed) + 4)
    image = tmp_path / "vmlinuz"
    image.write_bytes(head + packed + struct.pack("<I", unpacked.stat().st_size) + b"behind")
    return image


def test_types_come_from_the_image(image: Path, rig: SimpleNamespace) -> None:
    """The section of the unpacked kernel, byte by byte; another packing is refused."""
    work = image.parent / "work"
    work.mkdir()
    assert rig.kernel.extract_types(image, work).read_bytes() == TYPES
    image.write_bytes(image.read_bytes().replace(b"\x28\xb5\x2f\xfd", b"\x5d\0\0\0"))
    with pytest.raises(rig.errors.CaptureError, match="vmlinuz is not packed by zstd"):
        rig.kernel.extract_types(image, work)


def test_only_a_newer_kernel_has_such_a_script(rig: SimpleNamespace, tmp_path: Path) -> None:
    """A workload of 6.1 is refused before anything is fetched."""
    workload = rig.workload.load("swap-w-seq")
    with pytest.raises(
        rig.errors.CaptureError, match="swap-w-seq: only a workload with a 'kernel'"
    ):
        rig.by_script.record(workload, tmp_path, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def root(rig: SimpleNamespace, tmp_path: Path) -> Path:
    """Return the guest's files, as the rig leaves them without programs and modules."""
    root = tmp_path / "root"
    for folder in ("bin", "programs", "capture"):
        (root / folder).mkdir(parents=True)
    (root / "programs" / "swap_on").write_text("compiled")
    (root / "programs" / "fit_probes").write_text("compiled, too")
    workload = rig.workload.load("clusters-7.3-zram-1")
    rig.guest._write_settings(workload, root / "capture")
    types = tmp_path / "types.btf"
    types.write_bytes(TYPES)
    rig.by_script.put_in("echo script\n", types, workload, root)
    return root


def test_the_script_takes_the_place_of_the_rigs_own_probes(
    root: Path, rig: SimpleNamespace
) -> None:
    """Init has one command, no event and no probe; the workload's commands are the script's."""
    capture = root / "capture"
    load = rig.workload.load("clusters-7.3-zram-1")
    assert (capture / "commands").read_text() == "root record\n"
    assert (capture / "load-commands").read_text() == f"cgroup {load.cgroup_commands[0]}\n"
    assert [(capture / name).read_text() for name in ("probes", "events", "also")] == [""] * 3
    lines = (capture / "settings").read_text().splitlines()
    assert lines[-2:] == [". /capture/cluster-devices", ". /capture/by-script"]
    assert (root / "programs" / "swap_on_now").read_text() == "compiled"
    digest = hashlib.sha256(TYPES).hexdigest()
    assert (capture / "types.sha256").read_text() == f"{digest}  /sys/kernel/btf/vmlinux\n"
    room = str(load.recording.buffer_kibibytes_per_cpu)
    assert (capture / "room").read_text().strip() == room
    for script in ("programs/record", "bin/cc", "programs/swap_on"):
        subprocess.run(["sh", "-n", root / script], check=True)
        assert (root / script).stat().st_mode & 0o111


def test_the_guests_compiler_has_one_program(root: Path) -> None:
    """It gives the program of clusters/fit_probes.c for that text, and refuses any other."""
    compiler, made = root / "bin" / "cc", root / "fit"
    compiler.write_text(compiler.read_text().replace(" /", f" {root}/"))
    program = (root / "capture" / "fit_probes.c").read_bytes()
    call = ["sh", compiler, "-xc", "-O1", "-o", made, "-"]
    assert subprocess.run(call, input=program + b" ", check=False).returncode != 0
    assert not made.exists()
    assert subprocess.run([*call[:-2], made, "file.c"], input=program, check=False).returncode != 0
    subprocess.run(call, input=program, check=True)
    assert made.read_text() == "compiled, too"
