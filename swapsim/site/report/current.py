# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report is made of: if nothing of that has changed, the report is current."""

import hashlib
import subprocess
from collections.abc import Iterable
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from swapsim.io import PACKAGE, data_root, laboratory_root, notebooks_root, patches_root

MARK: Final = "swapsim-report"
"""The file that distinguishes a report's folder, which may be replaced, from any other.

It contains the digest of all that the report was made of.
"""


def surroundings() -> bytes:
    """Return a digest of what all articles depend on: package, core, data and libraries."""
    kinds = ("*.py", "templates/notebook/*.j2")
    files = [path for kind in kinds for path in sorted(PACKAGE.rglob(kind))]
    versions = sorted((each.name, each.version) for each in distributions())
    core = Path(str(find_spec("swapsim._core").origin))  # type: ignore[union-attr]
    return _digest(repr(versions), [core, *files, *sorted(data_root().rglob("*.*"))])


def git(*arguments: str) -> str:
    """Return the output of git; empty without a checkout."""
    root = laboratory_root()
    if not (root / ".git").exists():
        return ""
    # Read-only: git takes no lock of the index, which it would write again.
    command = ["git", "--no-optional-locks", *arguments]
    try:
        found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def made_of() -> str:
    """Return the digest of all that a report is made of."""
    folders = (PACKAGE / "site" / "report" / "templates", notebooks_root(), patches_root())
    files = [path for folder in folders for path in sorted(folder.rglob("*.*"))]
    files.append(laboratory_root() / "README.md")
    state = [git("rev-parse", "HEAD"), git("status", "--porcelain", "--untracked-files=no")]
    return _digest(repr((surroundings(), state)), files).hex()


def _digest(text: str, files: Iterable[Path]) -> bytes:
    digest = hashlib.sha256(text.encode())
    for path in files:
        if path.is_file():
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()
