# SPDX-License-Identifier: GPL-2.0-or-later
"""The map of notebooks in JupyterLab and a real browser, in the dark theme."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import chromium
import nbformat
import pytest

from swapsim.io import notebooks_root, repository_root

pytestmark = pytest.mark.skipif(chromium.CHROMIUM is None, reason=chromium.MISSING)

MAP = "00-start.ipynb"
ONE_PANEL = "one-panel.ipynb"
OWN = (
    "walks = mapping.replay('swap-w-seq', kernels='4.8').filter(tags=True, flow='swap, written')\n"
    "charts.bars(walks, 'tree_walks', 'site', title='Walks', words={'tree_walks': "
    "'walks of the tree'})",
    "print('begun')\nwhile True:\n    mapping.replay('swap-w-seq')",
)
SETTINGS = {
    "themes": {"theme": "JupyterLab Dark"},
    "notification": {"fetchNews": "false", "checkForUpdates": False},
}
LINK = "[a card, as the map links to it](../patches/01-writeback-tags/card.md)"
CHART = ".jp-OutputArea .vega-embed svg"
PANEL = "document.querySelector('.swapsim-live figure.panel')"
OPEN = "((asked) => jupyterapp.commands.execute('docmanager:open', asked))"
STATUS = "jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status"


def laboratory(folder: Path) -> Path:
    """Write a link, a notebook's imports, a chart, an endless cell; and a panel alone."""
    (folder / "notebooks").mkdir()
    (folder / "patches").symlink_to(repository_root() / "patches")
    notebook = nbformat.read(notebooks_root() / MAP, as_version=4)
    lines = next(c.source for c in notebook.cells if c.cell_type == "code").splitlines()
    imports = "\n".join(line for line in lines if line.startswith(("import ", "from ")))
    sources = [f"{imports}\ncharts.use()", *OWN]
    own = [nbformat.v4.new_code_cell(source, id=f"own-{at}") for at, source in enumerate(sources)]
    notebook.cells = [nbformat.v4.new_markdown_cell(LINK, id="own-link"), *own]
    nbformat.write(notebook, folder / "notebooks" / MAP)
    panel = nbformat.v4.new_code_cell("from swapsim import live\nlive.panel('tags')", id="panel")
    alone = nbformat.v4.new_notebook(cells=[panel], metadata=notebook.metadata)
    nbformat.write(alone, folder / "notebooks" / ONE_PANEL)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run JupyterLab with settings of its own, and give its address."""
    root = tmp_path_factory.mktemp("laboratory")
    home = root / "home"
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    for name, values in SETTINGS.items():
        (settings / f"{name}.jupyterlab-settings").write_text(json.dumps(values))
    kinds = {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces"}
    kinds |= {"JUPYTER_RUNTIME_DIR": "runtime", "JUPYTER_CONFIG_DIR": "config"}
    own = {name: str(home / kind) for name, kind in kinds.items()}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--no-browser", "--allow-root", f"--port={port}", "--port-retries=0"]
    options += ["--IdentityProvider.token=", "--expose-app-in-browser"]
    options += [f"--ServerApp.root_dir={laboratory(root)}"]
    with (root / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env=os.environ | own,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + chromium.PATIENCE_SECONDS
        while not listens(port):
            assert process.poll() is None, (root / "log").read_text()
            assert time.monotonic() < until
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/lab/tree/notebooks/"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def listens(port: int) -> bool:
    """Return whether a server listens."""
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def page(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    """Give a browser in which JupyterLab is loaded once; `show` opens its files."""
    with chromium.browser(tmp_path_factory.mktemp("profile")) as page:
        page.open(server + MAP, width=1400, height=900)
        yield page


def show(page: chromium.Page, notebook: str) -> None:
    """Open a notebook in JupyterLab and wait for its kernel."""
    page.wait_for("window.jupyterapp?.shell != null")
    asked = json.dumps({"path": f"notebooks/{notebook}"})
    page.evaluate(f"jupyterapp.restored.then(() => {OPEN}({asked})), 0")
    path = "jupyterapp.shell.currentWidget?.context?.path"
    page.wait_for(f"{path}?.endsWith({json.dumps(notebook)}) && {STATUS} == 'idle'")


def test_a_link_opens_a_card(page: chromium.Page) -> None:
    """Before anything is run: JupyterLab keeps only the cells near the window on the page."""
    show(page, MAP)
    link = "a[href*='01-writeback-tags/card.md']"
    page.wait_for(f"document.querySelector({json.dumps(link)}) != null")
    page.evaluate(f"document.querySelector({json.dumps(link)}).click()")
    page.wait_for("jupyterapp.shell.currentWidget?.context?.path?.endsWith('card.md')")


def test_the_map_is_run_read_and_interrupted(page: chromium.Page) -> None:
    """A chart is drawn, in dark colours too, without a warning; an endless cell ends."""
    show(page, MAP)
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells'), 0")
    page.wait_for(f"document.querySelector('{CHART} .mark-rect.role-mark path') != null")
    assert page.evaluate("document.querySelector('.jp-OutputArea img') == null")
    text = page.wait_for(
        "document.querySelector('#vg-tooltip-element.visible')?.innerText",
        doing=lambda: page.point_at(f"{CHART} .mark-rect.role-mark path"),
    )
    assert "walks of the tree" in text
    words = f"getComputedStyle(document.querySelector('{CHART} .role-title text')).fill"
    assert min(map(int, re.findall(r"\d+", page.evaluate(words))[:3])) > 128
    last = "[...document.querySelectorAll('.jp-OutputArea')].at(-1).innerText"
    page.wait_for(f"{last}.includes('begun')")
    page.evaluate("jupyterapp.commands.execute('notebook:interrupt-kernel'), 0")
    page.wait_for(f"{last}.includes('KeyboardInterrupt')")
    page.wait_for(f"{STATUS} == 'idle'")
    assert page.complaints == [], "a chart's Vega-Lite is newer than JupyterLab's, or the like"


TURN = f"""
(() => {{
  const slider = {PANEL}.querySelector("input[name=writers]");
  slider.value = %d;
  slider.dispatchEvent(new Event("input"));
  return true;
}})()
"""


def test_a_panel_goes_on_when_its_kernel_has_ended(page: chromium.Page) -> None:
    """What is turned in the browser reaches Python, and another turn needs no Python."""
    show(page, ONE_PANEL)
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells'), 0")
    page.wait_for(f"{PANEL}?.classList.contains('drawn')")
    page.evaluate(f"{PANEL}.scrollIntoView({{block: 'center'}})")
    said = f"{PANEL}.querySelector('.figures').innerText"
    first = page.evaluate(said)
    page.evaluate(TURN % 0)
    one = page.wait_for(f"{said} != {json.dumps(first)} && {said}")
    kernel = "jupyterapp.shell.currentWidget.sessionContext"
    page.evaluate(f"{kernel}.shutdown()")
    page.wait_for(f"{kernel}.session == null")
    page.evaluate(TURN % 5)
    assert page.wait_for(f"{said} != {json.dumps(one)} && {said}") != first
    own = ("http://127", "blob:", "data:")  # the last one is the panel's picture
    assert [each for each in page.fetched if not each.startswith(own)] == []
