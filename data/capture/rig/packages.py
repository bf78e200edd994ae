# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rig needs: tools that must be installed, and Debian packages that it only unpacks."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rig.errors import CaptureError

KERNEL = r"linux-image-6\.1\.0-(\d+)-cloud-amd64"
BUSYBOX = "busybox-static"

# Tool, and the Debian package that brings it.
TOOLS = (
    ("apt-get", "apt"),
    ("apt-cache", "apt"),
    ("dpkg-deb", "dpkg"),
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("gcc", "gcc"),
    ("cpio", "cpio"),
    ("mkfs.ext4", "e2fsprogs"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A Debian package, unpacked and not installed."""

    name: str
    version: str
    root: Path


def tool(name: str) -> str:
    """Find a tool that `check_tools` has seen; administrators' directories count."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if found is None:
        package = dict(TOOLS)[name]
        raise CaptureError(f"{name} is missing: install the Debian package {package}")
    return found


def check_tools() -> None:
    """Refuse to start without all tools, and without the C library to link statically."""
    for name, _ in TOOLS:
        tool(name)
    library = _run("gcc", "-print-file-name=libc.a", what="ask gcc for libc.a").strip()
    if not Path(library).is_absolute():
        raise CaptureError("libc.a is missing: install the Debian package libc6-dev")


def fetch_kernel(cache: Path) -> Package:
    """Unpack the newest 6.1 cloud kernel that apt offers."""
    listed = _run("apt-cache", "pkgnames", "linux-image-6.1.0-", what="list kernel packages")
    numbers = [int(m[1]) for m in re.finditer(rf"^{KERNEL}$", listed, re.MULTILINE)]
    if not numbers:
        raise CaptureError(
            "apt offers no linux-image-6.1.0-*-cloud-amd64: run apt-get update on Debian 12"
        )
    return fetch(f"linux-image-6.1.0-{max(numbers)}-cloud-amd64", cache)


def fetch(name: str, cache: Path) -> Package:
    """Download and unpack a package unless this very version of it is in the cache."""
    version = _candidate(name)
    root = cache / "packages" / f"{name}_{version.replace(':', '%3a')}"
    if not root.is_dir():
        unfinished = root.with_name(root.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        _run(
            "apt-get", "-q", "download", f"{name}={version}", what=f"download {name}", at=unfinished
        )
        archives = list(unfinished.glob("*.deb"))
        if len(archives) != 1:
            raise CaptureError(f"apt-get downloaded no single archive of {name}: try it by hand")
        _run("dpkg-deb", "-x", str(archives[0]), str(unfinished), what=f"unpack {name}")
        archives[0].unlink()
        unfinished.rename(root)
    return Package(name=name, version=version, root=root)


def _candidate(name: str) -> str:
    """Version that apt would take, which its index vouches for with a hash."""
    policy = _run("apt-cache", "policy", name, what=f"look up {name}")
    match = re.search(r"^  Candidate: (\S+)$", policy, re.MULTILINE)
    if match is None or match[1] == "(none)":
        raise CaptureError(f"apt offers no package {name}: run apt-get update")
    return match[1]


def _run(name: str, *arguments: str, what: str, at: Path | None = None) -> str:
    done = subprocess.run(
        [tool(name), *arguments], capture_output=True, text=True, cwd=at, check=False
    )
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        reason = (lines or done.stderr.splitlines() or ["no reason given"])[-1]
        raise CaptureError(f"cannot {what}: {reason}")
    return done.stdout
