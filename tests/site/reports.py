# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports for tests: of few and short notebooks, or of the stored outputs of all of them."""

from contextlib import chdir
from functools import cache
from pathlib import Path

import nbformat
import pytest

from swapsim.io import notebooks_root
from swapsim.site.notebooks import results_of
from swapsim.site.report import build, current, pages, reference, writing

_GUIDE = [f"swapsim.guide.{name}" for name in ("terms", "your_machine")]
SOME_MODULES = ["swapsim", "swapsim.guide", *_GUIDE, "swapsim.errors"]


_around, _panel = cache(current.surroundings), cache(pages.panel_figure)
_tables = cache(pages.mail_article)
"""What is the same in each report of the tests, and takes seconds."""


def small(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the notebooks that are reported, below a root."""
    for module in (build, current):
        monkeypatch.setattr(module, "notebooks_root", lambda: root / "notebooks")
        monkeypatch.setattr(module, "surroundings", _around)
    monkeypatch.setattr(pages, "panel_figure", _panel)
    monkeypatch.setattr(pages, "mail_article", _tables)
    monkeypatch.setattr(reference, "modules", lambda: SOME_MODULES)
    (root / "notebooks").mkdir()
    return root / "notebooks"


def one_notebook(folder: Path, source: str, name: str = "00-one", *, text: str = "") -> None:
    """Write a notebook of one code cell to a folder; its first cell ends with a text."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell(f"# 00 Title\n\n**Verdict & all.**{text}"),
            nbformat.v4.new_code_cell(source),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, folder / f"{name}.ipynb")


def run_here(path: Path, notebook: nbformat.NotebookNode, *_: object) -> nbformat.NotebookNode:
    """Run a notebook's cells in this process, whose start takes no time; they have no outputs."""
    names: dict[str, object] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            with chdir(path.parent):
                exec(cell.source, names)
    return notebook


def of_stored_outputs(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the report of all notebooks, with the outputs that they have."""
    small(root, monkeypatch)

    def as_stored(
        _: Path, notebook: nbformat.NotebookNode, *_rest: object
    ) -> nbformat.NotebookNode:
        """Return a notebook without running it."""
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = results_of(cell)
        return notebook

    monkeypatch.setattr(build, "notebooks_root", notebooks_root)
    monkeypatch.setattr(build, "surroundings", lambda: b"")
    monkeypatch.setattr(build, "run", as_stored)
    return writing.write(root / "stored").parent
