# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as a folder, which appears complete or not at all.

::

    report/NAME.html          a page
    .report-pages/NAME.html   an article of a report that was not completed

    <!-- made of DIGEST -->            first line of a page, and of a stored article
    ... <article ...> ... </article>   what surrounds it is written again each time

An article whose digest is unchanged is reused from either folder, also after an error or Ctrl-C.
"""

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from swapsim.errors import InputError
from swapsim.io import notebooks_root
from swapsim.progress import TextBar
from swapsim.site.report import cells, pages, reference, shell
from swapsim.site.report.cells import Kernels, make_all, run
from swapsim.site.report.current import MARK, surroundings
from swapsim.site.report.shell import lead_from, provenance


def _of_tables(output: Path) -> dict[str, Callable[[], str]]:
    """Return the pages of the mails' tables: their names, and what makes them."""
    mails = {pages.mail_page(mail): partial(pages.mail_article, mail) for mail in pages.patches()}
    return {"index": partial(pages.front, output), **mails}


_Notebooks = Mapping[Path, nbformat.NotebookNode]


def build(output: Path, made_of: str, *, progress: bool) -> None:
    """Write a report that is made of files with this digest, as `writing.write` describes."""
    found = sorted(notebooks_root().glob("[0-9][0-9]*-*.ipynb"))
    notebooks: _Notebooks = {path: nbformat.read(path, as_version=4) for path in found}  # type: ignore[no-untyped-call]
    if not notebooks:
        raise InputError("no notebook here: NN-slug.ipynb is needed", path=notebooks_root())
    with _unfinished(output) as unfinished:
        around = surroundings()
        articles = pages.Articles((unfinished, output), _digests(notebooks, around))
        missing = [path for path in notebooks if articles.find(path.stem) is None]
        makes = _of_tables(output)
        unmade = [name for name in makes if articles.find(name) is None]
        kinds = [cell.cell_type for path in missing for cell in notebooks[path].cells]
        steps = kinds.count("code") + len(unmade)
        with TextBar(total=steps, desc="report", unit=" cells", disable=not progress) as bar:
            _run(missing, notebooks, articles, output, bar)
            for name in unmade:
                bar.set_postfix_str(name)
                articles.put(name, makes[name]())
                bar.update()
        origin = provenance()
        made = pages.pages(notebooks, [path.stem for path in missing], articles, output, origin)
        with _complete_folder(output) as folder:
            shell.write(folder, made, origin)
            (folder / "notebooks").mkdir()
            for path in notebooks:
                shutil.copy(path, folder / "notebooks")
            bar.set_postfix_str(reference.FOLDER)
            texts = {path.stem: _prose(notebook) for path, notebook in notebooks.items()}
            reference.write(folder, output, around, texts)
            (folder / MARK).write_text(made_of)
        shutil.rmtree(unfinished)


def _run(
    missing: Sequence[Path],
    notebooks: _Notebooks,
    articles: pages.Articles,
    output: Path,
    bar: TextBar,
) -> None:
    """Run notebooks and store their articles."""
    lead = lead_from(notebooks_root(), notebooks_root().parent, output)

    def make(path: Path, kernels: Kernels, client: NotebookClient) -> None:
        begun, since = datetime.now(UTC), time.monotonic()
        notebook = run(path, notebooks[path], kernels, client, bar)
        article = cells.article(notebook, lead, begun, time.monotonic() - since)
        articles.put(path.stem, article)

    make_all(make, missing)


def _prose(notebook: nbformat.NotebookNode) -> str:
    cells = (cell for cell in notebook.cells if cell.cell_type == "markdown")
    return "\n".join(cell.source for cell in cells)


def _digests(notebooks: _Notebooks, around: bytes) -> dict[str, str]:
    """Return the digest of each article: of all surroundings, and of its own sources."""
    sources = {
        path.stem: [(cell.cell_type, cell.source) for cell in notebook.cells]
        for path, notebook in notebooks.items()
    }
    own: dict[str, object] = {
        **sources,
        **dict.fromkeys(_of_tables(Path()), (shell.templates(), pages.summary())),
    }
    return {
        name: hashlib.sha256(around + repr(made_of).encode()).hexdigest()
        for name, made_of in own.items()
    }


@contextmanager
def _unfinished(output: Path) -> Iterator[Path]:
    """Yield the folder of complete articles; remove it afterwards if it is empty."""
    folder = output.with_name(f".{output.name}-pages")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        with suppress(OSError):
            folder.rmdir()


@contextmanager
def _complete_folder(output: Path) -> Iterator[Path]:
    """Yield a sibling folder to fill, which replaces the output only without an error."""
    folder = Path(tempfile.mkdtemp(prefix=f".{output.name}-", dir=output.parent))
    try:
        yield folder
        folder.chmod(0o755)
        if output.exists():
            shutil.rmtree(output)
        folder.replace(output)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
