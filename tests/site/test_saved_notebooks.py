# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of a run in JupyterLab are removed from a notebook that is saved."""

import json
import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from swapsim.charts import plain_numbers
from swapsim.errors import InputError
from swapsim.io import notebooks_root, repository_root
from swapsim.site.notebooks import normal_form

NOTEBOOKS = sorted(notebooks_root().glob("*.ipynb"))


def text_of(notebook: nbformat.NotebookNode) -> str:
    """Return a notebook as nbformat, and so JupyterLab's server, writes it."""
    return f"{nbformat.writes(notebook)}\n"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_committed_notebooks_have_their_normal_form(path: Path) -> None:
    """Saving a notebook that was just opened changes no byte."""
    text = path.read_text(encoding="utf-8")
    assert normal_form(text, None, path) == text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_run_in_jupyterlab_leaves_nothing(path: Path) -> None:
    """Counts, times, the kernel's version, bars and other fonts are removed; no byte differs."""
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    notebook.metadata.language_info.version = "3.13.1"
    notebook.metadata.widgets = {"state": {"5e": {"model_name": "FloatProgressModel"}}}
    warning = nbformat.v4.new_output("stream", name="stderr", text="sweep: 100%")
    bar = nbformat.v4.new_output(
        "display_data", {"application/vnd.jupyter.widget-view+json": {"model_id": "3f"}}
    )
    for cell in notebook.cells:
        cell.metadata.execution = {"iopub.execute_input": "2026-11-22T00:00:00Z"}
        if cell.cell_type != "code":
            continue
        cell.execution_count += 40
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count += 40
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = "b3RoZXIgZm9udHM="
        cell.outputs = [warning, *cell.outputs, bar]
    assert normal_form(text_of(notebook), text, path) == text


def test_jupyterlab_saves_that_form(tmp_path: Path) -> None:
    """The hook of `make lab` removes traces of a run from our notebooks only."""
    (hook,) = re.findall(r"pre_save_hook=(\S+)", (repository_root() / "Makefile").read_text())
    module, _, name = hook.rpartition(".")
    before_saving = getattr(import_module(module), name)
    path = NOTEBOOKS[-1]
    run = nbformat.read(path, as_version=4)
    saved = json.loads(json.dumps(run))
    for cell in saved["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"] = 77
            cell["metadata"]["execution"] = {"iopub.execute_input": "2026-11-22T00:00:00Z"}
    for root, wanted in ((path.parent.parent, run), (tmp_path, saved)):
        model = {"type": "notebook", "content": json.loads(json.dumps(saved))}
        manager = SimpleNamespace(root_dir=str(root))
        before_saving(model=model, path=f"notebooks/{path.name}", contents_manager=manager)
        assert model["content"] == wanted


def test_bars_that_were_committed_are_removed() -> None:
    """Metadata of widgets is removed although git has it."""
    notebook = nbformat.v4.new_notebook(metadata={"widgets": {"state": {"5e": {}}}})
    saved = text_of(notebook)
    assert "widgets" not in normal_form(saved, saved, Path("x"))


def test_another_chart_keeps_its_own_picture() -> None:
    """A picture is taken from git only if it shows the same chart; other results do not change."""

    def notebook(number: float, picture: str) -> str:
        data: dict[str, Any] = {"application/vnd.vegalite.v5+json": {"y": number}}
        output = nbformat.v4.new_output("display_data", {**data, "image/png": picture})
        cell = nbformat.v4.new_code_cell("1", id="a", outputs=[output], execution_count=1)
        return text_of(nbformat.v4.new_notebook(cells=[cell]))

    committed = notebook(1, "before")
    assert normal_form(notebook(1.0, "after"), committed, Path("x")) == committed
    assert normal_form(notebook(2, "after"), committed, Path("x")) == notebook(2, "after")


def test_numbers_as_a_browser_writes_them() -> None:
    """An integer loses its point; other numbers, booleans and texts do not change."""
    given = {"a": [1.0, -0.0, 0.1, 1e300, 2, True, "1.0", None], "b": {"c": 3.0}}
    plain = {"a": [1, 0, 0.1, 1e300, 2, True, "1.0", None], "b": {"c": 3}}
    assert json.dumps(plain_numbers(given)) == json.dumps(plain)


def test_what_is_no_notebook_is_refused() -> None:
    """The line names the file."""
    with pytest.raises(InputError, match=r"x\.ipynb: is no notebook"):
        normal_form("<html>", None, Path("x.ipynb"))
