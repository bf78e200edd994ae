# SPDX-License-Identifier: GPL-2.0-or-later
"""A command that is started without stdin, stdout or stderr."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = Path(__file__).parents[1] / "data" / "tracefs-6.1.txt"

COMMANDS = """
import runpy, sys
codes = []
for command in COMMANDS:
    sys.argv[1:] = command
    try:
        runpy.run_module("swapsim", run_name="__main__")
    except SystemExit as end:
        codes.append(end.code)
import os
os._exit(0 if codes == [0, 0, 2] else 1)
"""


def run_without(closed: tuple[int, ...], *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Python with these of its files closed."""

    def close() -> None:
        for number in closed:
            os.close(number)

    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        preexec_fn=close,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("closed", [(2,), (1,), (0,), (0, 1, 2)])
def test_commands_run_without_their_files(closed: tuple[int, ...], tmp_path: Path) -> None:
    """A file that a library opens does not get the number of a closed one."""
    trace = str(tmp_path / "trace")
    commands = [["import", str(TEXT), "-o", trace], ["info", trace], ["info", "missing"]]
    program = COMMANDS.replace("COMMANDS", repr(commands))
    assert run_without(closed, "-c", program).returncode == 0


def test_closed_standard_input_is_an_empty_text(tmp_path: Path) -> None:
    """An import of it is refused in one line."""
    done = run_without((0,), "-m", "swapsim", "import", "-", "-o", tmp_path / "trace")
    assert done.returncode == 2
    assert done.stderr.startswith("swapsim: standard input: the text is empty")
