# SPDX-License-Identifier: GPL-2.0-or-later
"""Notebooks that are run, some at a time, and their cells as HTML (nbconvert, our template)."""

import atexit
import base64
import html
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any, Final

import altair as alt
import nbformat
from markupsafe import Markup
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert import HTMLExporter
from traitlets.config import Config

from swapsim import live
from swapsim.charts import MIME, altair, of_version, png
from swapsim.errors import SwapsimError
from swapsim.live.shown import MIME as LIVE
from swapsim.live.shown import LivePanel, packed
from swapsim.progress import TextBar, check_interrupted
from swapsim.site.notebooks import pictures, results_of, specification
from swapsim.site.report.shell import TEMPLATES, Lead, as_html, fill

CELL_SECONDS: Final = 3600  # time limit of a cell; on a busy machine, too, none comes near
NOTEBOOKS_AT_A_TIME: Final = 2

_WAIT_SECONDS: Final = 0.2

_RESET: Final = "from swapsim.site.report import kernel; kernel.reset()"
"""What a kernel runs after a notebook."""

_ENVIRONMENT: Final = {**os.environ, "SWAPSIM_PICTURES": "no"}
"""Of a kernel: the pictures of charts are in the notebooks already, unless a chart has changed."""

_PICTURE_SCALE: Final = 1.5  # dots of a chart's picture per pixel of the page (`charts.png`)


class Kernels:
    """A kernel for each of a few threads, which runs notebooks one after the other.

    The next notebook finds no name of the one before, but what that has imported and read.
    """

    def __init__(self) -> None:
        self.ends = Event()
        self._clients: list[NotebookClient] = []
        """Appending to a list is atomic."""

    @contextmanager
    def kernel(self) -> Iterator[NotebookClient]:
        """Yield a client whose kernel starts with its first notebook; end it afterwards."""
        client = NotebookClient(
            nbformat.v4.new_notebook(),  # type: ignore[no-untyped-call]
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],
            timeout=CELL_SECONDS,
        )
        self._clients.append(client)
        try:
            yield client
        finally:
            # A kernel that was killed may fail the client's cleanup, which would run again at exit.
            with suppress(RuntimeError):
                if client.km is not None:
                    client._cleanup_kernel()
            atexit.unregister(client._cleanup_kernel)

    def end(self) -> None:
        """Kill all kernels, so that each client that waits for its kernel fails."""
        self.ends.set()
        for client in self._clients:
            process = getattr(getattr(client.km, "provisioner", None), "process", None)
            if process is not None:
                process.kill()


Make = Callable[[Path, Kernels, NotebookClient], None]


def make_all(make: Make, paths: Sequence[Path]) -> None:
    """Call `make` for each notebook, some at a time; end all when one fails, and on Ctrl-C."""
    kernels = Kernels()
    waiting: SimpleQueue[Path] = SimpleQueue()
    for path in paths:
        waiting.put(path)

    def work() -> None:
        with kernels.kernel() as client, suppress(Empty):
            while not kernels.ends.is_set():
                make(waiting.get_nowait(), kernels, client)

    pool = ThreadPoolExecutor(NOTEBOOKS_AT_A_TIME)
    left: set[Future[None]] = {pool.submit(work) for _ in range(NOTEBOOKS_AT_A_TIME)}
    try:
        while left:
            done, left = wait(left, timeout=_WAIT_SECONDS, return_when="FIRST_COMPLETED")
            for future in done:
                future.result()
            check_interrupted()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        while any(not future.done() for future in left):
            kernels.end()
            time.sleep(_WAIT_SECONDS)
        raise
    pool.shutdown()


def run(
    path: Path,
    notebook: nbformat.NotebookNode,
    kernels: Kernels,
    client: NotebookClient,
    bar: TextBar,
) -> nbformat.NotebookNode:
    """Run a notebook's cells and return it with their outputs; an error names the cell."""

    def begin(**_: object) -> None:
        if kernels.ends.is_set():
            raise DeadKernelError("ended with another notebook")

    def end(**_: object) -> None:
        bar.set_postfix_str(path.stem)
        bar.update()

    drawn = pictures(notebook)
    again = "'make report' then continues from the pages that are complete"
    client.resources = {"metadata": {"path": str(path.parent)}}
    client.on_cell_execute, client.on_cell_executed = begin, end
    client.nb = notebook
    try:
        client.execute(cleanup_kc=False, env=_ENVIRONMENT)
    except CellExecutionError as error:
        raise SwapsimError(
            f"{path.name}, code cell {client.code_cells_executed}: {error.ename}: {error.evalue}: "
            f"open it in JupyterLab ('make lab') and fix the cell; {again}"
        ) from None
    except (CellTimeoutError, DeadKernelError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise SwapsimError(
            f"{path.name}, code cell {client.code_cells_executed}: the kernel did not finish: "
            f"{reason}: run it in JupyterLab ('make lab'); {again}"
        ) from None
    client.on_cell_executed = lambda **_: None
    client.nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(_RESET)])  # type: ignore[no-untyped-call]
    client.execute(cleanup_kc=False)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = results_of(cell)
            for output in cell.outputs:
                draw(output, drawn)
    notebook.metadata.pop("widgets", None)
    return notebook


