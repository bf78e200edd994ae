# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording by the script of `swapsim probes`, as a user makes it of a kernel of their own."""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from rig import boot, collect, guest, kernel, packages
from rig.errors import CaptureError, GuestError
from rig.workload import HOME, Workload

BY_SCRIPT: Final = HOME / "guest" / "by-script"
# Scripts of the guest, and where they go.
SCRIPTS: Final = {"record": "programs", "load": "capture", "cc": "bin"}
FIT_PROBES: Final = HOME / "clusters" / "fit_probes.c"
SWAP_ON_LATER: Final = '#!/bin/sh\necho "$@" >>/tmp/prepared\n'


def record(workload: Workload, output: Path, cache: Path) -> bool:
    """Record a workload by the script that a user of its kernel gets, import it and verify it.

    Returns
    -------
    bool
        Whether each row agrees with the model: the exit status of `swapsim verify clusters`.

    Raises
    ------
    CaptureError
        The workload has no cluster allocator, or the kernel's types cannot be read.
    GuestError
        The guest or the script failed, or a probe was missed.
    """
    if workload.newer is None:
        raise CaptureError(f"{workload.name}: only a workload with a 'kernel' has such a script")
    booted = kernel.get(workload, cache)
    busybox = packages.fetch(packages.BUSYBOX, cache)
    work = cache / f"{workload.name}-by-script"
    work.mkdir(parents=True, exist_ok=True)
    types = kernel.extract_types(booted.image, work)
    script = swapsim("probes", "--for", "clusters", "--kernel-btf", str(types))
    root = guest.lay_out(workload, booted, busybox, work)
    put_in(script.stdout, types, workload, root)
    built = guest.Guest(kernel=booted.image, initramfs=guest.pack(root, work))
    captured = collect.collect(workload, boot.run(workload, built, work), work)
    missed = re.search(r"^record\.sh: .*, (\d+) missed by", captured.report["output"], re.M)
    if missed is None or missed[1] != "0":
        raise GuestError(f"{workload.name}: the script says: {captured.report['output']}")
    folder = output / workload.name
    shutil.rmtree(folder, ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)
    print(missed[0])
    print(swapsim("import", str(captured.text), "-o", str(folder)).stdout.splitlines()[-1])
    verified = swapsim("verify", "clusters", str(folder), may_fail=True)
    print(verified.stdout + verified.stderr, end="")
    return verified.returncode == 0


def put_in(script: str, types: Path, workload: Workload, root: Path) -> None:
    """Let the guest call the script in place of init's own recording."""
    capture, programs = root / "capture", root / "programs"
    (capture / "record.sh").write_text(script, encoding="utf-8")
    (capture / "room").write_text(f"{workload.recording.buffer_kibibytes_per_cpu}\n")
    hashed = hashlib.sha256(types.read_bytes()).hexdigest()
    (capture / "types.sha256").write_text(f"{hashed}  {guest.TYPES}\n")
    (capture / "commands").rename(capture / "load-commands")
    (capture / "commands").write_text("root record\n")
    for own in ("probes", "events", "also"):
        (capture / own).write_text("")
    shutil.copy(BY_SCRIPT, capture)
    shutil.copy(FIT_PROBES, capture)
    with (capture / "settings").open("a", encoding="utf-8") as settings:
        settings.write(". /capture/by-script\n")
    for name, folder in SCRIPTS.items():
        guest.write_script(root / folder / name, (HOME / "guest" / name).read_text())
    (programs / "swap_on").rename(programs / "swap_on_now")
    guest.write_script(programs / "swap_on", SWAP_ON_LATER)


def swapsim(*arguments: str, may_fail: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the command line of swapsim."""
    command = [sys.executable, "-m", "swapsim", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and not may_fail:
        raise CaptureError(f"swapsim {arguments[0]}: {done.stderr.strip()}")
    return done
