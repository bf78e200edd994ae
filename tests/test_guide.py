# SPDX-License-Identifier: GPL-2.0-or-later
"""Each example that the reference prints runs, and prints what it says."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import examples
import pytest

from swapsim import guide
from swapsim.site.report import reference

PAGES = [each.name for each in iter_modules(guide.__path__)]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_guide_prints_what_it_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder, one line after the other."""
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(getattr(guide, page)) or ""
    found = examples.parsed(text, page)
    assert len(found.examples) > 2
    assert examples.failures(found) == ""


def functions() -> Iterator[tuple[str, str]]:
    """Yield the names of what has a page of the reference, with their docstrings."""
    for name in reference.modules():
        module = import_module(name)
        for each in getattr(module, "__all__", vars(module)):
            thing = getattr(module, each)
            own = getattr(thing, "__module__", "") == name or "__all__" in vars(module)
            if own and (inspect.isfunction(thing) or inspect.isclass(thing)):
                yield f"{name}.{each}", inspect.getdoc(thing) or ""


def test_the_examples_of_functions_print_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them."""
    monkeypatch.chdir(tmp_path)
    found = {name: examples.parsed(text, name) for name, text in functions()}
    wrong = [examples.failures(test) for test in found.values() if test.examples]
    assert [each for each in wrong if each] == []
