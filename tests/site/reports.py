# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports for tests: of few and short notebooks, or of the stored outputs of all of them."""

from contextlib import chdir
from functools import cache
from pathlib import Path

import altair as alt
import nbformat
import polars as pl
import pytest

from swapsim import claims
from swapsim.charts.interaction import interactive
from swapsim.io.paths import notebooks_root
from swapsim.patches import newer_kernels
from swapsim.patches.newer_kernels.today import COLUMNS
from swapsim.site import overview
from swapsim.site.notebooks import results_of
from swapsim.site.report import build, current, pages, reference, writing

_GUIDE = [f"swapsim.guide.{name}" for name in ("terms", "your_machine")]
SOME_MODULES = ["swapsim", "swapsim.guide", *_GUIDE, "swapsim.errors"]
MAIL = "A-no-writeback-tags-with-diff"


_around, _panel = cache(current.surroundings), cache(pages.panel_figure)
"""What is the same in each report of the tests, and takes seconds."""


@cache
def judged() -> pl.DataFrame:
    """Return all claims with an answer to five of one mail, which a model reproduces exactly."""
    stated = claims.published_claims()
    own = stated.filter(pl.col("change").is_not_null(), mail=MAIL).head(5)
    answers = [
        claims.Answer(
            claim=claim, source="simulated", figure=change, low=change, high=change, rounds=5
        )
        for claim, change in own.select("claim", "change").iter_rows()
    ]
    return claims.three_columns(stated, claims.table_of(answers), claims.tolerances())


def small(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the notebooks that are reported, below a root."""
    newest = pl.DataFrame([], schema=dict.fromkeys(COLUMNS, pl.String))
    drawn = alt.Chart(pl.DataFrame({"x": [1]}), title="A picture", width=900).mark_bar()
    drawn = drawn.encode(x=alt.X("x:Q", title="length"))
    monkeypatch.setattr(overview, "judged", judged)
    monkeypatch.setattr(newer_kernels, "on_newest", lambda: newest)
    monkeypatch.setattr(overview, "picture", interactive()(lambda: drawn))
    for module in (build, current):
        monkeypatch.setattr(module, "notebooks_root", lambda: root / "notebooks")
        monkeypatch.setattr(module, "surroundings", _around)
    monkeypatch.setattr(pages, "panel_figure", _panel)
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
    """Write the report of all notebooks, with the outputs that they have, and of all claims."""
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
