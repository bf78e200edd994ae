# SPDX-License-Identifier: GPL-2.0-or-later
"""A command under a limit of its memory: one line, however a library ends."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from swapsim import bounded, interrupt

LIMIT_MB = 4096
TOO_LITTLE = (
    "swapsim: ended without an answer, as a rule for want of memory: "
    f"raise the limit of {LIMIT_MB} MB (ulimit)\n"
)

ENDINGS = {
    "abort": "import os; os.write(2, b'memory allocation failed'); os.abort()",
    "exit": "import os; os.write(2, b'giving up\\n' * 1000); os._exit(1)",
    "raise": "raise MemoryError",
    "kill": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
}


def started(*command: str, library: str | None = None, folder: Path) -> "subprocess.Popen[str]":
    """Start the command under the limit, possibly with another text as a library."""
    if library is not None:
        (folder / "polars.py").write_text(library)
    limit = LIMIT_MB << 20
    return subprocess.Popen(
        [sys.executable, "-m", "swapsim", *command],
        env=os.environ | {"PYTHONPATH": str(folder)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("how", ENDINGS)
def test_a_library_may_end_the_process(how: str, tmp_path: Path) -> None:
    """Its output is not shown, and its exit status not returned."""
    process = started("info", "missing", library=ENDINGS[how], folder=tmp_path)
    assert process.communicate() == ("", TOO_LITTLE)
    assert process.returncode == 2


@pytest.mark.parametrize(
    ("command", "code", "out", "said"),
    [(["--version"], 0, "swapsim", ""), (["info", "missing"], 2, "", "swapsim: missing")],
)
def test_a_result_is_the_same(
    command: list[str], code: int, out: str, said: str, tmp_path: Path
) -> None:
    """Exit status, stdout and stderr do not change if there is enough memory."""
    process = started(*command, folder=tmp_path)
    printed = process.communicate()
    assert process.returncode == code
    assert printed[0].startswith(out)
    assert printed[1].startswith(said)
    assert bool(printed[0]) == bool(out)
    assert printed[1].count("\n") == bool(said)


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize("number", interrupt.SIGNALS)
def test_a_signal_reaches_the_child(number: int, tmp_path: Path) -> None:
    """The process that gets it passes it on to the one that works."""
    sleeps = "import os, signal\nos.write(1, b'here\\n')\nsignal.pause()"
    process = started("info", "missing", library=sleeps, folder=tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.Signals(number))
    assert process.communicate() == ("", f"{interrupt.TEXT}\n")
    assert process.returncode == interrupt.status(number)


def test_a_limit_too_low_for_the_libraries_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """No child is started, as Python may try to import one for ever."""
    assert bounded.in_a_child(lambda: pytest.fail("a child was started"), 900 << 20) == 2
    said = "swapsim: needs 1024 MB of memory and more: raise the limit of 900 MB (ulimit)\n"
    assert capsys.readouterr() == ("", said)
