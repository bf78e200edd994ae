# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a report is current: if not, it is written.

This module imports few others: the libraries that make a report take seconds to import.
"""

import hashlib
import subprocess
from collections.abc import Iterable
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

from swapsim import ffi
from swapsim.checks import checked
from swapsim.errors import InputError
from swapsim.io.paths import PACKAGE, data_root, laboratory_root, notebooks_root, patches_root

MARK: Final = "swapsim-report"
"""The file that distinguishes a report's folder, which may be replaced, from any other.

It contains the digest of all that the report was made of.
"""


@checked
def write(output: Path, *, progress: bool = False) -> Path:
    """Run all notebooks and write the report: notebooks, cards, claims, and a front page.

    An earlier report at its place is replaced, unless nothing has changed since.

    Parameters
    ----------
    output : Path
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    Path
        The front page.

    Raises
    ------
    InputError
        The output exists and is no report, or there is no notebook.
    SwapsimError
        A cell failed; names notebook, cell and the error's last line. Complete pages are stored
        for the next run, as they are on Ctrl-C.
    """
    if output.exists() and not (output / MARK).is_file():
        raise InputError(
            "is there and is no report: name a folder that does not exist", path=output
        )
    mark, made_of = output / MARK, _made_of()
    if not (mark.is_file() and mark.read_text(encoding="utf-8") == made_of):
        from swapsim.site.report.build import build

        build(output, made_of, progress=progress)
    return output / "index.html"


def surroundings() -> bytes:
    """Return a digest of what all articles depend on: package, core, data and libraries."""
    kinds = ("*.py", "templates/notebook/*.j2")
    files = [path for kind in kinds for path in sorted(PACKAGE.rglob(kind))]
    versions = sorted((each.name, each.version) for each in distributions())
    made_with = repr((ffi.code_digests(), versions))
    return _digest(made_with, [*files, *sorted(data_root().rglob("*.*"))])


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


def _made_of() -> str:
    """Return the digest of all that a report is made of."""
    folders = (PACKAGE / "site" / "report" / "templates", notebooks_root(), patches_root())
    files = [path for folder in folders for path in sorted(folder.rglob("*.*"))]
    state = [git("rev-parse", "HEAD"), git("status", "--porcelain", "--untracked-files=no")]
    return _digest(repr((surroundings(), state)), files).hex()


def _digest(text: str, files: Iterable[Path]) -> bytes:
    digest = hashlib.sha256(text.encode())
    for path in files:
        if path.is_file():
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()
