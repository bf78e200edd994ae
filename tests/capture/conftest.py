# SPDX-License-Identifier: GPL-2.0-or-later
"""The rig's modules, which are a package next to its programs."""

import signal
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import SimpleNamespace

import pytest

from swapsim.io import data_root

CAPTURE = data_root() / "capture"


@pytest.fixture
def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., str]]:
    """Return a function that calls a program of the rig, which must exit with 2, for its error."""
    monkeypatch.syspath_prepend(str(CAPTURE))
    handler = signal.getsignal(signal.SIGTERM)

    def error_of(program: str, *arguments: str) -> str:
        try:
            status = import_module(program).main([*arguments])
        except SystemExit as usage:
            status = usage.code
        assert status == 2
        return capsys.readouterr().err

    yield error_of
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture(scope="session")
def rig() -> SimpleNamespace:
    """Return the rig's modules."""
    names = [path.stem for path in (CAPTURE / "rig").glob("[!_]*.py")]
    sys.path.insert(0, str(CAPTURE))
    try:
        return SimpleNamespace(**{name: import_module(f"rig.{name}") for name in names})
    finally:
        sys.path.remove(str(CAPTURE))
