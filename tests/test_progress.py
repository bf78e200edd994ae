# SPDX-License-Identifier: GPL-2.0-or-later
"""Bars show on a terminal when they are asked for, and in a notebook when it takes long."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from IPython import display

from swapsim import progress, study

Shown = list[dict[str, Any]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Make this a notebook; give what it shows."""
    found: Shown = []
    monkeypatch.setattr(progress, "_in_notebook", lambda: True)
    monkeypatch.setattr(display, "display", lambda data, **_: found.append(data))
    return found


def test_a_terminal_shows_what_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """A bar goes to stderr, or missing."""
    for asked in (False, True):
        with progress.bar(2, "sweep", "runs", shown=asked) as bar:
            bar.update(2)
        printed = capsys.readouterr()
        assert printed.out == ""
        assert ("2/2" in printed.err) == asked


def test_a_quick_cell_shows_nothing(shown: Shown) -> None:
    """Before five seconds have gone there is no bar."""
    with progress.bar(2, "sweep", "runs", shown=False) as bar:
        bar.update(2)
    assert shown == []


def test_a_long_cell_shows_a_widget_and_no_text(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It appears once, with what was done before it, and has nothing that could be compared."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.bar(9, "sweep", "runs", shown=False) as bar:
        bar.update(3)
        assert shown == []
        now[0] = progress.LONG_SECONDS + 1
        bar.update()
        bar.update()
        assert bar._bar.n == 5  # type: ignore[attr-defined]
    assert [list(data) for data in shown] == [[progress.WIDGET]]


def test_a_sweep_shows_a_bar_before_its_first_run_is_done(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that takes long shows a bar by itself, so that no cell stays empty."""
    monkeypatch.setattr(progress, "LONG_SECONDS", 0.1)

    def run(_: int) -> bool:
        for _ in range(600):
            if shown:
                return True
            time.sleep(0.05)
        return False

    with ThreadPoolExecutor(1) as executor:
        assert study.run(run, [1], executor=executor) == [True]


def test_things_that_take_long_are_counted(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comes once and in order, and there is a bar as soon as it takes long."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    seen = []
    for thing in progress.over(("a", "b", "c"), "verify", "traces"):
        seen.append((thing, len(shown)))
        now[0] += progress.LONG_SECONDS
    assert seen == [("a", 0), ("b", 1), ("c", 1)]


def test_a_bar_that_is_asked_for_shows_at_once(shown: Shown) -> None:
    """Who knows that it takes long need not wait."""
    with progress.bar(2, "simulate", "results", shown=True):
        assert len(shown) == 1
