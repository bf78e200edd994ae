# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as a folder: what is missing is made, what is there is taken over, all or nothing.

::

    report/NAME.html          a page
    .report-pages/NAME.html   an article of a report that did not come to its end

So a report that an error or Ctrl-C ended goes on where it was, and one that is there is renewed
where something changed (`articles`).
"""

import contextlib
import io
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import nbformat

from swapsim.errors import InputError
from swapsim.io.paths import notebooks_root
from swapsim.progress import TextBar
from swapsim.site.report import cells, front, shell
from swapsim.site.report.articles import Shelf, digest, surroundings
from swapsim.site.report.pages import Notebooks, lead_from, pages
from swapsim.site.report.provenance import provenance
from swapsim.site.report.runs import Runs, make_all, run
from swapsim.site.report.verdicts import verdicts

MARK: Final = "swapsim-report"
"""The file that tells a report folder from any other, so that a report may be replaced."""

_JUDGED: Final = {"index": front.article, "claims": front.claims_article}
"""Pages that show verdicts."""


def write(output: Path, *, progress: bool = False) -> Path:
    """Run all notebooks and write the report: them, the cards, the claims, and a front page.

    The folder appears whole or not at all; an earlier report at its place is replaced, any other
    folder is refused. What was made before of the same notebook, package, data and libraries is
    taken over.

    Parameters
    ----------
    output : Path
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    Path
        The front page.

    Raises
    ------
    InputError
        The output is in the way, or there is no notebook.
    SwapsimError
        A cell failed: names notebook, cell and the error's last line. Pages that are done are kept
        for the next time, as they are on Ctrl-C.
    """
    if output.exists() and not (output / MARK).is_file():
        raise InputError(
            "is there and is no report: name a folder that does not exist", path=output
        )
    notebooks = {path: _read(path) for path in sorted(notebooks_root().glob("[0-9][0-9]-*.ipynb"))}
    if not notebooks:
        raise InputError("no notebook here: NN-slug.ipynb is needed", path=notebooks_root())
    with _unfinished(output) as unfinished:
        shelf = Shelf((unfinished, output), _digests(notebooks))
        missing = [path for path in notebooks if shelf.find(path.stem) is None]
        judged = [name for name in _JUDGED if shelf.find(name) is None]
        steps = sum(_code_cells(notebooks[path]) for path in missing) + len(judged)
        with TextBar(total=steps, desc="report", unit=" cells", disable=not progress) as bar:
            _run(missing, notebooks, shelf, output, bar)
            _judge(judged, shelf, bar)
        told = provenance()
        made = pages(notebooks, [path.stem for path in missing], shelf, output, told)
        with _whole_folder(output) as folder:
            shell.write(folder, made, told)
            (folder / MARK).touch()
        shutil.rmtree(unfinished)
    return output / "index.html"


def _run(
    missing: Sequence[Path], notebooks: Notebooks, shelf: Shelf, output: Path, bar: TextBar
) -> None:
    """Run notebooks and put their articles on the shelf."""
    lead = lead_from(notebooks_root(), notebooks_root().parent, output)

    def make(path: Path, runs: Runs) -> None:
        begun, since = datetime.now(UTC), time.monotonic()
        notebook = run(path, notebooks[path], runs, bar)
        article = cells.article(notebook, lead, begun, time.monotonic() - since)
        shelf.put(path.stem, article)

    make_all(make, missing)


def _judge(judged: Sequence[str], shelf: Shelf, bar: TextBar) -> None:
    """Put the articles that show verdicts on the shelf."""
    if judged:
        bar.set_postfix_str("verdicts")
        with contextlib.redirect_stdout(io.StringIO()):  # what is kept is told by the notebooks
            found = verdicts()
        for name in judged:
            shelf.put(name, _JUDGED[name](found))
            bar.update()


def _digests(notebooks: Notebooks) -> dict[str, str]:
    around = surroundings()
    sources = {
        path.stem: [(cell.cell_type, cell.source) for cell in notebook.cells]
        for path, notebook in notebooks.items()
    }
    own: dict[str, object] = {**sources, **dict.fromkeys(_JUDGED, shell.templates())}
    return {name: digest(around, own[name]) for name in own}


@contextmanager
def _unfinished(output: Path) -> Iterator[Path]:
    """Give the folder of the pages that are done; leave none that is empty."""
    folder = output.with_name(f".{output.name}-pages")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        with suppress(OSError):
            folder.rmdir()


@contextmanager
def _whole_folder(output: Path) -> Iterator[Path]:
    """Give a sibling folder to fill; put it in the output's place only when all went well."""
    folder = Path(tempfile.mkdtemp(prefix=f".{output.name}-", dir=output.parent))
    try:
        yield folder
        folder.chmod(0o755)
        if output.exists():
            shutil.rmtree(output)
        folder.replace(output)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> nbformat.NotebookNode:
    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def _code_cells(notebook: nbformat.NotebookNode) -> int:
    return sum(cell.cell_type == "code" for cell in notebook.cells)
