# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference of the Python interface describes what the packages export."""

import inspect
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from swapsim.io import repository_root
from swapsim.site.report import reference

SOME = ["swapsim", "swapsim.errors", "swapsim.published", "swapsim.slots", "swapsim.study"]
RENDER = f"""
import sys
from swapsim.site.report import reference
sys.stdout.write(repr(sorted(reference.rendered({SOME}).items())))
"""


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Give the pages of some modules."""
    return reference.rendered(SOME)


def test_a_page_has_what_its_package_exports(pages: dict[str, str]) -> None:
    """Each name of __all__ has a heading."""
    for name in SOME:
        exported = getattr(import_module(name), "__all__", ())
        page = pages[f"{name.replace('.', '/')}.html"]
        module = import_module(name)
        submodules = {each for each in exported if inspect.ismodule(getattr(module, each))}
        missing = [each for each in {*exported} - submodules if f'id="{each}"' not in page]
        assert missing == []


def test_no_page_names_a_place_of_this_machine_or_an_address(pages: dict[str, str]) -> None:
    """Paths and objects as defaults of parameters are left out."""
    places = {str(repository_root()), sys.prefix, str(Path.home()), os.environ["PATH"]}
    for name, page in pages.items():
        assert [place for place in places if place in page] == [], name
        assert not re.search("0x[0-9a-f]{6,}|&lt;module", page), name


def test_the_pages_are_the_same_in_each_run(pages: dict[str, str]) -> None:
    """Also with another order of sets."""
    command = [sys.executable, "-c", RENDER]
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert again.stderr == ""
    assert again.stdout == repr(sorted(pages.items()))


def test_an_earlier_reference_is_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the package is the same."""
    rendered = []
    monkeypatch.setattr(reference, "modules", list)
    monkeypatch.setattr(
        reference, "rendered", lambda *_: rendered.append(1) or {"swapsim.html": "page"}
    )
    before = tmp_path / "none"
    for number, (around, made) in enumerate([(b"1", 1), (b"1", 1), (b"2", 2)]):
        folder = tmp_path / str(number)
        reference.write(folder, before, around, {})
        assert (folder / "api" / "swapsim.html").read_text() == "page"
        assert len(rendered) == made
        before = folder
