# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report: each notebook run anew, two at a time, and a page that lists them.

::

    report/NN-slug.html          a page; its first line is the key of what it was made of
    .report-pages/NN-slug.html   the same, of a report that did not come to its end

A page whose key is still the same is not made again, wherever it lies. So a report that an error or
Ctrl-C ended goes on where it was, and one that is there is renewed where something changed.
"""

import hashlib
import html
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib.metadata import distributions
from pathlib import Path
from threading import Event, Lock
from typing import Any, Final

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert import HTMLExporter
from tqdm import tqdm

import swapsim
from swapsim.errors import InputError, SwapsimError
from swapsim.native import code
from swapsim.paths import data_root, notebooks_root
from swapsim.site.notebooks import results_of
from swapsim.sweep.store import write_whole

MARK: Final = "swapsim-report"
"""The file that tells a report folder from any other, so that a report may be replaced."""

CELL_SECONDS: Final = 3600
"""A cell that takes longer is taken for hung: on a busy machine, too, none comes near."""

NOTEBOOKS_AT_A_TIME: Final = 2

_WAIT_SECONDS: Final = 0.2

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
    folder is refused. A page that was made before of the same notebook, package, data and libraries
    is taken over.

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
        A cell failed: names notebook, cell and the error's last line. Pages that are done are kept
        for the next time, as they are on Ctrl-C.
    """
    if output.exists() and not (output / MARK).is_file():
        raise InputError(
            "is there and is no report: name a folder that does not exist", path=output
        )
    notebooks = sorted(notebooks_root().glob("[0-9][0-9]-*.ipynb"))
    if not notebooks:
        raise InputError("no notebook here: NN-slug.ipynb is needed", path=notebooks_root())
    read = {path.stem: _read(path) for path in notebooks}
    surroundings = _surroundings()
    keys = {stem: _key(notebook, surroundings) for stem, notebook in read.items()}
    with _unfinished(output) as unfinished:
        missing = [
            path
            for path in notebooks
            if not any(_is_page(folder, path.stem, keys) for folder in (unfinished, output))
        ]
        cells = sum(_code_cells(read[path.stem]) for path in missing)
        with tqdm(total=cells, desc="report", unit=" cells", disable=not progress) as bar:

            def make(path: Path, runs: _Runs) -> None:
                notebook = _run(path, read[path.stem], runs, bar)
                page = _with_links(_to_html(notebook, path), output)
                write_whole(unfinished / f"{path.stem}.html", (keys[path.stem] + page).encode())

            _make_all(make, missing)
        with _whole_folder(output) as folder:
            for stem in read:
                of = unfinished if _is_page(unfinished, stem, keys) else output
                shutil.copy(of / f"{stem}.html", folder)
            entries = "\n".join(_entry(notebook, stem) for stem, notebook in read.items())
            (folder / "index.html").write_text(_PAGE.format(entries=entries), "utf-8")
            (folder / MARK).touch()
        shutil.rmtree(unfinished)
    return output / "index.html"


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


def _surroundings() -> bytes:
    """Hash what all pages are made of: package, core, data and libraries."""
    package = Path(swapsim.__file__).parent
    files = [*sorted(package.rglob("*.py")), *sorted(data_root().rglob("*.*"))]
    whole = hashlib.sha256(repr(code.digests()).encode())
    whole.update(repr(sorted((each.name, each.version) for each in distributions())).encode())
    for path in files:
        if path.is_file():
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.digest()


def _key(notebook: nbformat.NotebookNode, surroundings: bytes) -> str:
    """Return the first line of a page that is made of this notebook, in these surroundings."""
    cells = repr([(cell.cell_type, cell.source) for cell in notebook.cells])
    digest = hashlib.sha256(surroundings + cells.encode()).hexdigest()
    return f"<!-- made of {digest} -->\n"


def _is_page(folder: Path, stem: str, keys: dict[str, str]) -> bool:
    path = folder / f"{stem}.html"
    return path.is_file() and path.read_bytes().startswith(keys[stem].encode())


class _Runs:
    """The notebooks that run, so that all can be ended at once."""

    def __init__(self) -> None:
        self.ends = Event()
        self._lock = Lock()
        self._clients: list[NotebookClient] = []

    @contextmanager
    def entered(self, client: NotebookClient) -> Iterator[None]:
        """Count a client in while it runs."""
        with self._lock:
            self._clients.append(client)
        try:
            yield
        finally:
            with self._lock:
                self._clients.remove(client)

    def end(self) -> None:
        """Kill all kernels; a client that waits for its kernel gives up then."""
        self.ends.set()
        with self._lock:
            for client in self._clients:
                process = getattr(getattr(client.km, "provisioner", None), "process", None)
                if process is not None:
                    process.kill()


def _make_all(make: Callable[[Path, _Runs], None], paths: Sequence[Path]) -> None:
    """Make pages, some at a time; when one fails, or on Ctrl-C, end the others."""
    runs = _Runs()
    pool = ThreadPoolExecutor(NOTEBOOKS_AT_A_TIME)
    left: set[Future[None]] = {pool.submit(make, path, runs) for path in paths}
    try:
        while left:
            done, left = wait(left, timeout=_WAIT_SECONDS, return_when="FIRST_COMPLETED")
            for future in done:
                future.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        while any(not future.done() for future in left):
            runs.end()
            time.sleep(_WAIT_SECONDS)
        raise
    pool.shutdown()


def _run(
    path: Path, notebook: nbformat.NotebookNode, runs: _Runs, bar: "tqdm[Any]"
) -> nbformat.NotebookNode:
    def begin(**_: object) -> None:
        if runs.ends.is_set():
            raise DeadKernelError("ended with another notebook")

    def end(**_: object) -> None:
        bar.set_postfix_str(path.stem)
        bar.update()

    client = NotebookClient(
        notebook,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        timeout=CELL_SECONDS,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_execute=begin,
        on_cell_executed=end,
    )
    try:
        with runs.entered(client):
            client.execute()
    except CellExecutionError as error:
        raise SwapsimError(
            f"{path.name}, code cell {client.code_cells_executed}: {error.ename}: {error.evalue}: "
            "open it in JupyterLab ('make lab') and mend the cell; 'make report' then goes on from "
            "the pages that are done"
        ) from None
    except (CellTimeoutError, DeadKernelError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise SwapsimError(
            f"{path.name}, code cell {client.code_cells_executed}: the kernel did not finish: "
            f"{reason}: run it in JupyterLab ('make lab'); 'make report' then goes on from the "
            "pages that are done"
        ) from None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = results_of(cell)
    notebook.metadata.pop("widgets", None)
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
