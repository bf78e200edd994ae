# SPDX-License-Identifier: GPL-2.0-or-later
"""A real browser for tests: Debian's chromium, controlled over its debugging socket."""

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from websocket import WebSocket, create_connection

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "chromium is not installed (Debian: chromium), so no page is checked"
SLOW = re.compile(r"Plugin \S+ .*(?:took [\d.]+ms|is taking too long) to activate")
"""What JupyterLab warns of on a busy machine."""
PATIENCE_SECONDS = 300
"""Time limit of a wait; on a busy machine, too, none comes near."""


class Page:
    """A page of a browser, the addresses that it fetched, its console, and a mouse."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._number = 0
        self.fetched: list[str] = []
        self.complaints: list[str] = []
        """Warnings and errors of the console, with the exceptions of scripts."""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._ask(f"{domain}.enable")

    _session: dict[str, str] = {}  # noqa: RUF012 - until the page is attached, the browser itself

    def open(
        self, address: str, *, width: int = 1100, height: int = 900, dark: bool = False
    ) -> None:
        """Load an address in a window of this size and wait until it is complete."""
        self.fetched.clear()
        self.complaints.clear()
        self.resize(width=width, height=height, dark=dark)
        self._ask("Page.navigate", url=address)
        self.wait_for(
            f"location.href.startsWith({json.dumps(address)}) && document.readyState == 'complete'"
        )

    def resize(self, *, width: int, height: int, dark: bool) -> None:
        """Give the window another size, and the page its light or dark colours."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", media="", features=[scheme])

    def evaluate(self, script: str) -> Any:
        """Return the value of a script on the page."""
        answer = self._ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, script: str, *, doing: Callable[[], None] | None = None) -> Any:
        """Return the value of a script as soon as it is true, while one does something again.

        A turn of the wheel or a move of the mouse is lost where the page still scrolls or grows:
        what a user repeats each second, the test repeats.
        """
        until = time.monotonic() + PATIENCE_SECONDS
        again = time.monotonic()
        while not (found := self.evaluate(script)):
            assert time.monotonic() < until, f"never true: {script}"
            if doing is not None and time.monotonic() >= again:
                doing()
                again = time.monotonic() + 1
            time.sleep(0.1)
        return found

    def middle_of(self, selector: str) -> tuple[float, float]:
        """Return the position in the window of the middle of an element."""
        box = self.evaluate(
            f"(() => {{const box = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]})()"
        )
        return box[0], box[1]

    def point_at(self, selector: str) -> None:
        """Scroll to an element and move the mouse onto its middle."""
        shown = f"document.querySelector({json.dumps(selector)})"
        self.evaluate(f"{shown}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        x, y = self.middle_of(selector)
        self.mouse(x - 2, y)
        self.mouse(x, y)

    def mouse(self, x: float, y: float, *, click: bool = False, **more: Any) -> None:
        """Move the mouse to a place of the window, and click there."""
        kinds = ["mouseMoved", "mousePressed", "mouseReleased"] if click else ["mouseMoved"]
        for kind in kinds:
            button = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {}
            self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button, **more)

    def wheel(self, selector: str, by: float, *, ctrl: bool = False) -> None:
        """Move the mouse to the middle of an element and turn the wheel."""
        self.point_at(selector)
        x, y = self.middle_of(selector)
        self._ask(
            "Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by,
            modifiers=2 if ctrl else 0,
        )  # fmt: skip

    def press(self, key: str, number: int) -> None:
        """Press a key, by its name and its number, in the element that has the focus."""
        for kind in ("keyDown", "keyUp"):
            self._ask(
                "Input.dispatchKeyEvent",
                type=kind, key=key, code=key, windowsVirtualKeyCode=number,
            )  # fmt: skip

    def write(self, text: str) -> None:
        """Type a text into the element that has the focus."""
        self._ask("Input.insertText", text=text)

    @contextmanager
    def without_scripts(self) -> Iterator[None]:
        """Disable the scripts of pages."""
        self._ask("Emulation.setScriptExecutionDisabled", value=True)
        try:
            yield
        finally:
            self._ask("Emulation.setScriptExecutionDisabled", value=False)

    def on_paper(self) -> None:
        """Show the page as it is printed."""
        self._ask("Emulation.setEmulatedMedia", media="print")

    def picture(self, path: Path) -> None:
        """Store a picture of the window."""
        shown = self._ask("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shown["data"]))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        request = {"id": self._number, "method": method, "params": params, **self._session}
        self._socket.send(json.dumps(request))
        while (answer := json.loads(self._socket.recv())).get("id") != self._number:
            self._note(answer.get("method"), answer.get("params", {}))
        assert "error" not in answer, answer["error"]
        result: dict[str, Any] = answer["result"]
        return result

    def _note(self, event: str | None, params: dict[str, Any]) -> None:
        """Record a fetched address, or a warning or error of the console."""
        match event:
            case "Network.requestWillBeSent":
                self.fetched.append(params["request"]["url"])
            case "Runtime.consoleAPICalled" if params["type"] in ("warning", "error", "assert"):
                said = " ".join(str(each.get("value", each)) for each in params["args"])
                if not SLOW.search(said):
                    self.complaints.append(f"{params['type']}: {said}")
            case "Runtime.exceptionThrown":
                self.complaints.append(str(params["exceptionDetails"]))
            case "Log.entryAdded" if params["entry"]["level"] in ("warning", "error"):
                entry = params["entry"]
                self.complaints.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}")


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """Run a browser without a window, and give one page of it."""
    command = [
        str(CHROMIUM),
        "--headless=new",
        "--no-sandbox",
        "--hide-scrollbars",
        "--disable-gpu",
    ]
    command += [
        "--remote-debugging-port=0",
        "--remote-allow-origins=*",
        f"--user-data-dir={profile}",
    ]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        port = profile / "DevToolsActivePort"
        until = time.monotonic() + PATIENCE_SECONDS
        while not (port.is_file() and len(lines := port.read_text().split()) == 2):
            assert process.poll() is None, "chromium ended"
            assert time.monotonic() < until, "chromium never listened"
            time.sleep(0.05)
        address = f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        with closing(create_connection(address, timeout=PATIENCE_SECONDS)) as socket:
            yield Page(socket)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
