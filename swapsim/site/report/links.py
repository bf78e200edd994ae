# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the links of notebooks and cards lead in a report."""

import os
import re
from pathlib import Path
from typing import Final

RULES: Final = "rules"
"""The page of data/published/README.md."""

_PAGES: Final = (
    (re.compile(r"(?:notebooks/)?(\d\d-[a-z0-9-]+)\.ipynb"), r"\1.html"),
    (re.compile(r"patches/(\d\d-[a-z0-9-]+)/card\.md"), r"patch-\1.html"),
    (re.compile(r"data/published/README\.md"), f"{RULES}.html"),
)


def card_page(patch: str) -> str:
    """Return the name of a card's page."""
    return f"patch-{patch}"


def lead(target: str, home: Path, root: Path, output: Path) -> str:
    """Return a link of a file of the laboratory as it is in the report.

    Parameters
    ----------
    target : str
        As in the file: an address, a part of the page, or a path.
    home : Path
        The file's folder.
    root : Path
        The laboratory's.
    output : Path
        The report's folder, from which a file that has no page is reached.
    """
    path, sharp, part = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return target
    inside = os.path.relpath(home / path, root)
    for pattern, page in _PAGES:
        if found := pattern.fullmatch(inside):
            return found.expand(page) + sharp + part
    return os.path.relpath(home / path, output) + sharp + part
