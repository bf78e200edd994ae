# SPDX-License-Identifier: GPL-2.0-or-later
"""Notebooks copied for a user, and the form in which they are committed.

JupyterLab stores in a notebook how often a cell was run, the kernel's version, progress bars, and
pictures that depend on this machine's fonts. ``make lab`` removes them when a notebook is saved,
and ``make notebooks`` afterwards, so that git shows real changes only.
"""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import nbformat

from swapsim import io
from swapsim.charts import MIME, plain_numbers
from swapsim.errors import InputError
from swapsim.io import PACKAGE, laboratory_root, notebooks_root
from swapsim.live.shown import MIME as LIVE
from swapsim.progress import WIDGET

_LINKED: Final = ("notebooks", "patches", "data", "corelib/include")
_LEFT_BEHIND: Final = shutil.ignore_patterns(".*", "__pycache__", "traces", "measured", "simulated")
"""Large files to which no notebook links."""


def lay_out(folder: Path) -> Path:
    """Copy the notebooks, the patches' cards, the guide and all other files to which they link."""
    with io.new_folder(folder) as made:
        for name in _LINKED:
            shutil.copytree(laboratory_root() / name, made / name, ignore=_LEFT_BEHIND)
        shutil.copytree(PACKAGE / "guide", made / "swapsim" / "guide", ignore=_LEFT_BEHIND)
    return folder / "notebooks" / "00-start.ipynb"


def normalise() -> list[Path]:
    """Bring all notebooks to the form in which they are committed; return those that changed."""
    changed = []
    for path in sorted(notebooks_root().glob("*.ipynb")):
        text = io.read_text(path)
        normal = normal_form(text, _committed(path), path)
        if normal != text:
            io.write_atomically(path, normal.encode())
            changed.append(path)
    return changed


def before_saving(model: dict[str, Any], path: str, contents_manager: Any, **_: object) -> None:
    """Bring a notebook of ours to that form when JupyterLab saves it (a hook of its server)."""
    file = Path(contents_manager.root_dir) / path
    if model["type"] == "notebook" and file.parent == notebooks_root():
        notebook = nbformat.from_dict(model["content"])  # type: ignore[no-untyped-call]
        text = nbformat.writes(notebook, version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]
        model["content"] = _parsed(normal_form(text, _committed(file), file), file)


def normal_form(text: str, committed: str | None, path: Path) -> str:
    """Return a notebook's text in the form in which it is committed."""
    notebook = _parsed(text, path)
    before = None if committed is None else _parsed(committed, path)
    drawn = {} if before is None else pictures(before)
    if before is not None:
        notebook.metadata = before.metadata
    notebook.metadata.pop("widgets", None)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(cells, 1):
        cell.outputs = results_of(cell)
        cell.execution_count = number if cell.execution_count is not None else None
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count
            for kind, data in output.get("data", {}).items():
                if kind.endswith("json"):
                    output.data[kind] = plain_numbers(data)
            chart = specification(output)
            if chart in drawn:
                output.data["image/png"] = drawn[chart]
    for cell in notebook.cells:
        cell.metadata = {name: cell.metadata[name] for name in cell.metadata if name == "tags"}
    written: str = nbformat.writes(notebook, version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]
    return written + "\n"


def lead_of(notebook: nbformat.NotebookNode) -> str:
    """Return the lead of a notebook: the paragraphs of its first cell after the title."""
    _, _, lead = str(notebook.cells[0].source).partition("\n")
    return lead.strip()


def _parsed(text: str, path: Path) -> nbformat.NotebookNode:
    try:
        notebook: nbformat.NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    except nbformat.reader.NotJSONError:
        raise InputError("is no notebook: restore it with 'git checkout'", path=path) from None
    return notebook


def results_of(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Return a code cell's outputs without warnings, progress bars and the widgets of panels."""
    for output in cell.outputs:
        if LIVE in output.get("data", {}):
            output.data.pop(WIDGET, None)
    return [
        output
        for output in cell.outputs
        if WIDGET not in output.get("data", {}) and output.get("name") != "stderr"
    ]


def pictures(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Return the pictures of a notebook by the specifications of their charts."""
    return {
        chart: output.data["image/png"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if (chart := specification(output)) is not None and "image/png" in output.data
    }


def specification(output: Mapping[str, Any]) -> str | None:
    """Return the text of a chart's specification, or of a panel's state; else None."""
    data = output.get("data", {})
    chart = data.get(MIME, data.get(LIVE))
    return None if chart is None else repr(plain_numbers(chart))


def _committed(path: Path) -> str | None:
    """Return the file of the last commit; None without git, or if the file is new."""
    command = ["git", "show", f"HEAD:./{path.name}"]
    try:
        found = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout


if __name__ == "__main__":
    for each in normalise():
        print(f"written again: {each.name}")
