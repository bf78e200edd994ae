# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rig needs: tools that must be installed, and Debian packages that it only unpacks."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rig.errors import CaptureError

STOCK = r"linux-image-6\.1\.0-(\d+)-cloud-amd64"
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
# The same for building the lab kernel.
BUILD_TOOLS = (
    ("gcc", "gcc"),
    ("make", "make"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
    ("spatch", "coccinelle"),
)
BUILD_HEADERS = (("gelf.h", "libelf-dev"), ("openssl/opensslv.h", "libssl-dev"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A Debian package, unpacked and not installed."""

    name: str
    version: str
    root: Path


def tool(name: str) -> str:
    """Find a tool that `check_tools` has seen; administrators' directories count."""
    found = _which(name)
    if found is None:
        package = dict((*TOOLS, *BUILD_TOOLS))[name]
        raise CaptureError(f"{name} is missing: install the Debian package {package}")
    return found


def check_tools() -> None:
    """Refuse to start without all tools, and without the C library to link statically."""
    _refuse_missing([package for name, package in TOOLS if _which(name) is None])
    library = run("gcc", "-print-file-name=libc.a", what="ask gcc for libc.a").strip()
    if not Path(library).is_absolute():
        _refuse_missing(["libc6-dev"])


def check_build_tools() -> None:
    """Refuse to build a kernel without all that its build takes."""
    missing = [package for name, package in BUILD_TOOLS if _which(name) is None]
    if "gcc" not in missing:
        missing += [package for header, package in BUILD_HEADERS if not _has_header(header)]
    _refuse_missing(missing)


def _which(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def _has_header(header: str) -> bool:
    command = [tool("gcc"), "-E", "-x", "c", "-"]
    text = f"#include <{header}>\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.returncode == 0


def _refuse_missing(packages: list[str]) -> None:
    if packages:
        names = " ".join(dict.fromkeys(packages))
        raise CaptureError(f"Debian packages are missing: install {names}")


def fetch_kernel(cache: Path) -> Package:
    """Unpack the newest 6.1 cloud kernel that apt offers."""
    listed = run("apt-cache", "pkgnames", "linux-image-6.1.0-", what="list kernel packages")
    numbers = [int(m[1]) for m in re.finditer(rf"^{STOCK}$", listed, re.MULTILINE)]
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
        run(
            "apt-get", "-q", "download", f"{name}={version}", what=f"download {name}", at=unfinished
        )
        archives = list(unfinished.glob("*.deb"))
        if len(archives) != 1:
            raise CaptureError(f"apt-get downloaded no single archive of {name}: try it by hand")
        run("dpkg-deb", "-x", str(archives[0]), str(unfinished), what=f"unpack {name}")
        archives[0].unlink()
        unfinished.rename(root)
    return Package(name=name, version=version, root=root)


def installed_or_fetched(name: str, cache: Path) -> Package:
    """Take a package as it is installed, where that is the newest version; else fetch it."""
    version = _candidate(name)
    policy = run("apt-cache", "policy", name, what=f"look up {name}")
    if re.search(rf"^  Installed: {re.escape(version)}$", policy, re.MULTILINE):
        return Package(name=name, version=version, root=Path("/"))
    return fetch(name, cache)


def find(package: Package, pattern: str) -> Path:
    """Find the one file of a package that fits."""
    found = sorted(package.root.glob(pattern)) or sorted(package.root.glob(f"usr/{pattern}"))
    if len(found) != 1:
        raise CaptureError(f"package {package.name} {package.version} has no single {pattern}")
    return found[0]


def _candidate(name: str) -> str:
    """Version that apt would take, which its index vouches for with a hash."""
    policy = run("apt-cache", "policy", name, what=f"look up {name}")
    match = re.search(r"^  Candidate: (\S+)$", policy, re.MULTILINE)
    if match is None or match[1] == "(none)":
        raise CaptureError(f"apt offers no package {name}: run apt-get update")
    return match[1]


def run(name: str, *arguments: str, what: str, at: Path | None = None) -> str:
    """Run a tool and return what it prints; `what` describes it in an error."""
    done = subprocess.run(
        [tool(name), *arguments], capture_output=True, text=True, cwd=at, check=False
    )
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        reason = (lines or done.stderr.splitlines() or ["no reason given"])[-1]
        raise CaptureError(f"cannot {what}: {reason}")
    return done.stdout
