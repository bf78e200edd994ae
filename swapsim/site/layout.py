# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebooks laid out in a folder of the reader's own, with what their links lead to."""

import shutil
from pathlib import Path
from typing import Final

from swapsim.paths import laboratory_root
from swapsim.traces.writer import new_folder

_LINKED: Final = ("notebooks", "patches", "data", "corelib/include")
_LEFT_BEHIND: Final = shutil.ignore_patterns(".*", "__pycache__", "traces", "measured", "simulated")
"""What is large, and no notebook links to."""


def lay_out(folder: Path) -> Path:
    """Copy the notebooks, the patches' cards and what else they link to.

    Parameters
    ----------
    folder : Path
        New; it appears whole or not at all.

    Returns
    -------
    Path
        The map, which is the notebook to open first.

    Raises
    ------
    InputError
        The folder exists already, or cannot be written.
    """
    with new_folder(folder) as made:
        for name in _LINKED:
            shutil.copytree(laboratory_root() / name, made / name, ignore=_LEFT_BEHIND)
    return folder / "notebooks" / "00-map.ipynb"
