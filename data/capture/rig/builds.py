# SPDX-License-Identifier: GPL-2.0-or-later
"""A part of the kernel that the guest builds: its tree and compiler, from Debian's packages."""

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from rig import packages
from rig.packages import Package
from rig.workload import Build

TREE: Final = "6.12"
"""The kernel whose tree is built, by each kernel that is booted."""

# The compiler as it lies in the guest, by the package that has it.
_COMPILER: Final[Mapping[str, tuple[str, ...]]] = {
    "gcc-12": ("usr/bin/x86_64-linux-gnu-gcc-12",),
    "cpp-12": ("usr/lib/gcc/x86_64-linux-gnu/12/cc1",),
    "binutils-x86-64-linux-gnu": ("usr/bin/x86_64-linux-gnu-as",),
    "libbinutils": (
        "usr/lib/x86_64-linux-gnu/libbfd-*-system.so",
        "usr/lib/x86_64-linux-gnu/libsframe.so.0",
    ),
    "libc6": (
        "lib/x86_64-linux-gnu/libc.so.6",
        "lib/x86_64-linux-gnu/libm.so.6",
        "lib64/ld-linux-x86-64.so.2",
    ),
    "libgmp10": ("usr/lib/x86_64-linux-gnu/libgmp.so.10",),
    "libisl23": ("usr/lib/x86_64-linux-gnu/libisl.so.23",),
    "libmpc3": ("usr/lib/x86_64-linux-gnu/libmpc.so.3",),
    "libmpfr6": ("usr/lib/x86_64-linux-gnu/libmpfr.so.6",),
    "libzstd1": ("usr/lib/x86_64-linux-gnu/libzstd.so.1",),
    "zlib1g": ("lib/x86_64-linux-gnu/libz.so.1",),
}


def lay_out(build: Build, cache: Path) -> tuple[Path, dict[str, Any]]:
    """Return a folder with compiler and tree as they lie in the guest, and where they are from."""
    compiler = {name: packages.installed_or_fetched(name, cache) for name in _COMPILER}
    release = packages.fetch_newer_kernel(TREE, cache)[0].name
    release = release.removeprefix("linux-image-").removesuffix("-unsigned")
    common = f"linux-headers-{release.removesuffix('-cloud-amd64')}-common"
    headers = [packages.fetch(name, cache) for name in (common, f"linux-headers-{release}")]
    source = packages.installed_or_fetched(f"linux-source-{TREE}", cache)
    every = [*compiler.values(), *headers, source]
    tree = {
        "packages": {package.name: package.version for package in every},
        "headers": list(build.headers),
        "sources": sorted({str(Path(name).parent) for name in build.objects}),
    }
    described = {**tree, "flags": " ".join(build.flags), "objects": list(build.objects)}
    folder = cache / "builds" / hashlib.sha256(repr(tree).encode()).hexdigest()[:16]
    if not folder.is_dir():
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        for name, files in _COMPILER.items():
            for file in files:
                _copy(compiler[name], file, unfinished)
        for package in headers:
            _copy_headers(package, build, unfinished / "kernel")
        _unpack_sources(source, tree["sources"], unfinished / "kernel")
        unfinished.rename(folder)
    return folder, described


def _copy(package: Package, file: str, root: Path) -> None:
    """Copy what a package has in the place where it has it."""
    found = packages.find(package, file.removeprefix("usr/"))
    target = (root / file).with_name(found.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(found, target)


def _copy_headers(package: Package, build: Build, tree: Path) -> None:
    home = packages.find(package, "src/linux-headers-*")
    for name in build.headers:
        if (home / name).is_dir():
            shutil.copytree(home / name, tree / name, dirs_exist_ok=True)


def _unpack_sources(package: Package, folders: Iterable[str], tree: Path) -> None:
    """Unpack the files of the directories in which the objects' sources lie."""
    archive = packages.find(package, f"src/{package.name}.tar.xz")
    packages.run(
        "tar",
        *("-xJf", str(archive), "--strip-components=1", "-C", str(tree)),
        *("--wildcards", "--no-wildcards-match-slash"),
        *(f"{package.name}/{folder}/*.[ch]" for folder in folders),
        what=f"unpack {archive.name}",
    )
