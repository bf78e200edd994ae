# SPDX-License-Identifier: GPL-2.0-or-later
"""Full disks: a small tmpfs, of which any share is used before."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import attack
import pytest
from test_files import cubes

from swapsim import study
from swapsim.errors import SwapsimError

TEXT = Path(__file__).parent.parent / "data" / "tracefs-6.1.txt"
SIZE = 512 << 10
"""Enough for an import, and for a page for each point of a sweep; not for much more."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a small disk: root alone may."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a tmpfs cannot be mounted here: only root may")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def filled(disk: Path, rng: random.Random) -> int:
    """Use some of a disk and return how much."""
    taken = rng.randrange(SIZE)
    (disk / "taken").write_bytes(bytes(taken))
    return taken


def test_imports(small_disk: Path, seeds: Iterator[int]) -> None:
    """An import is complete, or ends with one line and leaves no file."""
    for seed in seeds:
        taken = filled(small_disk, random.Random(seed))
        print(f"seed {seed}: {taken} bytes taken")
        out = small_disk / "trace"
        code = attack.answer("import", str(TEXT), "-o", str(out))
        assert {path.name for path in small_disk.iterdir()} == {"taken", *["trace"] * (not code)}
        if not code:
            assert attack.answer("info", str(out)) == 0
        shutil.rmtree(out, ignore_errors=True)


def test_stored_sweeps(small_disk: Path, seeds: Iterator[int]) -> None:
    """A sweep whose store is full ends with an error, and continues once there is space."""
    run = partial(study.run, cubes, list(range(40)))
    whole = run()
    for seed in seeds:
        filled(small_disk, random.Random(seed))
        store = small_disk / "store"
        try:
            found = run(folder=store)
        except (SwapsimError, OSError):
            (small_disk / "taken").unlink()
            found = run(folder=store)
        assert all(one.equals(other) for one, other in zip(found, whole, strict=True))
        shutil.rmtree(store)
