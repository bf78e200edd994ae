# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports for tests: of few and short notebooks, or of the stored outputs of all of them."""

from contextlib import chdir
from dataclasses import replace
from functools import cache
from pathlib import Path

import altair as alt
import nbformat
import polars as pl
import pytest

from swapsim import claims
from swapsim.charts.interaction import interactive
from swapsim.claims.tables import THREE_COLUMNS
from swapsim.claims.texts import verdicts_by_mail
from swapsim.io.paths import notebooks_root
from swapsim.patches.newer_kernels.today import COLUMNS
from swapsim.site import overview
from swapsim.site.notebooks import results_of
from swapsim.site.report import build, current, pages, reference, writing
from swapsim.site.report.pages import Claim, Figure, Verdicts

MAIL = "A-no-writeback-tags-with-diff"
ANSWERED = {"patch": "01-writeback-tags", "mail": MAIL} | dict.fromkeys(
    ("title", "by", "merged", "main claim", "answer"), "a text"
)

FIGURES = (
    Figure(
        "+25.0 %",
        "+20.0 to +30.0 %",
        "reproduced",
        "reproduced",
        "80 \u2192 100",
        "5 seeds",
        seen=True,
    ),
    Figure("", "", "absent", "not measured", "", "", seen=False),
)


_around, _panel = cache(current.surroundings), cache(pages.panel_figure)
"""What is the same in each report of the tests, and takes seconds."""


def small(root: Path, monkeypatch: pytest.MonkeyPatch, what: str = "swap-out bandwidth") -> Path:
    """Return the folder of the notebooks that are reported, below a root."""
    judged = {"patch": "01-writeback-tags", "mail": MAIL, "simulated_verdict": "reproduced"}
    counted = verdicts_by_mail(pl.DataFrame([judged] * 5, schema=THREE_COLUMNS.schema))
    newest = pl.DataFrame([], schema=dict.fromkeys(COLUMNS, pl.String))
    where = ("A-swap-out", "01-writeback-tags", MAIL, "lkp comparison")
    claim = Claim(*where, what, "+22.3 %", "1 \u2192 2", *FIGURES)
    answers = pl.DataFrame([ANSWERED])
    drawn = alt.Chart(pl.DataFrame({"x": [1]}), title="A picture", width=900).mark_bar()
    drawn = drawn.encode(x=alt.X("x:Q", title="length"))
    shown = Verdicts((claim,) * 5, (claim,), answers, counted, "All stand.", newest)
    monkeypatch.setattr(build, "verdicts", lambda: shown)
    monkeypatch.setattr(overview, "picture", interactive()(lambda: drawn))
    for module in (build, current):
        monkeypatch.setattr(module, "notebooks_root", lambda: root / "notebooks")
        monkeypatch.setattr(module, "surroundings", _around)
    monkeypatch.setattr(pages, "panel_figure", _panel)
    monkeypatch.setattr(reference, "modules", lambda: ["swapsim", "swapsim.errors"])
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
    every = claims.published_claims().iter_rows(named=True)
    found = tuple(
        Claim(
            *(row["claim"], row["patch"], row["mail"], row["locator"].split(" | ")[0]),
            *(row["metric"], "+22.3 %", "1 to 2", *FIGURES),
        )
        for row in every
    )
    shown = replace(build.verdicts(), claims=found, headlines=found[:8])

    def as_stored(
        _: Path, notebook: nbformat.NotebookNode, *_rest: object
    ) -> nbformat.NotebookNode:
        """Return a notebook without running it."""
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = results_of(cell)
        return notebook

    monkeypatch.setattr(build, "verdicts", lambda: shown)
    monkeypatch.setattr(build, "notebooks_root", notebooks_root)
    monkeypatch.setattr(build, "surroundings", lambda: b"")
    monkeypatch.setattr(build, "run", as_stored)
    return writing.write(root / "stored").parent
