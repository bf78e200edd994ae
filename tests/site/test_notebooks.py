# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebooks were run, and their figures are those that they compute."""

import bisect
import json
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

from swapsim.io import notebooks_root
from swapsim.site.notebooks import lead_of

NOTEBOOKS = sorted(notebooks_root().glob("*.ipynb"))
KERNELS = {
    *("3.9", "3.10", "3.11", "4.8", "4.9", "4.10", "4.11", "4.12", "4.15", "4.20"),
    *("5.7", "5.8", "5.9", "6.1", "6.12", "6.13", "6.14", "6.18", "7.3"),
}


@cache
def read(path: Path) -> nbformat.NotebookNode:
    """Return a notebook that is valid by its own format."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    """Return the code cells in order."""
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> Path:
    """Give each notebook in turn."""
    path = request.param
    assert isinstance(path, Path)
    return path


def test_outputs_are_committed_from_one_run_top_to_bottom(notebook: Path) -> None:
    """Each code cell was run, in order, without an error; else nbval would compare nothing."""
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert not [output for output in cell.outputs if output.output_type == "error"]


def test_the_first_cell_has_a_lead(notebook: Path) -> None:
    """A bold sentence and bullets, whose first line is shown on the report's front page."""
    assert lead_of(read(notebook))


def shown(path: Path) -> list[float]:
    """Return every number that a notebook's cells show or are given, without its sign, in order."""
    texts = [json.dumps([output.get("text", ""), output.get("data", {})])
             for cell in code_cells(path) for output in cell.outputs]  # fmt: skip
    texts += [cell.source for cell in code_cells(path)]
    found = re.findall(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", " ".join(texts))
    return sorted(float(number.replace(",", "")) for number in found)


def test_figures_in_prose_are_computed(notebook: Path) -> None:
    """A number with a decimal point is, rounded, in an output, or is a kernel's version."""
    numbers = shown(notebook)
    strays = []
    for cell in read(notebook).cells:
        if cell.cell_type != "markdown":
            continue
        prose = re.sub(r"```.*?```|`[^`]*`|\([^)]*\.(?:md|ipynb)\)", "", cell.source, flags=re.S)
        for figure in re.findall(r"(?<![\w.,/])\d[\d,]*\.\d+(?![\w.]*\d)", prose):
            value, half = float(figure.replace(",", "")), 0.501 * 10 ** -len(figure.split(".")[1])
            scales = (1, 100, 1000, 0.01, 0.001, 1e-6)  # percent, thousands, microseconds
            near = [bisect.bisect_left(numbers, scale * (value - half)) for scale in scales]
            if figure not in KERNELS and not any(
                at < len(numbers) and numbers[at] <= scale * (value + half)
                for at, scale in zip(near, scales, strict=True)
            ):
                strays.append(figure)
    assert strays == []
