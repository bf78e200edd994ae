# SPDX-License-Identifier: GPL-2.0-or-later
"""The README says what the laboratory computes, and links lead somewhere."""

import re

import pytest

from swapsim.io.paths import repository_root
from swapsim.site import readme

ROOT = repository_root()


def test_the_verdict_table_is_the_one_that_comes_out_now() -> None:
    """'make readme' would change nothing."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.with_table(text) == text


@pytest.mark.parametrize("folder", [".", "corelib", "swapsim"])
def test_each_link_leads_to_a_file_or_folder(folder: str) -> None:
    """No link of a README is dead, and the front door's picture is there."""
    text = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)\)", text)
    assert targets
    assert folder != "." or readme.PICTURE in targets
    for target in targets:
        assert (ROOT / folder / target).exists(), target
