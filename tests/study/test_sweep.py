# SPDX-License-Identifier: GPL-2.0-or-later
"""Sweeps: any executor, the order of the points, nothing left behind."""

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

import pytest

from swapsim import study
from swapsim.errors import ConfigError


def square(point: int) -> int:
    """Return the square; the first points take the longest."""
    time.sleep(0.02 if point < 3 else 0)
    return point * point


def where(point: int) -> tuple[int, int]:
    """Return the point and the process."""
    return point, os.getpid()


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


def test_new_processes_do_the_work_by_default() -> None:
    """Without an executor other processes run the points, and are gone afterwards."""
    found = study.run(where, list(range(9)), batch_points=2)
    assert [point for point, _ in found] == list(range(9))
    pids = {pid for _, pid in found}
    assert os.getpid() not in pids
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_no_points_give_no_results() -> None:
    """An empty sweep is no error."""
    assert study.run(square, []) == []


@pytest.mark.parametrize("make", [study.SerialExecutor, lambda: ThreadPoolExecutor(2), None])
def test_an_error_names_its_point(make: "type[Executor] | None") -> None:
    """What a task raises comes through with a note of the point."""
    executor = make() if make else None
    with pytest.raises(ValueError, match="5 is bad") as caught:
        study.run(partial(fail_at, 5), list(range(30)), executor=executor, batch_points=2)
    assert caught.value.__notes__ == ["at the point 5"]


def test_a_batch_has_a_point() -> None:
    """Batches of none would never end."""
    with pytest.raises(ConfigError, match="batch_points=0: choose at least 1"):
        study.run(square, [1], batch_points=0)


def test_progress_counts_points_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """A bar is shown only if asked for."""
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
    time.sleep(60)

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


def test_a_script_without_a_guard_is_told_what_it_lacks(tmp_path: Path) -> None:
    """A plain script that ranks a policy: one error, of the script that was started, and why."""
    script = tmp_path / "plain.py"
    script.write_text(UNGUARDED)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.count("Traceback") == 1, run.stderr
    assert "put what it does below 'if __name__ == \"__main__\":'" in run.stderr.splitlines()[-1]


def alive_in_group(group: int) -> list[str]:
    """Return the processes of a group that still run."""
    alive = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        # A process may go away while it is looked at.
        with suppress(OSError):
            state, _, its_group, *_ = stat.read_text().rpartition(")")[2].split()
            if int(its_group) == group and state != "Z":
                alive.append(stat.parent.name)
    return alive


def long_sweep(folder: Path) -> "subprocess.Popen[str]":
    """Start a sweep of a minute a point, and wait until one has begun."""
    script = folder / "long.py"
    script.write_text(LONG)
    begun = folder / "begun"
    begun.mkdir()
    process = subprocess.Popen(
        [sys.executable, script, begun], stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    while not any(begun.iterdir()):
        assert process.poll() is None
        time.sleep(0.01)
    return process


def wait_until_gone(group: int, seconds: float) -> None:
    """Fail if a process of a group stays for long."""
    start = time.monotonic()
    while alive_in_group(group):
        assert time.monotonic() - start < seconds
        time.sleep(0.05)


class Losing(Executor):
    """Loses a Ctrl-C at each call, of which none ever ends."""

    def submit(self, *_: Any, **__: Any) -> "Future[Any]":
        """Take a call and leave it."""
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0)
        return Future()


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_that_was_lost_ends_a_sweep() -> None:
    """Nothing else would: a KeyboardInterrupt that a library drops is seen by nobody."""
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


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize("_again", range(5))
def test_an_interrupt_ends_a_sweep_at_once(tmp_path: Path, _again: int) -> None:
    """Ctrl-C ends workers in the middle of a point, and those that are just starting."""
    process = long_sweep(tmp_path)
    # As a terminal does: to all processes of the group.
    os.killpg(process.pid, signal.SIGINT)
    start = time.monotonic()
    _, complaint = process.communicate(timeout=30)
    assert time.monotonic() - start < 5
    assert process.returncode != 0
    assert complaint.count("KeyboardInterrupt") == 1
    wait_until_gone(process.pid, 5)


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_one_that_sweeps(tmp_path: Path, number: signal.Signals) -> None:
    """When that one alone gets a signal, its workers end, too."""
    process = long_sweep(tmp_path)
    process.send_signal(number)
    process.communicate(timeout=30)
    wait_until_gone(process.pid, 10)
