# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the laboratory's own files lie: the repository that the package runs from."""

from pathlib import Path

from swapsim.errors import InputError


def repository_root() -> Path:
    """Return the checkout that holds data, patches and notebooks.

    Raises
    ------
    InputError
        If the package was installed without its checkout.
    """
    root = Path(__file__).resolve().parent.parent
    if not (root / "data").is_dir():
        raise InputError(
            "the laboratory's data are not here: install it from its checkout, 'make setup'",
            path=root,
        )
    return root


def data_root() -> Path:
    """Return the folder of published tables, costs, traces and measurements."""
    return repository_root() / "data"


def patches_root() -> Path:
    """Return the folder of the patch cards."""
    return repository_root() / "patches"


def notebooks_root() -> Path:
    """Return the folder of the notebooks."""
    return repository_root() / "notebooks"


def shipped_traces() -> dict[str, Path]:
    """Return the traces that come with the laboratory, by name, in order of name."""
    folders = sorted(path.parent for path in (data_root() / "traces").glob("*/trace.toml"))
    return {folder.name: folder for folder in folders}


def shipped_measurements() -> dict[str, Path]:
    """Return the experiments on a real kernel that come with the laboratory, by name, in order."""
    folders = sorted(path.parent for path in (data_root() / "measured").glob("*/measured.toml"))
    return {folder.name: folder for folder in folders}
