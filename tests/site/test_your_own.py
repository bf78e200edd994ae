# SPDX-License-Identifier: GPL-2.0-or-later
"""Notebook 06 is the user's: another trace or machine is set in its first cell."""

import re
import shlex
from contextlib import suppress
from typing import Any

import nbformat
import pytest

from swapsim import traces
from swapsim.errors import InputError
from swapsim.io import data_root, notebooks_root, patches_root, repository_root

NOTEBOOK = nbformat.read(notebooks_root() / "06-your-own.ipynb", as_version=4)
CODE = [cell for cell in NOTEBOOK.cells if cell.cell_type == "code"]
PROSE = "\n".join(cell.source for cell in NOTEBOOK.cells if cell.cell_type == "markdown")
PATCHES = sorted(path.parent.name for path in patches_root().glob("*/card.md"))


def run_with(cells: int | None = None, **parameters: object) -> dict[str, Any]:
    """Run the notebook's first cells with other parameters, set after its own by papermill."""
    names: dict[str, Any] = {"__name__": "your_own", "display": lambda *_: None}
    for cell in CODE[:cells]:
        exec(cell.source, names)
        names |= parameters if "parameters" in cell.metadata.get("tags", ()) else {}
    return names


def test_the_parameters_are_in_the_first_code_cell() -> None:
    """The first cell has papermill's tag, and only assignments."""
    assert [cell.metadata.get("tags") for cell in CODE] == [["parameters"]] + [None] * len(CODE[1:])
    assert all(re.match(r"\w+ = ", line) for line in CODE[0].source.splitlines())


def test_it_runs_on_another_trace_and_machine() -> None:
    """A path instead of a name, a smaller machine, another cost, a patch without parts."""
    folder = data_root() / "traces" / "removals-small-files"
    names = run_with(
        trace=str(folder),
        kernel="4.8",
        walkers=2,
        constant="copy_ns",
        nanoseconds=300,
        slug="07-mine",
    )
    assert names["can"] == ["removal"]
    assert names["removed"]["batched"].item() < names["removed"]["page_by_page"].item()
    assert names["gains"]["costs"].to_list()[1] == "copy_ns 300"
    assert not names["built"]["there"].any()


def as_papermill_reads(text: str) -> object:
    """Return the value that papermill makes of an argument of ``-p``."""
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[text]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


@pytest.mark.parametrize("option", [None, "-p", "-r"])
def test_the_printed_command_runs(option: str | None) -> None:
    """As printed, and with either option for all parameters; the path is that of a trace."""
    (command,) = re.findall(r"^papermill .*", PROSE, re.M)
    program, source, _, *given = shlex.split(command)
    assert (program, source) == ("papermill", "06-your-own.ipynb")
    parameters: dict[str, object] = {}
    for printed, name, value in zip(given[::3], given[1::3], given[2::3], strict=True):
        assert printed in ("-p", "-r")
        raw = (option or printed) == "-r"
        parameters[name] = value if raw else as_papermill_reads(value)
    folder = data_root() / "traces" / "removals-small-files"
    assert parameters["trace"] == "/path/to/mytrace"
    names = run_with(4, **parameters | {"trace": str(folder)})
    assert names["can"] == ["removal"]
    if option is None:
        assert (names["kernel"], names["walkers"]) == ("5.8", 8)


def test_an_unknown_trace_is_refused_with_the_known_names() -> None:
    """A mistake in the parameter is an error of one line."""
    with pytest.raises(InputError, match=r"swap-w-sek: no such trace folder.*there is swap-w-seq"):
        traces.locate("swap-w-sek")


def test_the_files_that_it_names_as_models_exist() -> None:
    """Each path in code font, there or on its page of the guide, exists in this repository."""
    (page,) = re.findall(r"\]\(\.\./(swapsim/guide/\w+\.py)\)", PROSE)
    text = PROSE + (repository_root() / page).read_text(encoding="utf-8")
    paths = re.findall(r"`((?:corelib|data|notebooks|patches|swapsim|tests)/[\w./-]+)`", text)
    named = [path for path in paths if not re.search("NN-slug|NAME", path)]
    assert len(named) >= 5
    assert [name for name in named if not (repository_root() / name).exists()] == []