def draw(output: nbformat.NotebookNode, drawn: Mapping[str, str]) -> None:
    """Give a chart's output its picture: the one drawn of the same specification, or a new one."""
    chart = specification(output)
    if chart is not None and "image/png" not in output.data:
        picture = drawn.get(chart) or base64.b64encode(_drawn(output.data)).decode()
        output.data["image/png"] = picture


def _drawn(data: Mapping[str, Any]) -> bytes:
    """Return the picture of a chart, or of a panel."""
    return shown_panel(data[LIVE]).picture() if LIVE in data else png(data[MIME])


def panel_figure(name: str) -> str:
    """Return a panel as it is first, computed here."""
    return _panel(live.panel(name).stored())


def chart_figure(chart: alt.TopLevelMixin) -> str:
    """Return a chart as `figure` does, drawn here."""
    altair()  # has the theme
    spec = chart.to_dict()
    picture = base64.b64encode(png(spec)).decode()
    return figure({"data": {MIME: spec, "image/png": picture}})


def shown_panel(stored: Mapping[str, Any]) -> LivePanel:
    """Return the panel that an output has stored."""
    return live.panel(stored["panel"], **stored["setting"])


def article(notebook: nbformat.NotebookNode, lead: Lead, begun: datetime, seconds: float) -> str:
    """Return a notebook with its outputs as one HTML element, which records its run."""
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="notebook",
        extra_template_basedirs=[str(TEMPLATES)],
        filters={"as_html": partial(as_html, lead=lead), "as_figure": figure},
        config=Config({"CSSHTMLHeaderPreprocessor": {"enabled": False}}),
    )
    body, _ = exporter.from_notebook_node(notebook)
    run_at = f'data-begun="{begun:%Y-%m-%d %H:%M} UTC" data-seconds="{seconds:.0f}"'
    return f"<article {run_at}>\n{body}</article>"


def figure(output: Mapping[str, Any]) -> str:
    """Return the picture of a cell's chart, and the specification from which a script draws it."""
    data = output["data"]
    if LIVE in data:
        return _panel(data)
    spec = next((data[kind] for kind in sorted(data) if "vegalite" in kind), None)
    picture = _image(data["image/png"], _text_of(output, spec))
    drawn = (
        ""
        if spec is None
        else f'<script type="application/json">{_script(of_version(spec))}</script>'
    )
    return f'<figure class="chart" tabindex="0">{picture}{drawn}</figure>'


def _panel(data: Mapping[str, Any]) -> str:
    """Return a panel: what it shows of its setting and, for the script, all that it is made of."""
    stored = data[LIVE]
    shown = shown_panel(stored)
    picture = base64.b64encode(shown.frame_picture()).decode()
    return fill(
        "notebook/panel",
        panel=shown.panel,
        setting=shown.setting,
        words=shown.setting_in_words(),
        figures=stored["figures"],
        text=data["text/plain"],
        picture=Markup(_source("src", picture)),
        packed=packed(json.dumps(shown.for_page()).encode()),
    )


def _image(encoded: str, text: str) -> str:
    return f'<img {_source("src", encoded.replace(chr(10), ""))} alt="{html.escape(text)}">'


def _source(name: str, encoded: str) -> str:
    """Return a picture and its size on the page as attributes."""
    width, height = _pixels(base64.b64decode(encoded[:64]))
    return f'{name}="data:image/png;base64,{encoded}" width="{width}" height="{height}"'


def _pixels(png: bytes) -> tuple[int, int]:
    """Return a picture's size on the page, from its first chunk."""
    size = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
    width, height = (round(dots / _PICTURE_SCALE) for dots in size)
    return width, height


def _script(spec: object) -> str:
    """Return JSON that contains no end of an HTML tag."""
    return json.dumps(spec, separators=(",", ":")).replace("<", "\\u003c")


def _text_of(output: Mapping[str, Any], spec: Mapping[str, Any] | None) -> str:
    """Return the text that stands for a chart where it cannot be seen."""
    metadata = output.get("metadata", {}).get("image/png", {})
    if text := metadata.get("alt") or (spec or {}).get("description"):
        return str(text)
    title = (spec or {}).get("title", "")
    parts = [title] if isinstance(title, str) else [title.get("text"), title.get("subtitle")]
    lines = [line for part in parts for line in (part if isinstance(part, list) else [part])]
    return (
        ". ".join(str(line) for line in lines if line) or "A chart; the text next to it says more"
    )
