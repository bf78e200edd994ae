# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped recordings were made by the rig that is here, or by that of a commit they name."""

import functools
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from swapsim import traces
from swapsim.io import data_root, shipped_measurements, shipped_traces

CAPTURE = data_root() / "capture"
ROOT = data_root().parent
SHIPPED = shipped_traces()
MADE = {name: traces.provenance(path) for name, path in SHIPPED.items()} | {
    name: tomllib.loads((path / "measured.toml").read_text())
    for name, path in shipped_measurements().items()
}


def commit_of(name: str) -> str | None:
    """Return the commit that has a recording's sources, where the files of today are others."""
    made = MADE[name]
    return (made["capture"] if name in SHIPPED else made["measured"]).get("commit")


@functools.cache
def files_of(commit: str) -> dict[str, str]:
    """Return the sha256 of each file of the rig in a commit; none if this clone lacks it."""
    git = shutil.which("git")
    if git is None:
        return {}
    command = [git, "-C", str(ROOT), "archive", commit, "data/capture", "patches"]
    archived = subprocess.run(command, capture_output=True, check=False)
    if archived.returncode != 0:
        return {}
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as archive:
        files = {member.name: archive.extractfile(member) for member in archive}
        return {
            name: hashlib.sha256(file.read()).hexdigest() for name, file in files.items() if file
        }


@pytest.mark.parametrize("name", MADE)
def test_a_recording_was_made_by_files_of_this_repository(name: str) -> None:
    """Each source has its sha256 here, or in the commit that the provenance names."""
    sources, commit = MADE[name]["sources"], commit_of(name)
    assert len(sources) >= (4 if name in SHIPPED else 1)
    for path, sha256 in sources.items():
        here = CAPTURE / path
        if here.is_file() and hashlib.sha256(here.read_bytes()).hexdigest() == sha256:
            continue
        assert commit is not None, f"{path} changed: name the last commit that has it"
        if past := files_of(commit):
            assert past[os.path.normpath(f"data/capture/{path}")] == sha256, path


def test_each_workload_has_its_trace() -> None:
    """A trace that the rig cannot make again names the commit whose rig could."""
    command = [sys.executable, str(CAPTURE / "capture.py"), "--list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    workloads = {line.split(":")[0] for line in listed.splitlines()}
    assert workloads <= set(SHIPPED)
    assert all(commit_of(name) for name in set(SHIPPED) - workloads)


@pytest.mark.parametrize("source", sorted((CAPTURE / "programs").glob("*.c")), ids=lambda p: p.stem)
def test_a_workload_program_compiles_without_a_warning(source: Path) -> None:
    """Each program passes a strict compiler."""
    compiler = shutil.which("cc")
    assert compiler is not None
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run([compiler, *flags, str(source)], check=True)
