# SPDX-License-Identifier: GPL-2.0-or-later
"""The links of each README have targets."""

import re

import pytest

from swapsim.io.paths import repository_root
from swapsim.site import readme

ROOT = repository_root()


@pytest.mark.parametrize("folder", [".", "corelib", "swapsim"])
def test_the_target_of_each_link_exists(folder: str) -> None:
    """No link of a README is dead, and README shows its picture."""
    text = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)\)", text)
    assert targets
    assert folder != "." or readme.PICTURE in targets
    for target in targets:
        if target.startswith("https:"):  # tests/site/test_links.py
            continue
        assert (ROOT / folder / target).exists(), target
