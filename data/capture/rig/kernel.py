# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest boots: a stock Debian kernel, or the lab kernel, built from Debian's source."""

import functools
import hashlib
import os
import shutil
import struct
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from rig import packages
from rig.errors import CaptureError
from rig.packages import Package, tool
from rig.workload import HOME, MODULES, Switches, Workload

# As stock 6.12 and 7.3 have it on x86-64, where huge pages swap whole.
CLUSTER_SLOTS: Final = 512
LAB: Final = HOME / "lab"
TREE: Final = LAB / "tree"
PATCHES: Final = HOME.parents[1] / "patches"

# Semantic patches of 6.1 in the order in which they go in, each with the files that it changes.
SEMANTIC_PATCHES: Final[Mapping[Path, tuple[str, ...]]] = {
    PATCHES / "01-writeback-tags" / "switch.cocci": ("mm/swap_state.c",),
    PATCHES / "02-batched-removal" / "switch.cocci": ("mm/vmscan.c",),
    PATCHES / "03-stall-decisions" / "switch.cocci": (
        "mm/vmscan.c",
        "include/linux/backing-dev-defs.h",
        "block/blk-mq.c",
        "block/blk-merge.c",
        "fs/nfs/write.c",
    ),
    PATCHES / "04-percpu-cluster-next" / "switch.cocci": (
        "mm/swapfile.c",
        "include/linux/mm_types.h",
        "kernel/fork.c",
    ),
    LAB / "slot-events.cocci": ("mm/swapfile.c",),
    LAB / "removal-events.cocci": ("mm/vmscan.c",),
    LAB / "reclaim-events.cocci": ("mm/vmscan.c",),
    LAB / "reclaim-rules-events.cocci": ("mm/vmscan.c", "mm/reclaim_rules.h"),
    LAB / "lock-names.cocci": ("mm/swap_state.c", "mm/swapfile.c"),
    LAB / "file-lock-names.cocci": ("fs/inode.c",),
    LAB / "trunk-size.cocci": ("mm/swap.h",),
}
# Lines at the end of the kernel's own files that take in those of lab/tree.
LINES_OF_OURS: Final[Mapping[str, str]] = {
    "mm/Kconfig": 'source "mm/Kconfig.lab"\n',
    "drivers/block/Kconfig": (
        'source "drivers/block/Kconfig.lab"\nsource "drivers/block/Kconfig.server"\n'
    ),
    # The second slow disk is the first one's code under another name.
    "drivers/block/Makefile": (
        "obj-$(CONFIG_BLK_DEV_SLOW) += slow_disk.o\n"
        "obj-$(CONFIG_BLK_DEV_SLOW_SERVER) += slow_server.o\n"
        "$(obj)/slow_server.c: $(src)/slow_disk.c\n"
        """\t@sed 's/^#define NAME "slow"$$/#define NAME "slow_server"/' $< >$@\n"""
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Debian's source of one version, and what goes in."""

    package: str
    semantic_patches: Mapping[Path, tuple[str, ...]]
    # Lines of lab/base.config for which this version has no choice.
    without: frozenset[str] = frozenset()
    # lab/tree and the switches of patches/ are for 6.1 alone.
    switches: bool = False


# Of the boot protocol of x86: sectors of the setup code, and where behind it is the packed kernel.
SETUP_SECTORS: Final = 0x1F1
PAYLOAD: Final = 0x248
SECTOR: Final = 512
ZSTD: Final = b"\x28\xb5\x2f\xfd"
# Behind the packed kernel: its unpacked size.
SIZE_BYTES: Final = 4

NEWER: Final = LAB / "newer"
SOURCES: Final[Mapping[str, Source]] = {
    "6.1": Source(package="linux-source-6.1", semantic_patches=SEMANTIC_PATCHES, switches=True),
    "6.12": Source(
        package="linux-source-6.12",
        semantic_patches={NEWER / "lock-names-6.12.cocci": ("mm/swap_state.c", "mm/swapfile.c")},
    ),
    # Lazy preemption is all that it offers on amd64, and its sysctl is no longer optional.
    "7.3": Source(
        package="linux-source-7.3",
        semantic_patches={NEWER / "lock-names-7.3.cocci": ("mm/swapfile.c",)},
        without=frozenset({"CONFIG_PREEMPT_NONE=y", "CONFIG_PROC_SYSCTL=y"}),
    ),
}

# Lines that make prints for a complete build, only for the bar.
STEPS: Final = 1400

# The same source and configuration give the same image on each machine.
BUILT_BY: Final = {
    "KBUILD_BUILD_USER": "lab",
    "KBUILD_BUILD_HOST": "lab",
    "KBUILD_BUILD_TIMESTAMP": "2026-01-01",
    "KBUILD_BUILD_VERSION": "1",
    "LOCALVERSION": "-lab",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A kernel image, its modules where it has any, and its table in trace.toml."""

    image: Path
    modules: Path | None
    # A module of lab/modules, where the workload has one.
    module: Path | None = None
    described: Mapping[str, Any]


def get(workload: Workload, cache: Path) -> Kernel:
    """Fetch or build the kernel that a workload asks for."""
    if workload.newer is not None:
        return newer(workload.newer.kernel, cache)
    if workload.switches is None:
        return stock(cache)
    return lab(workload.switches, cache)


def stock(cache: Path) -> Kernel:
    """Unpack the newest Debian cloud kernel."""
    package = packages.fetch_kernel(cache)
    return Kernel(
        image=packages.find(package, "boot/vmlinuz-*"),
        modules=package.root,
        described={"package": package.name, "package_version": package.version},
    )


@functools.cache
def newer(version: str, cache: Path) -> Kernel:
    """Unpack the newest Debian cloud kernel of a newer series."""
    image, modules = packages.fetch_newer_kernel(version, cache)
    return Kernel(
        image=_single([*image.root.glob("boot/vmlinuz-*"), *image.root.rglob("modules/*/vmlinuz")]),
        modules=modules.root,
        described={
            "package": image.name,
            "package_version": image.version,
            "cluster_size": CLUSTER_SLOTS,
        },
    )


def extract_types(image: Path, work: Path) -> Path:
    """Unpack a kernel's image and write the section with its type information."""
    data = image.read_bytes()
    offset, size = struct.unpack_from("<II", data, PAYLOAD)
    start = (data[SETUP_SECTORS] + 1) * SECTOR + offset
    packed = data[start : start + size - SIZE_BYTES]
    if not packed.startswith(ZSTD):
        raise CaptureError(f"{image.name} is not packed by zstd: its types cannot be read")
    unpacked, types = work / "vmlinux", work / "types.btf"
    with unpacked.open("wb") as file:
        subprocess.run([tool("zstd"), "-dc"], input=packed, stdout=file, check=True)
    section = f".BTF={types}"
    packages.run(
        "objcopy",
        *("--dump-section", section, str(unpacked), "/dev/null"),
        what=f"read the types of {image.name}",
    )
    unpacked.unlink()
    return types


def _single(images: list[Path]) -> Path:
    if len(images) != 1:
        raise CaptureError(f"a kernel package has {len(images)} images, not one")
    return images[0]


def sources(switches: Switches | None) -> list[Path]:
    """Return our files that the lab kernel depends on."""
    if switches is None:
        return []
    source = SOURCES[switches.kernel]
    module = [MODULES / f"{switches.module}.c"] if switches.module else []
    return [*source.semantic_patches, *_tree_files(source), *_fragments(switches), *module]


def lab(switches: Switches, cache: Path) -> Kernel:
    """Build the lab kernel, unless this very one is in the cache.

    Raises
    ------
    CaptureError
        A package is missing, a semantic patch does not apply, or the build fails.
    """
    source = SOURCES[switches.kernel]
    package = packages.installed_or_fetched(source.package, cache)
    source_hash = _hash_of(
        [package.version],
        [*source.semantic_patches, *_tree_files(source)],
        str(sorted(BUILT_BY.items())),
    )
    configuration = _configuration(switches)
    configuration_hash = _hash_of([source_hash, configuration], [])
    image = cache / "kernels" / f"{configuration_hash}.bzImage"
    tree = cache / "sources" / source_hash
    # One folder of objects for each flavour: another trunk size recompiles a few files.
    flavour = "-".join(path.stem for path in _fragments(switches)[1:]) or "plain"
    objects = cache / "objects" / f"{source_hash}-{flavour}"
    if not image.is_file():
        packages.check_build_tools()
        _build(_source_tree(source, package, tree), objects, configuration, image)
    module = None
    if switches.module:
        code = MODULES / f"{switches.module}.c"
        module = image.with_name(f"{_hash_of([configuration_hash], [code])}.ko")
        if not module.is_file():
            packages.check_build_tools()
            _configure(_source_tree(source, package, tree), objects, configuration)
            _build_module(tree, objects, code, module)
    described = {
        "package": package.name,
        "package_version": package.version,
        "source": source_hash,
        "configuration": configuration_hash,
        "cluster_size": CLUSTER_SLOTS if switches.folio_kibibytes else 256,
        "lock_statistics": switches.lock_statistics,
        **({"folio_kibibytes": switches.folio_kibibytes} if switches.folio_kibibytes else {}),
    }
    if source.switches:
        described |= {
            "trunk_shift": switches.trunk_shift,
            "tree_shift": 6 if switches.full_size_nodes else 4,
            "swap_base": switches.swap_base,
            "swap_tags": switches.swap_tags,
            "batched_removal": switches.batched_removal,
            "reclaim_rules": switches.reclaim_rules,
            "debug_checks": switches.debug_checks,
        }
    return Kernel(image=image, modules=None, module=module, described=described)


def _tree_files(source: Source) -> list[Path]:
    return sorted(path for path in TREE.rglob("*") if path.is_file()) if source.switches else []


def _fragments(switches: Switches) -> list[Path]:
    return [
        LAB / "base.config",
        *([LAB / "lock-stat.config"] * switches.lock_statistics),
        *([NEWER / "huge-pages.config"] * (switches.folio_kibibytes > 0)),
        *([LAB / "full-size.config"] * switches.full_size_nodes),
        *([LAB / "numa.config"] * (switches.numa_nodes > 1)),
        *([LAB / "idle-cpus.config"] * switches.sampled_slots),
        *([LAB / "debug-checks.config"] * switches.debug_checks),
        *([LAB / "slow-disk.config"] * (switches.slow_disk is not None)),
        *([LAB / "server-disk.config"] * (switches.server_disk is not None)),
        *([LAB / "writeback.config"] * (switches.cgroup_writeback or switches.nfs is not None)),
    ]


def _configuration(switches: Switches) -> str:
    source = SOURCES[switches.kernel]
    texts = [fragment.read_text(encoding="utf-8") for fragment in _fragments(switches)]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("CONFIG_")]
    lines += [f"CONFIG_SWAP_ADDRESS_SPACE_SHIFT={switches.trunk_shift}"] * source.switches
    return "\n".join([*(line for line in lines if line not in source.without), ""])


def _hash_of(words: Iterable[str], files: Iterable[Path], *more: str) -> str:
    digest = hashlib.sha256()
    for piece in [*words, *more, *(path.read_text(encoding="utf-8") for path in files)]:
        digest.update(piece.encode() + b"\0")
    return digest.hexdigest()[:16]


def _source_tree(source: Source, package: Package, tree: Path) -> Path:
    """Unpack Debian's source and put our switches and events in."""
    if tree.is_dir():
        return tree
    archive = packages.find(package, f"src/{source.package}.tar.xz")
    unfinished = tree.with_name(tree.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    packages.run(
        "tar",
        *("-xJf", str(archive), "--strip-components=1", "-C", str(unfinished)),
        what=f"unpack {archive.name}",
    )
    if source.switches:
        shutil.copytree(TREE, unfinished, dirs_exist_ok=True)
        for file, line in LINES_OF_OURS.items():
            with (unfinished / file).open("a", encoding="utf-8") as kernels_own:
                kernels_own.write(line)
    for patch, files in source.semantic_patches.items():
        apply(patch, unfinished, files)
    unfinished.rename(tree)
    return tree


def apply(patch: Path, tree: Path, files: Iterable[str]) -> None:
    """Apply a semantic patch to files of a kernel tree, and see that all of it went in.

    Raises
    ------
    CaptureError
        spatch refuses, or a line that the patch adds is not in the files afterwards: the kernel's
        text is no longer what the patch was written for.
    """
    name = patch.relative_to(HOME.parents[1])
    paths = [tree / file for file in files]
    packages.run(
        "spatch",
        *("--very-quiet", "--in-place", "--sp-file", str(patch), *map(str, paths)),
        what=f"apply {name}",
    )
    after = "".join(_dense(path.read_text(encoding="utf-8")) for path in paths)
    for line in patch.read_text(encoding="utf-8").splitlines():
        if line.startswith("+") and _dense(line[1:]) not in after:
            raise CaptureError(
                f"{name} does not fit this kernel: the line '{line[1:].strip()}' did not go in; "
                "fix the semantic patch"
            )


def _dense(text: str) -> str:
    """Return a text without white space, which Coccinelle changes."""
    return "".join(text.split())


def _configure(tree: Path, objects: Path, configuration: str) -> None:
    objects.mkdir(parents=True, exist_ok=True)
    _make(tree, objects, "tinyconfig", what="configure the lab kernel")
    with (objects / ".config").open("a", encoding="utf-8") as config:
        config.write(configuration)
    _make(tree, objects, "olddefconfig", what="configure the lab kernel")
    taken = set((objects / ".config").read_text(encoding="utf-8").splitlines())
    for line in configuration.splitlines():
        # An option that is off is a comment in the kernel's file, or has no line there.
        on = line.removesuffix("=n") + "=y"
        if on in taken if line.endswith("=n") else line not in taken:
            raise CaptureError(f"this kernel does not take {line}: fix data/capture/lab")


def _build(tree: Path, objects: Path, configuration: str, image: Path) -> None:
    _configure(tree, objects, configuration)
    _make(tree, objects, "bzImage", what="build the lab kernel", steps=STEPS)
    image.parent.mkdir(parents=True, exist_ok=True)
    unfinished = image.with_suffix(".unfinished")
    shutil.copy(objects / "arch" / "x86" / "boot" / "bzImage", unfinished)
    unfinished.rename(image)


def _build_module(tree: Path, objects: Path, code: Path, module: Path) -> None:
    """Build one of our modules; the list of the kernel's symbols is left to the loader."""
    work = objects.with_name(f"{objects.name}-{code.stem}")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    shutil.copy(code, work)
    (work / "Kbuild").write_text(f"obj-m := {code.stem}.o\n")
    _make(tree, objects, "modules_prepare", what="prepare the lab kernel for modules")
    own = (f"M={work}", "KBUILD_MODPOST_WARN=1", "modules")
    _make(tree, objects, *own, what=f"build {code.name}")
    shutil.copy(work / f"{code.stem}.ko", module)


def _make(tree: Path, objects: Path, *targets: str, what: str, steps: int = 0) -> None:
    """Run make, with a bar if it has many steps; its output goes to a file next to `objects`."""
    log = objects.with_name(objects.name + ".txt")
    command = [tool("make"), f"-j{os.cpu_count()}", "-C", str(tree), f"O={objects}", *targets]
    bar = tqdm(total=steps, desc=what, unit=" steps", disable=None if steps else True, leave=False)
    with log.open("w", encoding="utf-8") as output, bar, _process(command) as make:
        for line in make.stdout or ():
            output.write(line)
            bar.update()
    if make.returncode != 0:
        text = log.read_text(encoding="utf-8").splitlines()
        reason = [line for line in text if "rror" in line] or text or ["no reason given"]
        raise CaptureError(f"cannot {what}: {reason[0].strip()}; all of it is in {log}")


@contextmanager
def _process(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run make during a block; it ends with the block."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **BUILT_BY},
    ) as make:
        try:
            yield make
        except BaseException:
            make.terminate()
            raise
