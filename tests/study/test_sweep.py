# SPDX-License-Identifier: GPL-2.0-or-later
"""Sweeps: any executor, the order of the points, no process after the end."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from swapsim import study
from swapsim.errors import ConfigError
from swapsim.patches.batched_removal.studies import holds


def square(point: int) -> int:
    """Return the square; the first points take the longest."""
    time.sleep(0.02 if point < 3 else 0)
    return point * point


def fail_at(bad: int, point: int) -> int:
    """Raise at one point."""
    if point == bad:
        raise ValueError(f"{point} is bad")
    return point


@pytest.mark.parametrize("batch_points", [1, 3, 100])
def test_results_come_in_the_order_of_the_points(batch_points: int) -> None:
    """Threads that end out of order give what a serial run gives."""
    points = list(range(20))
    serial = study.run(square, points, executor=study.SerialExecutor(), batch_points=batch_points)
    with ThreadPoolExecutor(4) as pool:
        assert study.run(square, points, executor=pool, batch_points=batch_points) == serial
        # The executor stays open: it is its owner's.
        assert pool.submit(square, 3).result() == 9
    assert serial == [point * point for point in points]


def holds_and_process(point: tuple[float, int]) -> pl.DataFrame:
    """Return rows of the study batched-removal-holds-by-list, and the process."""
    return holds(point).with_columns(pid=os.getpid())


def test_new_processes_run_the_points_by_default() -> None:
    """They return the same rows, and end afterwards."""
    points = [(share, pages) for share in (0.5, 1.0) for pages in (1, 32)]
    here = study.table(holds, points, executor=study.SerialExecutor(), batch_points=2)
    found = study.table(holds_and_process, points, batch_points=2)
    assert found.drop("pid").rows() == here.rows()
    pids = set(found["pid"])
    assert os.getpid() not in pids
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize("make", [study.SerialExecutor, lambda: ThreadPoolExecutor(2), None])
def test_an_error_names_its_point(make: "type[Executor] | None") -> None:
    """The error of a task is raised with a note of the point."""
    executor = make() if make else None
    with pytest.raises(ValueError, match="5 is bad") as caught:
        study.run(partial(fail_at, 5), list(range(30)), executor=executor, batch_points=2)
    assert caught.value.__notes__ == ["at the point 5"]


def test_a_batch_has_a_point() -> None:
    """An empty sweep is valid, batches of zero points are not."""
    assert study.run(square, []) == []
    with pytest.raises(ConfigError, match="batch_points=0: choose at least 1"):
        study.run(square, [1], batch_points=0)


def test_progress_counts_points_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """A bar is shown only on request."""
    study.run(square, [1, 2, 3], executor=study.SerialExecutor())
    assert capsys.readouterr().err == ""
    study.run(square, [1, 2, 3], executor=study.SerialExecutor(), progress=True)
    assert "3/3" in capsys.readouterr().err


LONG = """
import sys, time
from pathlib import Path
from swapsim import study

def rest(point):
    (Path(sys.argv[1]) / str(point)).touch()
    time.sleep(10**6)

if __name__ == "__main__":
    study.run(rest, list(range(50)), batch_points=1)
"""


UNGUARDED = """
import swapsim
from swapsim import slots
from swapsim.slots import ChurnConfig, SlotsConfig

@swapsim.policy(base_of="cpu", initial="random")
def next_but_one(base, next, highest, trunk_size):
    return 1 + (next + trunk_size) % highest

device, churn = SlotsConfig(slots=4096), ChurnConfig(pages=512)
slots.one_at_a_time(device, churn, {"cpus": [2]}, policies=[next_but_one, "percpu"], seeds=2)
"""


def test_a_script_without_a_guard_ends_with_one_error(tmp_path: Path) -> None:
    """A plain script that ranks a policy: the error says what to add."""
    script = tmp_path / "plain.py"
    script.write_text(UNGUARDED)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.count("Traceback") == 1, run.stderr
    assert "put its calls below 'if __name__ == \"__main__\":'" in run.stderr.splitlines()[-1]


def test_a_script_from_standard_input_can_sweep() -> None:
    """New processes cannot read it again, and need not: its policy is sent as code."""
    command = [sys.executable, "-"]
    run = subprocess.run(command, input=UNGUARDED, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


class Losing(Executor):
    """Loses a Ctrl-C at each call; the calls do not end."""

    def submit(self, *_: Any, **__: Any) -> "Future[Any]":
        """Take a call and leave it."""
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0)
        return Future()


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_that_was_lost_ends_a_sweep() -> None:
    """A library may drop a KeyboardInterrupt."""
    with pytest.raises(KeyboardInterrupt):
        study.run(square, [1, 2, 3], executor=Losing())


def lose_at(bad: int, point: int) -> int:
    """Lose a Ctrl-C at one point, and refuse a later one."""
    assert point <= bad
    if point == bad:
        Losing().submit()
    return point


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_that_was_lost_ends_a_sweep_in_this_process() -> None:
    """No batch is begun after the one that lost it."""
    task = partial(lose_at, 1)
    with pytest.raises(KeyboardInterrupt):
        study.run(task, [0, 1, 2], executor=study.SerialExecutor(), batch_points=1)


def group_of(process: "subprocess.Popen[str]") -> list[str]:
    """Return the processes of a process's group that still run."""
    alive = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        # A process may end while /proc is read.
        with suppress(OSError):
            state, _, group, *_ = stat.read_text().rpartition(")")[2].split()
            if int(group) == process.pid and state != "Z":
                alive.append(stat.parent.name)
    return alive


def long_sweep(tmp_path: Path, *, starting: bool) -> "subprocess.Popen[str]":
    """Start a sweep of points without an end; wait until its processes start, or a point begins."""
    script, begun = tmp_path / "long.py", tmp_path / "begun"
    script.write_text(LONG)
    begun.mkdir()
    process = subprocess.Popen(
        [sys.executable, script, begun], stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    # Two are the sweep and multiprocessing's resource tracker.
    while not any(begun.iterdir()) and not (starting and len(group_of(process)) > 2):
        assert process.poll() is None
        time.sleep(0.01)
    return process


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize(
    ("number", "to_all", "starting"),
    [
        # A terminal sends Ctrl-C to all processes of the group.
        (signal.SIGINT, True, True),
        (signal.SIGINT, True, False),
        (signal.SIGINT, False, False),
        (signal.SIGTERM, False, False),
        (signal.SIGKILL, False, False),
    ],
)
def test_a_signal_ends_all_processes(
    tmp_path: Path, number: signal.Signals, to_all: bool, starting: bool
) -> None:
    """Workers end in the middle of a point, and while they start; Ctrl-C is one error."""
    process = long_sweep(tmp_path, starting=starting)
    (os.killpg if to_all else os.kill)(process.pid, number)
    _, complaint = process.communicate(timeout=300)
    assert process.returncode != 0
    assert complaint.splitlines().count("KeyboardInterrupt") == (number == signal.SIGINT)
    end = time.monotonic() + 300
    while alive := group_of(process):
        assert time.monotonic() < end, f"still running: {alive}"
        time.sleep(0.05)
