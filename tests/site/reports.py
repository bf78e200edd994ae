# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of few and short notebooks, with one claim and a small picture, for tests."""

from pathlib import Path

import altair as alt
import nbformat
import polars as pl
import pytest

from swapsim.charts.interaction import interactive
from swapsim.claims.tables import VERDICTS_BY_PATCH
from swapsim.newer.tables import ON_NEWEST
from swapsim.site import overview
from swapsim.site.report import build, reference
from swapsim.site.report.pages import Claim, Figure, Verdicts


def small(root: Path, monkeypatch: pytest.MonkeyPatch, what: str = "swap-out bandwidth") -> Path:
    """Return the folder of the notebooks that are reported, below a root."""
    figures = (
        Figure("+25.0 %", "+20.0 to +30.0 %", "agrees", "agrees"),
        Figure("", "", "absent", "not measured"),
    )
    counted = pl.DataFrame([], schema=VERDICTS_BY_PATCH.schema)
    newest = pl.DataFrame([], schema=ON_NEWEST.schema)
    claim = Claim("A-swap-out", "01-writeback-tags", what, "+22.3 %", *figures)
    drawn = alt.Chart(pl.DataFrame({"x": [1]}), title="A picture", width=900).mark_bar()
    drawn = drawn.encode(x=alt.X("x:Q", title="length"))
    shown = Verdicts((claim,) * 5, (claim,), counted, newest)
    monkeypatch.setattr(build, "verdicts", lambda: shown)
    monkeypatch.setattr(overview, "picture", interactive()(lambda: drawn))
    monkeypatch.setattr(build, "notebooks_root", lambda: root / "notebooks")
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
