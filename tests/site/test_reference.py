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

from swapsim import machine
from swapsim.frames import glossary
from swapsim.io.paths import repository_root
from swapsim.site.report import reference

SOME = ["swapsim", "swapsim.errors", "swapsim.site.overview", "swapsim.slots", "swapsim.study"]
RENDER = f"""
import sys
from swapsim.site.report import reference
sys.stdout.write(repr(sorted(reference.rendered({SOME}).items())))
"""


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Give the pages of some modules."""
    return reference.rendered(SOME)


def test_the_guide_the_commands_and_what_is_exported_have_pages() -> None:
    """In this order; internal modules have none, nor those whose names their package exports."""
    names = reference.modules()
    assert names[:3] == ["swapsim", "swapsim.guide", "swapsim.guide.add_a_patch"]
    subjects = {f"swapsim.{name}" for name in ("mapping", "stall", "slots", "clusters", "traces")}
    assert subjects <= {*names}
    assert {"swapsim.cli", "swapsim.machine.run", "swapsim.machine.costs"} <= {*names}
    internal = r"\._|\.tables$|swapsim\.(io|ffi|checks|lazy|progress)|\.workbench$"
    assert not [name for name in names if re.search(internal, name)]


def test_every_command_is_described() -> None:
    """With its options, below a heading of its own."""
    text = reference.commands()
    for command in ("probes", "replay clusters", "verify slots", "rank", "bench"):
        part = text[text.index(f"## swapsim {command}\n") :].partition("\n## ")[0]
        assert f"Usage: swapsim {command} " in part
        assert "-h, --help" in part


def test_a_page_has_what_its_package_exports(pages: dict[str, str]) -> None:
    """Each name of __all__ has a heading."""
    for name in SOME:
        exported = getattr(import_module(name), "__all__", ())
        page = pages[f"{name.replace('.', '/')}.html"]
        module = import_module(name)
        submodules = {each for each in exported if inspect.ismodule(getattr(module, each))}
        missing = [each for each in {*exported} - submodules if f'id="{each}"' not in page]
        assert missing == []


def test_types_errors_and_tables_are_links(pages: dict[str, str]) -> None:
    """In signatures and in texts: to their description, and to the columns of a table."""
    page = pages["swapsim/slots.html"]
    measure = page[page.index('<section id="measure">') :].partition("</section>")[0]
    assert measure.count('<a href="#SlotsConfig">SlotsConfig</a>') == 1
    assert 'api/swapsim/slots.html#SlotsConfig">SlotsConfig</a>)' in measure
    assert 'api/swapsim/errors.html#ConfigError">ConfigError</a>' in measure
    assert '<a href="../../words.html#SLOT_SWEEP">SLOT_SWEEP</a>' in measure
    assert '<code><a href="swapsim/slots.html">slots</a></code>' in pages["swapsim.html"]
    assert {table.name for table in glossary.tables()} >= set(re.findall(r"words.html#(\w+)", page))


def test_the_function_of_each_command_is_a_link() -> None:
    """On the first page, where the pages of all functions are found."""
    page = reference.rendered(reference.modules())["swapsim.html"]
    for command in ("swapsim import", "swapsim rank", "swapsim compare", "swapsim bench"):
        line = page[page.index(f"<li><code>{command}</code>") :].partition("</li>")[0]
        assert line.count("<code>") - 1 == line.count("<code><a href=") > 0


def test_a_field_of_a_config_states_its_default() -> None:
    """Of the library or of Python; a default that follows from other fields is in the text."""
    text = inspect.getdoc(machine.MachineConfig) or ""
    assert "list_pages : int, default 32\n" in text
    assert 'kernel : {"4.8", "5.7", "5.7+scan-more", "5.8", "6.1"}, default "6.1"\n' in text
    assert "duration_ns : int, default warmup_ns=10_000_000, duration_ns=50_000_000\n" in text
    assert "frames : int\n" in text


def test_a_page_of_the_guide_is_named_by_its_task() -> None:
    """In its title, and in the links to it."""
    found = reference.rendered(["swapsim", "swapsim.guide", "swapsim.guide.write_a_policy"])
    index, page = found["swapsim/guide.html"], found["swapsim/guide/write_a_policy.html"]
    assert '<li><a href="guide/write_a_policy.html">Write a policy</a>: where' in index
    assert '<a href="swapsim/guide.html">A guide by task</a>' in found["swapsim.html"]
    assert "<h1>A guide by task</h1>" in index
    assert "<title>Write a policy " in page
    assert "<h1>Write a policy</h1>" in page


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
