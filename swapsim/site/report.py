# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report: each notebook run anew, and a page that lists them."""

import html
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert import HTMLExporter
from tqdm import tqdm

from swapsim.errors import InputError, SwapsimError
from swapsim.paths import notebooks_root

MARK: Final = "swapsim-report"
"""The file that tells a report folder from any other, so that a report may be replaced."""

CELL_SECONDS: Final = 120
"""A cell that takes longer is taken for hung."""

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Swap laboratory</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{{font:16px/1.5 sans-serif;max-width:46em;margin:3em auto;padding:0 1em;color:#222}}
li{{margin:.8em 0}}a{{color:#1f5fa8}}p{{margin:.2em 0}}</style></head><body>
<h1>Swap laboratory</h1>
<p>Four Linux patches on swapping and page reclaim, rerun on traces of a real kernel.
Each page below is a notebook, run when this report was made.</p>
<ul>
{entries}
</ul></body></html>
"""


def write(output: Path, *, progress: bool = False) -> Path:
    """Run all notebooks and write them as HTML, with an index.

    The folder appears whole or not at all; an earlier report at its place is replaced, any other
    folder is refused.

    Parameters
    ----------
    output : Path
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    Path
        The index page.

    Raises
    ------
    InputError
        The output is in the way, or there is no notebook.
    SwapsimError
        A cell failed: names notebook, cell and the error's last line.
    """
    if output.exists() and not (output / MARK).is_file():
        raise InputError(
            "is there and is no report: name a folder that does not exist", path=output
        )
    notebooks = sorted(notebooks_root().glob("[0-9][0-9]-*.ipynb"))
    if not notebooks:
        raise InputError("no notebook here: NN-slug.ipynb is needed", path=notebooks_root())
    with _whole_folder(output) as folder:
        entries = []
        with tqdm(notebooks, desc="report", unit=" notebooks", disable=not progress) as bar:
            for path in bar:
                bar.set_postfix_str(path.stem)
                notebook = _run(path)
                page = _with_links(_to_html(notebook, path), output)
                (folder / f"{path.stem}.html").write_text(page, "utf-8")
                entries.append(_entry(notebook, path.stem))
        (folder / "index.html").write_text(_PAGE.format(entries="\n".join(entries)), "utf-8")
        (folder / MARK).touch()
    return output / "index.html"


@contextmanager
def _whole_folder(output: Path) -> Iterator[Path]:
    """Give a sibling folder to fill; put it in the output's place only when all went well."""
    output.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{output.name}-", dir=output.parent))
    try:
        yield folder
        folder.chmod(0o755)
        if output.exists():
            shutil.rmtree(output)
        folder.replace(output)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(path: Path) -> nbformat.NotebookNode:
    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        timeout=CELL_SECONDS,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        cell = client.code_cells_executed
        raise SwapsimError(
            f"{path.name}, code cell {cell}: {error.ename}: {error.evalue}: "
            "open it in JupyterLab ('make lab') and mend the cell"
        ) from None
    except (CellTimeoutError, DeadKernelError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise SwapsimError(
            f"{path.name}: the kernel did not finish: {reason}: run it in JupyterLab ('make lab')"
        ) from None
    return notebook


def _to_html(notebook: nbformat.NotebookNode, path: Path) -> str:
    # Without these two addresses the page needs no network.
    exporter = HTMLExporter(mathjax_url="", require_js_url="")  # type: ignore[no-untyped-call]
    body, _ = exporter.from_notebook_node(
        notebook, resources={"metadata": {"name": path.stem, "path": str(path.parent)}}
    )
    return str(body)


def _with_links(page: str, output: Path) -> str:
    """Lead a notebook's links to its neighbours' pages, and to the files of the checkout."""
    root = os.path.relpath(notebooks_root().parent, output)
    page = re.sub(r'href="(\d\d-[a-z0-9-]+)\.ipynb"', r'href="\1.html"', page)
    return page.replace('href="../', f'href="{root}/')


def _entry(notebook: nbformat.NotebookNode, stem: str) -> str:
    """One list item: the notebook's title and the verdict that its first cell states."""
    first = str(notebook.cells[0].source).strip().splitlines()
    title = first[0].lstrip("# ")
    verdict = " ".join(line.strip("*> ") for line in first[1:] if line.strip())
    return (
        f'<li><a href="{stem}.html">{html.escape(title)}</a>'
        f"<p>{html.escape(verdict.replace('`', ''))}</p></li>"
    )
