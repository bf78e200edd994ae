# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress bars: on a terminal on request, in a notebook when a cell takes long.

A command that shows no bar within a second says on a terminal that it runs.
"""

import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol, TypeVar

from tqdm import tqdm

Thing = TypeVar("Thing")
LONG_SECONDS: Final = 5.0  # A cell of a notebook that takes longer shows a bar without a request

SILENT_SECONDS: Final = 1.0
"""A command on a terminal that has shown nothing for so long prints a line."""

_shows_bar = threading.Event()

WIDGET: Final = "application/vnd.jupyter.widget-view+json"


class Bar(Protocol):
    """A counter of work that is done."""

    def update(self, n: int = 1) -> object:
        """Count `n` more."""


@contextmanager
def bar(total: int, desc: str, unit: str, *, shown: bool) -> Iterator[Bar]:
    """Yield a bar for a number of steps."""
    if not _in_notebook():
        with TextBar(total=total, desc=desc, unit=f" {unit}", disable=not shown) as text:
            yield text
        return
    late = _NotebookBar(total, desc, unit, delay=0 if shown else LONG_SECONDS)
    try:
        late.update(0)
        yield late
    finally:
        late.close()


@contextmanager
def announced(command: str) -> Iterator[None]:
    """Print a line on a terminal if a command takes long and shows no bar."""

    def announce() -> None:
        if not _shows_bar.is_set():
            print(f"{command}: working ...", file=sys.stderr, flush=True)

    _shows_bar.clear()
    timer = threading.Timer(SILENT_SECONDS, announce)
    timer.daemon = True
    if sys.stderr.isatty():
        with suppress(RuntimeError):  # no thread can be started: a command works without it
            timer.start()
    try:
        yield
    finally:
        timer.cancel()


def over(things: Collection[Thing], desc: str, unit: str) -> Iterator[Thing]:
    """Yield things one by one; a notebook shows a `bar` if that takes long."""
    with bar(len(things), desc, unit, shown=False) as counted:
        for thing in things:
            yield thing
            counted.update()


def _in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which has imported IPython."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class TextBar(tqdm):  # type: ignore[type-arg]
    """A bar without the thread of tqdm, which warns if it cannot start."""

    monitor_interval = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.disable:
            _shows_bar.set()


class _NotebookBar:
    """A bar that appears after a delay, as a widget without text.

    The comparison of a notebook with its committed outputs ignores widgets, but not texts.
    """

    def __init__(self, total: int, desc: str, unit: str, *, delay: float) -> None:
        self._words: dict[str, Any] = {"total": total, "desc": desc, "unit": f" {unit}"}
        self._from = time.monotonic() + delay
        self._done = 0
        self._bar: Any = None

    def update(self, n: int = 1) -> None:
        self._done += n
        if self._bar is not None:
            self._bar.update(n)
        elif time.monotonic() >= self._from:
            self._show()

    def _show(self) -> None:
        from IPython.display import display
        from tqdm.notebook import tqdm as notebook_tqdm

        self._bar = notebook_tqdm(**self._words, initial=self._done, display=False, leave=False)
        place = {"model_id": self._bar.container.model_id, "version_major": 2, "version_minor": 0}
        display({WIDGET: place}, raw=True)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
