# SPDX-License-Identifier: GPL-2.0-or-later
"""Too little memory for one allocation of the C core."""

import os
import subprocess
import sys
from pathlib import Path

import attack
import pytest
from seeds import MINUTES

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def failing_realloc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the library that makes an allocation of the core fail."""
    library = tmp_path_factory.mktemp("preload") / "failing_realloc.so"
    source = HERE / "failing_realloc.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return library


@pytest.mark.parametrize("verb", ["writeback", "removal", "decisions", "stalls", "slots"])
def test_allocations_of_the_core_fail(verb: str, tmp_path: Path, failing_realloc: Path) -> None:
    """A failure of any request of a verb is an error of one line, and the next run succeeds."""
    replay, command = attack.VERBS[verb]
    trace = attack.small_trace(replay, tmp_path / "trace")
    # A replay by twelve rule sets makes the same requests twelve times: some of them suffice.
    most = 10 if MINUTES == "0" else 200 if verb == "decisions" else 10**6
    done = subprocess.run(
        [sys.executable, HERE / "failing.py", str(most), *command(trace)],
        env=os.environ | {"LD_PRELOAD": str(failing_realloc)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    print(f"{verb}: {done.stdout.strip()} allocations")
