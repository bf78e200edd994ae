# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of the laboratory's files: in the checkout, or in the package's folder ``laboratory``.

A wheel contains data, patch cards and notebooks in that folder.
"""

from pathlib import Path
from typing import Final

from swapsim.errors import InputError

PACKAGE: Final = Path(__file__).resolve().parents[1]  # the folder of the package swapsim
_IN_WHEEL: Final = PACKAGE / "laboratory"


def laboratory_root() -> Path:
    """Return the folder of data, patches and notebooks."""
    return _IN_WHEEL if _IN_WHEEL.is_dir() else PACKAGE.parent


def repository_root() -> Path:
    """Return the checkout, in which files can be written and tests run."""
    if _IN_WHEEL.is_dir():
        raise InputError(
            "this needs the laboratory's checkout, but swapsim was installed from a wheel: "
            "run 'make setup' in a checkout",
            path=PACKAGE,
        )
    return PACKAGE.parent


def data_root() -> Path:
    """Return the folder of published tables, costs, traces and measurements."""
    return laboratory_root() / "data"


def patches_root() -> Path:
    """Return the folder of the patch cards."""
    return laboratory_root() / "patches"


def notebooks_root() -> Path:
    """Return the folder of the notebooks."""
    return laboratory_root() / "notebooks"


def sample_text() -> Path:
    """Return the short text of ftrace that comes with the laboratory."""
    return data_root() / "sample.txt"


def shipped_traces() -> dict[str, Path]:
    """Return the traces that come with the laboratory, by name, in order of name."""
    folders = sorted(path.parent for path in (data_root() / "traces").glob("*/trace.toml"))
    return {folder.name: folder for folder in folders}


def shipped_measurements() -> dict[str, Path]:
    """Return the experiments on a real kernel that come with the laboratory, by name, in order."""
    folders = sorted(path.parent for path in (data_root() / "measured").glob("*/measured.toml"))
    return {folder.name: folder for folder in folders}
