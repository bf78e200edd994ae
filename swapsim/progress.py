# SPDX-License-Identifier: GPL-2.0-or-later
"""Long work: its bar, and Ctrl-C.

On a terminal a bar is shown on request, in a notebook when a cell takes long. A command records the
signal that interrupts it: Python drops a KeyboardInterrupt that is raised in a destructor or in a
callback from C, so loops over calls into C look for it (`check_interrupted`).
"""

import signal
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from tqdm import tqdm

Thing = TypeVar("Thing")
LONG_SECONDS: Final = 5.0  # A cell of a notebook that takes longer shows a bar without a request
WIDGET: Final = "application/vnd.jupyter.widget-view+json"
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_came: int | None = None
"""The signal that interrupted this command."""


def record_signals() -> None:
    """Let each of SIGNALS raise KeyboardInterrupt and be recorded; one that is ignored stays so."""
    sys.unraisablehook = _report_others
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, _interrupt)


def _report_others(lost: "sys.UnraisableHookArgs") -> None:
    """Print an exception that Python drops, except for a KeyboardInterrupt: that is recorded."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)


def _interrupt(number: int, _: object) -> None:
    global _came
    _came = number
    raise KeyboardInterrupt


def check_interrupted() -> None:
    """Raise KeyboardInterrupt if a signal was recorded, whatever became of its own exception."""
    if _came is not None:
        raise KeyboardInterrupt


@contextmanager
def interrupting() -> Iterator[None]:
    """End loops over calls into C in other threads, which get no KeyboardInterrupt."""
    global _came
    before, _came = _came, signal.SIGINT
    try:
        yield
    finally:
        _came = before


def exit_status() -> int:
    """Return the exit status of a command that a signal ended: 130, 143 or 129."""
    return 128 + (_came or signal.SIGINT)


@contextmanager
def bar(total: int, desc: str, unit: str, *, shown: bool) -> Iterator[Any]:
    """Yield a bar for a number of steps, whose ``update(n=1)`` counts."""
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


def over(things: Collection[Thing], desc: str, unit: str) -> Iterator[Thing]:
    """Yield things one by one; a notebook shows a `bar` if that takes long."""
    with bar(len(things), desc, unit, shown=False) as counted:
        for thing in things:
            yield thing
            counted.update()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class TextBar(tqdm):  # type: ignore[type-arg]
    """A bar without the thread of tqdm, which warns if it cannot start."""

    monitor_interval = 0


class _NotebookBar:
    """A bar that appears after a delay, as a widget, which nbval ignores."""

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
