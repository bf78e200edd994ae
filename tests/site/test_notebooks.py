# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebooks were run, and their figures are those that they compute."""

import ast
import bisect
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import nbformat
import pytest

import swapsim
from swapsim import published, study
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
    """Its first paragraph is shown on the report's front page."""
    assert lead_of(read(notebook))


def test_cells_call_names_of_the_list_alone(notebook: Path) -> None:
    """What a cell takes of swapsim is in swapsim/README.md, so that a reader can write the like."""
    text = (Path(swapsim.__file__).parent / "README.md").read_text(encoding="utf-8")
    public = set(re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE))
    rooms: dict[str, str] = {}
    strange = set()
    for cell in code_cells(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Import):
                rooms |= {each.name: each.name for each in node.names if each.name == "swapsim"}
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("swapsim"):
                rooms |= {each.asname or each.name: each.name for each in node.names}
                strange |= {node.module} - {"swapsim"}
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                name = f"{rooms.get(node.value.id)}.{node.attr}"
                strange |= {name} - public if node.value.id in rooms else set()
    assert strange == set()


def test_the_change_that_a_notebook_names_works(notebook: Path) -> None:
    """The block under "Try", after the first cell alone: another trace, rule, kernel or number."""
    last = next(cell.source for cell in reversed(read(notebook).cells) if "**Try:**" in cell.source)
    (block,) = re.findall(r"^```python\n(.*?)^```$", last, re.M | re.S)
    names: dict[str, object] = {"__name__": "notebook", "display": lambda *_: None}
    for source in (code_cells(notebook)[0].source, block):
        exec(source, names)


FIGURES = json.loads((Path(__file__).parents[1] / "figures.json").read_text(encoding="utf-8"))


def fallen(mail: str, table: str, metric: str, column: str) -> float:
    """Return by how many percent a row of a mail's table changes, without a sign."""
    ratio = published.compare(mail, table).filter(metric=metric)[column].item()
    return abs(100 * (ratio - 1))


def stored(study: str, key: str) -> float:
    """Return a value of the first entry of figures.json on a stored study that has the key."""
    return next(each[key] for name, each in FIGURES.items() if study in name and key in each)


def gained(fit: str, policy: str) -> float:
    """Return the gain in the score of patch D's machine in the first second, in percent."""
    base, other = (
        stored("cluster-next-life", f"{fit} | first second | {each}") for each in ("shared", policy)
    )
    return 100 * (other / base - 1)


def transfers(policy: str) -> float:
    """Return the additions to the swap cache that transfer the lock's cache line, in percent."""
    recorded = FIGURES["slot_policies('slots-8-shared', seeds=1)"]
    return 100 * float(recorded[f"{policy} | lock.moved.add"])


SWAP_OUT = ("A", "lkp comparison", "vmstat.swap.so")
SYSTEM = ("B", "usemem", "Amean System-5")
SCANS = ("C", "vmstat, disk", "Kswapd pages scanned")
CHOICES = [each for name, each in FIGURES.items() if name.startswith("verify('mglru'")]


def meet(allocator: str, lock_mb: int) -> float:
    """Uses of the swap cache's lock that meet another CPU, of 64 on an aged device, in percent."""
    rows = study.load("newer-kernels-meetings").filter(
        allocator=allocator, lock_mb=lock_mb, cpus=64, state="aged", window_turns=1
    )
    return 100 * float(rows["met"].sum() / rows["uses"].sum())


def split(kernel: str) -> float:
    """Folios of 2 MB that a real kernel splits, in percent."""
    turned = published.experiment("large-folios-turnover")
    return float(turned.filter(kernel=kernel, metric="fallback share 2M")["value"].mean())


LEADS: list[tuple[str, str, Callable[[], list[float]]]] = [
    ("01", "measured +22 % of", lambda: [fallen(*SWAP_OUT, "ratio")]),
    ("01", "machine gives +22 %", lambda: [fallen(*SWAP_OUT, "simulated_ratio")]),
    ("02", "falls by 49 %", lambda: [fallen(*SYSTEM, "ratio")]),
    ("02", "gives -11 %", lambda: [fallen(*SYSTEM, "simulated_ratio")]),
    ("03", "scans 81 % fewer", lambda: [fallen(*SCANS, "ratio")]),
    ("03", "machine says 85 %", lambda: [fallen(*SCANS, "simulated_ratio")]),
    ("03", "says 76 %, and", lambda: [fallen(*SCANS, "measured_ratio")]),
    ("04", "from 71 to 22 %", lambda: [*map(transfers, ("shared", "percpu-rerandomise"))]),
    ("04", "machine gives +8 %", lambda: [gained("V1", "percpu")]),
    ("04", "+18 % simulated", lambda: [gained("V3", "percpu-rerandomise")]),
    ("05", "are 11 % of", lambda: [100 * stored("cluster-next-policies", "percpu-rerandomise")]),
    ("07", "left 81 % of", lambda: [meet("percpu-rerandomise", 64)]),
    ("07", "it is 2.5 %", lambda: [meet("7.3", 2)]),
    ("07", "splits 93 %", lambda: [split("6.12")]),
    ("07", "it is 18 %", lambda: [split("7.3")]),
    ("08", "65,997 choices", lambda: [sum(int(each.split()[1]) for each in CHOICES)]),
]


@pytest.mark.parametrize(("number", "phrase", "figures"), LEADS)
def test_a_lead_has_the_figures_that_stay(
    number: str, phrase: str, figures: Callable[[], list[float]]
) -> None:
    """Within a percent: figures.json has fewer seeds, or medians in place of means."""
    (path,) = (each for each in NOTEBOOKS if each.stem.startswith(number))
    assert phrase in lead_of(read(path)).replace("\n", " ")
    numbers = re.findall(r"\d[\d,]*(?:\.\d+)?", phrase)
    written = [float(each.replace(",", "")) for each in numbers]
    assert written == pytest.approx(figures(), abs=1.2)


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
