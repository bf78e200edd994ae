# SPDX-License-Identifier: GPL-2.0-or-later
"""JavaScript engines that run the live models for tests: node, and a page of Chromium."""

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from chromium import Page

import swapsim

LIVE = Path(swapsim.__file__).parent / "live"
NODE = shutil.which("node")
SCRIPTS = [LIVE / "core.js", *sorted((LIVE / "models").glob("*.js"))]
Settings = list[tuple[str, dict[str, Any]]]

RUN = """
(function (bytes, layout, settings) {
  const core = swapsim.core(bytes, layout);
  const run = ([model, setting]) => {
    try { return { rows: core.run(swapsim.models[model], setting) }; }
    catch (error) { return { error: String(error) }; }
  };
  return JSON.stringify(settings.map(run));
})
"""
"""JavaScript: a function that runs settings on one core, and returns rows or an error of each."""


def _program() -> str:
    return ";\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)


def in_node(settings: Settings) -> list[dict[str, Any]]:
    """Run settings in node."""
    load = f"""
    const fs = require("fs");
    {_program()};
    const read = (name) => fs.readFileSync({json.dumps(str(LIVE))} + "/" + name);
    const settings = JSON.parse(fs.readFileSync(0));
    console.log({RUN.strip()}(read("core.wasm"), JSON.parse(read("core.json")), settings));
    """
    found: list[dict[str, Any]] = json.loads(_node(load, settings))
    return found


def _node(load: str, settings: Any) -> str:
    done = subprocess.run(
        [str(NODE), "--input-type=commonjs", "-e", load],
        input=json.dumps(settings),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def evaluated(scripts: str, expression: str, settings: list[dict[str, Any]]) -> list[Any]:
    """Return the value of an expression in node, which knows `core` and `settings`."""
    *before, last = expression.strip().split("\n", 1)
    load = f"""
    const fs = require("fs");
    {_program()};
    const read = (name) => fs.readFileSync({json.dumps(str(LIVE))} + "/" + name);
    const core = swapsim.core(read("core.wasm"), JSON.parse(read("core.json")));
    const settings = JSON.parse(fs.readFileSync(0));
    {scripts}
    {"".join(before)}
    console.log(JSON.stringify({last}));
    """
    return list(json.loads(_node(load, settings)))


def in_chromium(page: Page, settings: Settings) -> list[dict[str, Any]]:
    """Run settings on a page."""
    wasm = base64.b64encode((LIVE / "core.wasm").read_bytes()).decode()
    page.evaluate(f"{_program()}; true")
    page.evaluate(
        f"var bytes = Uint8Array.from(atob('{wasm}'), (each) => each.charCodeAt(0)); true"
    )
    page.evaluate(f"var layout = {(LIVE / 'core.json').read_text(encoding='utf-8')}; true")
    found: list[dict[str, Any]] = json.loads(
        page.evaluate(f"{RUN.strip()}(bytes, layout, {json.dumps(settings)})")
    )
    return found
