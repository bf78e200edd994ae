# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that set the laboratory up agree with each other."""

import re
import tomllib
from pathlib import Path

import yaml

import swapsim
from swapsim.io import repository_root

ROOT = repository_root()
CONDA_TOOLS = {"python", "c-compiler", "cmake", "ninja", "pip"}
# What conda calls by another name, or installs through the pip section.
CONDA_NAMES = {"types-pyyaml": "types-PyYAML"}


def bounds(requirements: list[str]) -> dict[str, str]:
    """Return name -> bound of requirements like ``polars>=1.34``."""
    pairs = (re.fullmatch(r"([A-Za-z0-9_.-]+?) ?([>=<~!].*)?", line) for line in requirements)
    return {match[1]: (match[2] or "").replace(" ", "") for match in pairs if match}


def test_conda_users_get_the_bounds_of_pyproject() -> None:
    """environment.yml has each package of pyproject.toml, its bound, and nothing else."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    wanted = bounds(project["project"]["dependencies"] + project["dependency-groups"]["test"])
    specs = [line for line in environment["dependencies"] if isinstance(line, str)]
    found = {CONDA_NAMES.get(name, name): bound for name, bound in bounds(specs).items()}
    assert {name: bound for name, bound in found.items() if name not in CONDA_TOOLS} == wanted
    assert found["python"] == project["project"]["requires-python"]
    tools = bounds(project["dependency-groups"]["tools"])
    assert (found["cmake"], found["ninja"]) == (tools["cmake"], tools["ninja"])
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    assert environment["dependencies"][-1] == {"pip": ["-e ."]}


def test_no_folder_but_its_own_is_taken_for_the_package() -> None:
    """Python files next to the checkout are not modules of ours."""
    assert {Path(folder).name for folder in swapsim.__path__} == {"swapsim"}


def test_the_lock_file_has_hashes_and_names_no_host() -> None:
    """Each locked package is pinned and hashed; no address stands in the file."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    packages = re.split(r"\n(?=[a-z0-9])", lock.split("\n", 2)[2])
    assert len(packages) > 100
    for package in packages:
        assert re.match(r"[a-z0-9.-]+==\S+", package), package.splitlines()[0]
        assert "--hash=sha256:" in package, package.splitlines()[0]
    assert not re.search(r"https?://|--index|--find-links", lock)


def test_the_lock_file_holds_each_package_of_pyproject() -> None:
    """A dependency that was added without 'make lock' is found."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    wanted = bounds(project["project"]["dependencies"] + groups["test"] + groups["tools"])
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([a-z0-9.-]+)==", lock, re.MULTILINE))
    assert {name.lower() for name in wanted} <= locked


def test_one_version_everywhere() -> None:
    """Package, citation and changelog name the same version, the changelog as its newest."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+) \((\S+)\)", changes, re.MULTILINE)
    assert newest
    assert newest.groups() == (citation["version"], str(citation["date-released"]))
    assert project["version"] == citation["version"]
    assert project["license"] == citation["license"]
