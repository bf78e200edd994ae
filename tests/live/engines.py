# SPDX-License-Identifier: GPL-2.0-or-later
"""JavaScript engines that run the live models for tests: node, and a page of Chromium."""

import base64
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chromium import Page

import swapsim

LIVE = Path(swapsim.__file__).parent / "live"
NODE = shutil.which("node")
SCRIPTS = [LIVE / "core.js", *sorted((LIVE / "models").glob("*.js"))]
Settings = list[tuple[str, dict[str, Any]]]

RUN = """
settings.map(([model, setting]) => {
  try { return { rows: core.run(swapsim.models[model], setting) }; }
  catch (error) { return { error: String(error) }; }
})
"""
"""JavaScript: runs settings on one core, and returns rows or an error of each."""


def _program() -> str:
    return ";\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)


def in_node(settings: Sequence[Any], scripts: str = "", expression: str = RUN) -> list[Any]:
    """Return the value of an expression in node, which knows `core`, `settings` and scripts."""
    load = f"""
    const fs = require("fs");
    {_program()};
    const read = (name) => fs.readFileSync({json.dumps(str(LIVE))} + "/" + name);
    const core = swapsim.core(read("core.wasm"), JSON.parse(read("core.json")));
    const settings = JSON.parse(fs.readFileSync(0));
    {scripts}
    console.log(JSON.stringify({expression.strip()}));
    """
    done = subprocess.run(
        [str(NODE), "--input-type=commonjs", "-e", load],
        input=json.dumps(settings),
        capture_output=True,
        text=True,
        check=True,
    )
    return list(json.loads(done.stdout))


def in_chromium(page: Page, settings: Settings) -> list[dict[str, Any]]:
    """Run settings on a page."""
    wasm = base64.b64encode((LIVE / "core.wasm").read_bytes()).decode()
    layout = (LIVE / "core.json").read_text(encoding="utf-8")
    page.evaluate(f"{_program()}; true")
    page.evaluate(
        f"var core = swapsim.core(Uint8Array.from(atob('{wasm}'), (each) => each.charCodeAt(0)), "
        f"{layout}); true"
    )
    page.evaluate(f"var settings = {json.dumps(settings)}; true")
    found: list[dict[str, Any]] = json.loads(page.evaluate(f"JSON.stringify({RUN.strip()})"))
    return found
