# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebooks follow their style, and their verdicts are those that they compute."""

import ast
import bisect
import itertools
import json
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

from swapsim.claims.tables import MEASURED_VERDICT, SIMULATED_VERDICT
from swapsim.frames.figures import MISSING
from swapsim.io.paths import notebooks_root, patches_root
from swapsim.site.notebooks import keeps_its_lead, lead_of

NOTEBOOKS = sorted(notebooks_root().glob("*.ipynb"))
NO_PATCH = {"00", "05", "06", "08"}
KERNELS = {
    *("3.9", "3.10", "3.11", "4.8", "4.9", "4.10", "4.11", "4.12", "4.15", "4.20"),
    *("5.7", "5.8", "5.9", "6.1", "6.12", "6.13", "6.14", "6.18", "7.3"),
}
LINES = 60
CHARACTERS = 100
"""The longest line of code that fits the report's column."""


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


def test_there_are_notebooks() -> None:
    """The map and the first patch are there."""
    assert {"00-map", "01-writeback-tags"} <= {path.stem for path in NOTEBOOKS}


def test_each_name_is_a_patch_or_one_without(notebook: Path) -> None:
    """NN-slug.ipynb is that of patches/NN-slug; a second part NNb and it link to each other."""
    name = re.fullmatch(r"(\d\d)([a-z]?)-([a-z0-9-]+)", notebook.stem)
    assert name
    number, second, slug = name.groups()
    if number not in NO_PATCH:
        folders = [path.parent.name for path in patches_root().glob(f"{number}-*/card.md")]
        assert len(folders) == 1
        assert second or f"{number}-{slug}" == folders[0]
        if second:
            first = notebook.with_name(f"{folders[0]}.ipynb")
            for here, there in ((notebook, first), (first, notebook)):
                texts = [cell.source for cell in read(here).cells if cell.cell_type == "markdown"]
                assert any(f"]({there.name})" in text for text in texts), here.name


def test_outputs_are_committed_from_one_run_top_to_bottom(notebook: Path) -> None:
    """Each code cell was run, in order, without an error; else nbval would compare nothing."""
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert not [output for output in cell.outputs if output.output_type == "error"]


def is_policy(node: ast.AST) -> bool:
    """Return whether a function is decorated as a policy, which a user changes in its cell."""
    return isinstance(node, ast.FunctionDef) and any(
        "policy(" in ast.unparse(decorator) for decorator in node.decorator_list
    )


def test_code_cells_are_short_and_plain(notebook: Path) -> None:
    """At most 100 characters a line, eight lines a cell, 60 a notebook; no class or loop.

    No def but a policy: a cell in which a user writes one may have twice the lines and loops, and
    is not counted.
    """
    lines = 0
    for cell in code_cells(notebook):
        nodes = list(ast.walk(ast.parse(cell.source)))
        of_user = any(is_policy(node) for node in nodes)
        most = 16 if of_user else 8
        lines += 0 if of_user else len(cell.source.splitlines())
        assert len(cell.source.splitlines()) <= most, cell.source
        assert max(map(len, cell.source.splitlines())) <= CHARACTERS, cell.source
        loops = () if of_user else (ast.For, ast.While, ast.comprehension)
        for node in nodes:
            assert not isinstance(node, (ast.ClassDef, *loops)), cell.source
            assert is_policy(node) or not isinstance(node, ast.FunctionDef), cell.source
    assert lines <= LINES


def test_prose_precedes_each_code_cell(notebook: Path) -> None:
    """A text introduces each code cell."""
    kinds = [cell.cell_type for cell in read(notebook).cells]
    assert kinds[0] == "markdown"
    assert "code" in kinds
    assert ("code", "code") not in set(itertools.pairwise(kinds))


def test_the_first_cell_states_what_the_last_computes(notebook: Path) -> None:
    """The lead of the first cell, without its marks, is what the last code cell prints."""
    assert lead_of(read(notebook)), "the first cell has no lead: a bold sentence and bullets"
    assert keeps_its_lead(read(notebook))
    changed = read(notebook)
    changed.cells[0].source = changed.cells[0].source.replace("**", "** ", 1)
    assert not keeps_its_lead(changed)


def figures_of(text: str) -> list[str]:
    """Return the figures of a text: numbers, and shares such as "25 of 37".

    Not what is in brackets (intervals, published figures), numbers of CPUs, tasks, threads or
    writers, kernels, and names with digits.
    """
    text = re.sub(r"\([^)]*\)", "", text)
    text = re.sub(r"\b\d+ (?:CPUs|tasks|threads|writers|MB|GB|us)\b", "", text)
    text = re.sub(
        rf"(?<![\w.])(?:{'|'.join(map(re.escape, KERNELS))}|20\d\d)(?![\w.]*\d)", "", text
    )
    number = r"(?<![\w.,])[-+]?\d[\d,]*(?:\.\d+)?"
    return re.findall(rf"{number}(?: (?:of|to|a page to)(?: the)? {number})?", text)


def words_of(text: str) -> int:
    """Return how many words and figures a text has; signs alone, such as "%", are none."""
    return len([word for word in text.split() if re.search(r"\w", word)])


def test_a_lead_is_a_sentence_and_short_bullets(notebook: Path) -> None:
    """The sentence has at most 30 words; each of three bullets 45, two sentences, three figures."""
    sentence, empty, *bullets = lead_of(read(notebook)).splitlines()
    assert empty == ""
    assert len(re.findall(r"\.(?= [A-Z])|\.$", sentence)) == 1
    assert len(bullets) == 3
    assert words_of(sentence) <= 30, sentence
    for bullet in bullets:
        assert len(re.findall(r"\.(?= [A-Z])|\.$", bullet)) <= 2, bullet
        assert len(figures_of(bullet)) <= 3, (figures_of(bullet), bullet)
        assert words_of(bullet.partition(": ")[2]) <= 45, bullet


def test_stored_results_are_one_line_at_the_end(notebook: Path) -> None:
    """The last cell names them all, and no other cell has a line on them."""
    *others, last = [
        "".join(str(output) for output in cell.outputs) for cell in code_cells(notebook)
    ]
    assert "Stored results: " not in "".join(others)
    called = re.search(r"\bstudies\.\w+\(", "".join(cell.source for cell in code_cells(notebook)))
    assert not called or "Stored results: " in last


def test_one_scale_of_judgements(notebook: Path) -> None:
    """A column of judgements has only words of its scale; a reason, factor or size may follow."""
    words = {*SIMULATED_VERDICT.words, *MEASURED_VERDICT.words, MISSING}
    for cell in code_cells(notebook):
        for output in cell.outputs:
            for table in re.findall(r"<table.*?</table>", str(output.get("data", {})), re.S):
                heads, *rows = (
                    re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
                    for row in re.findall(r"<tr>(.*?)</tr>", table)
                )
                for at, head in enumerate(heads):
                    if re.search(r"verdict$", head.replace("<wbr>", "")):
                        assert {
                            re.split(": | [(]|, (?:other size|another count)", row[at])[0]
                            for row in rows
                        } <= words, head


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


def test_only_public_verbs_are_used(notebook: Path) -> None:
    """No name with a leading underscore, nothing of the C library."""
    for cell in code_cells(notebook):
        assert not re.search(r"\b_[a-z]|\.native\b|\.lib\b", cell.source), cell.source
