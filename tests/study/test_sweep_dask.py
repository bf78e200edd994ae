# SPDX-License-Identifier: GPL-2.0-or-later
"""Sweeps on a Dask scheduler with two worker processes: the serial results, whatever happens."""

import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread

import polars as pl
import pytest
from distributed import Client, LocalCluster, Scheduler

from swapsim import study
from swapsim.errors import SwapsimError
from swapsim.machine.config import MachineConfig
from swapsim.machine.run import run

POINTS = [
    MachineConfig(
        kernel=kernel,
        nodes=2,
        writers=2,
        walkers=2,
        pages=3000,
        frames=4096,
        slots=2**16,
        warmup_ns=1_000_000,
        duration_ns=3_000_000,
        seed=seed,
    )
    for kernel in ("4.8", "5.8")
    for seed in range(1, 7)
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Give a scheduler, two workers and a client, all on this machine."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=str(tmp_path_factory.mktemp("dask")),
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def serial() -> list[pl.DataFrame]:
    """Give the serial run's results."""
    return study.run(run, POINTS, executor=study.SerialExecutor())


def assert_same(found: list[pl.DataFrame], wanted: list[pl.DataFrame]) -> None:
    """Compare schemas, rows and the bits of each number."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.schema == other.schema
        assert one.equals(other)
        assert one["value"].to_numpy().tobytes() == other["value"].to_numpy().tobytes()


def run_slowly(marks: Path, config: MachineConfig) -> pl.DataFrame:
    """Run a machine, and leave the number of its process."""
    (marks / f"{config.kernel}-{config.seed}-{os.getpid()}").touch()
    time.sleep(0.2)
    return run(config)


def processes(marks: Path) -> set[int]:
    """Return the processes that began a run."""
    return {int(mark.name.rpartition("-")[2]) for mark in marks.iterdir()}


def kill_one(marks: Path, killed: list[int]) -> None:
    """Kill a process that is in its third run."""
    while not killed:
        time.sleep(0.02)
        for pid in processes(marks):
            if len(list(marks.glob(f"*-{pid}"))) >= 3:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                return


@pytest.mark.parametrize("batch_points", [1, 5])
def test_two_workers_give_the_serial_results(
    client: Client, serial: list[pl.DataFrame], tmp_path: Path, batch_points: int
) -> None:
    """A Dask client's executor gives bit for bit what a serial run gives, and both work."""
    task = partial(run_slowly, tmp_path)
    found = study.run(task, POINTS, executor=client.get_executor(), batch_points=batch_points)
    assert_same(found, serial)
    workers = set(client.run(os.getpid).values())
    print(f"{len(found)} runs on the workers {sorted(processes(tmp_path))}")
    assert processes(tmp_path) == workers
    assert os.getpid() not in workers


@pytest.mark.parametrize("stored", [False, True])
def test_a_killed_worker_loses_nothing(
    client: Client, serial: list[pl.DataFrame], tmp_path: Path, stored: bool
) -> None:
    """A worker that is killed in the middle is replaced, its batch runs again."""
    marks = tmp_path / "marks"
    marks.mkdir()
    killed: list[int] = []
    killer = Thread(target=kill_one, args=(marks, killed), daemon=True)
    killer.start()
    found = study.run(
        partial(run_slowly, marks),
        POINTS,
        executor=client.get_executor(),
        batch_points=1,
        folder=tmp_path / "sweep" if stored else None,
    )
    killer.join()
    again = len(list(marks.iterdir())) - len(POINTS)
    print(f"worker {killed[0]} killed, {again} of {len(POINTS)} runs begun twice")
    assert_same(found, serial)
    assert killed[0] in processes(marks)
    assert again >= 1


def kill_the_worker(config: MachineConfig) -> pl.DataFrame:
    """Kill the own process at one config."""
    if config.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(config)


def allow_failures(number: int, dask_scheduler: Scheduler) -> None:
    """Set how many workers a task may lose."""
    dask_scheduler.allowed_failures = number


def test_a_task_that_kills_its_worker_is_named(client: Client) -> None:
    """Dask gives up after some workers, here after the first: one line says at which config."""
    client.run_on_scheduler(allow_failures, 0)
    try:
        with pytest.raises(SwapsimError, match=r"killed repeatedly at the point .*seed=2[,)]"):
            study.run(kill_the_worker, POINTS[1:2], executor=client.get_executor())
    finally:
        client.run_on_scheduler(allow_failures, 3)


def test_what_dask_did_another_executor_goes_on_from(
    client: Client, serial: list[pl.DataFrame], tmp_path: Path
) -> None:
    """A folder that Dask filled is the folder of a serial run, too, and no run begins again."""
    folder = tmp_path / "sweep"
    executor = client.get_executor()
    study.run(run, POINTS, executor=executor, batch_points=2, folder=folder)
    before = sorted(folder.iterdir())
    next(folder.glob("batch-00003-*")).unlink()
    found = study.run(run, POINTS, executor=study.SerialExecutor(), batch_points=2, folder=folder)
    assert_same(found, serial)
    assert sorted(folder.iterdir()) == before


def test_an_error_on_a_worker_names_its_point(client: Client) -> None:
    """What a task raises on a worker comes through with a note of the point."""
    bad = [*POINTS[:3], "no config"]
    with pytest.raises(AttributeError) as caught:
        study.run(run, bad, executor=client.get_executor(), batch_points=1)
    assert caught.value.__notes__ == ["at the point no config"]
