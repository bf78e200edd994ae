# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rig needs: tools that must be installed, and Debian packages that it only unpacks."""

import functools
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rig.errors import CaptureError

STOCK = r"linux-image-6\.1\.0-(\d+)-cloud-amd64"
BUSYBOX = "busybox-static"
# Series -> the package of its image, and that of its modules.
NEWER = {
    "6.12": (r"linux-image-6\.12\.(\d+)\+deb12-cloud-amd64-unsigned",),
    "7.3": (
        r"linux-binary-7\.3\.(\d+)\+deb13-cloud-amd64",
        r"linux-modules-7\.3\.(\d+)\+deb13-cloud-amd64",
    ),
}
# What the machine's own suites lack is looked for here.
FURTHER_SUITE = "trixie-backports"
# Of Debian's own package of keys, with those of all suites.
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# Tool, and the Debian package that brings it.
TOOLS = (
    ("apt-get", "apt"),
    ("apt-cache", "apt"),
    ("dpkg-deb", "dpkg"),
    ("dpkg-query", "dpkg"),
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
# The same for the types of a stock kernel.
TYPE_TOOLS = (("zstd", "zstd"), ("objcopy", "binutils"))
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
        package = dict((*TOOLS, *BUILD_TOOLS, *TYPE_TOOLS))[name]
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


def fetch_newer_kernel(series: str, cache: Path) -> tuple[Package, Package]:
    """Unpack the newest cloud kernel of a series: packages of its image and its modules."""
    fetched = [fetch(_newest(pattern, cache), cache) for pattern in NEWER[series]]
    return fetched[0], fetched[-1]


@functools.cache
def _newest(pattern: str, cache: Path) -> str:
    prefix = pattern.partition("(")[0].replace("\\", "")
    for apt in _apts(cache):
        listed = run("apt-cache", *apt, "pkgnames", prefix, what="list kernel packages")
        found = {int(m[1]): m[0] for m in re.finditer(rf"^{pattern}$", listed, re.MULTILINE)}
        if found:
            return found[max(found)]
    raise CaptureError(f"apt offers no {prefix}*: run apt-get update on Debian 12")


def _apts(cache: Path) -> Iterator[tuple[str, ...]]:
    """Yield apt's options: none, for the machine's own suites, then those for the further suite."""
    yield ()
    yield _further_apt(cache)


def _further_apt(cache: Path) -> tuple[str, str]:
    """Return options for an apt with the further suite, which leaves the machine's own untouched.

    Its mirror is the machine's own.
    """
    home = cache / "apt" / FURTHER_SUITE
    for folder in ("lists/partial", "cache/archives/partial"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    sources, settings = home / "sources.list", home / "apt.conf"
    sources.write_text(f"deb [signed-by={KEYRING}] {_mirror()} {FURTHER_SUITE} main\n")
    settings.write_text(
        f'Dir::Etc::sourcelist "{sources}";\nDir::Etc::sourceparts "-";\n'
        f'Dir::State::lists "{home}/lists";\nDir::Cache "{home}/cache";\n'
        'APT::Get::List-Cleanup "0";\nAcquire::Languages "none";\n'
    )
    options = ("-c", str(settings))
    if not list((home / "lists").glob("*_Packages*")):
        run("apt-get", *options, "-q", "update", what=f"read the lists of {FURTHER_SUITE}")
    return options


@functools.cache
def _mirror() -> str:
    """Return the address from which this machine's apt takes the suite bookworm."""
    wanted = ("--format", "$(RELEASE) $(REPO_URI)", "Created-By: Packages", "Component: main")
    listed = run("apt-get", "indextargets", *wanted, what="ask apt for its mirror")
    mirrors = dict(line.split() for line in reversed(listed.splitlines()) if " " in line)
    if "bookworm" not in mirrors:
        raise CaptureError("apt has no source of bookworm: this needs Debian 12")
    return mirrors["bookworm"]


def fetch(name: str, cache: Path) -> Package:
    """Download and unpack a package unless this very version of it is in the cache."""
    version, apt = _candidate(name, cache)
    root = cache / "packages" / f"{name}_{version.replace(':', '%3a')}"
    if not root.is_dir():
        unfinished = root.with_name(root.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        wanted = f"{name}={version}"
        run("apt-get", *apt, "-q", "download", wanted, what=f"download {name}", at=unfinished)
        archives = list(unfinished.glob("*.deb"))
        if len(archives) != 1:
            raise CaptureError(f"apt-get downloaded no single archive of {name}: try it by hand")
        run("dpkg-deb", "-x", str(archives[0]), str(unfinished), what=f"unpack {name}")
        archives[0].unlink()
        unfinished.rename(root)
    return Package(name=name, version=version, root=root)


def installed_or_fetched(name: str, cache: Path) -> Package:
    """Take a package as it is installed, where that is the newest version; else fetch it."""
    version, _ = _candidate(name, cache)
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


@functools.cache
def _candidate(name: str, cache: Path) -> tuple[str, tuple[str, ...]]:
    """Return the version that apt would take, for which its index has a hash, and apt's options."""
    for apt in _apts(cache):
        policy = run("apt-cache", *apt, "policy", name, what=f"look up {name}")
        match = re.search(r"^  Candidate: (\S+)$", policy, re.MULTILINE)
        if match is not None and match[1] != "(none)":
            return match[1], apt
    raise CaptureError(f"apt offers no package {name}: run apt-get update")


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
