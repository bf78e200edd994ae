# SPDX-License-Identifier: GPL-2.0-or-later
"""Sweeps on a Dask scheduler with two worker processes have the serial results."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import polars as pl
import pytest

from swapsim import study
from swapsim.errors import SwapsimError
from swapsim.machine.config import MachineConfig
from swapsim.machine.run import run
from swapsim.study import cluster

if TYPE_CHECKING:  # Dask takes a second of each process that only collects tests.
    from distributed import Client, Scheduler

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
def client(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Client]":
    """Give a scheduler, two workers and a client, all on this machine."""
    import dask
    from distributed import Client, LocalCluster

    with (
        # A cluster of this machine drops a worker whose successor takes longer to start.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "5 minutes"}),
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


def test_two_workers_give_the_serial_results(
    client: "Client", serial: list[pl.DataFrame], tmp_path: Path
) -> None:
    """The results on a Dask client's executor are identical, and both workers take part."""
    task = partial(run_slowly, tmp_path)
    found = study.run(task, POINTS, executor=client.get_executor(), batch_points=5)
    assert_same(found, serial)
    workers = set(client.run(os.getpid).values())
    assert processes(tmp_path) == workers
    assert os.getpid() not in workers


def test_a_killed_worker_is_replaced(
    client: "Client", serial: list[pl.DataFrame], tmp_path: Path
) -> None:
    """The batch of a worker that is killed runs again; another executor continues in the folder."""
    marks = tmp_path / "marks"
    marks.mkdir()
    killed: list[int] = []
    killer = Thread(target=kill_one, args=(marks, killed), daemon=True)
    killer.start()
    folder = tmp_path / "sweep"
    sweep = partial(study.run, partial(run_slowly, marks), POINTS, batch_points=1, folder=folder)
    assert_same(sweep(executor=client.get_executor()), serial)
    killer.join()
    begun = len(list(marks.iterdir()))
    assert killed[0] in processes(marks)
    assert begun > len(POINTS)
    before = sorted(folder.iterdir())
    next(folder.glob("batch-00003-*")).unlink()
    assert_same(sweep(executor=study.SerialExecutor()), serial)
    assert sorted(folder.iterdir()) == before
    assert len(list(marks.iterdir())) == begun + 1


def kill_the_worker(config: MachineConfig) -> pl.DataFrame:
    """Kill the own process at one config."""
    if config.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(config)


def allow_failures(number: int, dask_scheduler: "Scheduler") -> None:
    """Set how many workers a task may lose."""
    dask_scheduler.allowed_failures = number


def test_a_task_that_kills_its_worker_is_named(client: "Client") -> None:
    """Dask gives up after some workers, here after the first: one line says at which of a batch."""
    client.run_on_scheduler(allow_failures, 0)
    try:
        with pytest.raises(
            SwapsimError, match=r"killed repeatedly at the point .*seed=2\)"
        ) as named:
            study.run(kill_the_worker, POINTS[:3], executor=client.get_executor())
    finally:
        client.run_on_scheduler(allow_failures, 3)
    assert "\n" not in str(named.value)
    assert "seed=1" not in str(named.value)


def test_a_worker_with_another_package_is_refused(
    client: "Client", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other code would return other results: the line names the worker's machine."""
    monkeypatch.setattr(cluster, "installation", lambda: "other")
    with pytest.raises(
        SwapsimError, match=rf"worker on {socket.gethostname()} has another swapsim"
    ):
        study.run(run, POINTS[:1], executor=client.get_executor())


def test_a_client_in_place_of_its_executor_is_refused(client: "Client") -> None:
    """The line says how to make one of the other."""
    with pytest.raises(SwapsimError, match=r"give executor\.get_executor\(\)$"):
        study.run(run, POINTS[:1], executor=client)


def test_an_error_on_a_worker_names_its_point(client: "Client") -> None:
    """The error of a task on a worker is raised with a note of the point."""
    bad = [*POINTS[:3], "no config"]
    with pytest.raises(
        SwapsimError, match="config='no config': run needs a MachineConfig"
    ) as caught:
        study.run(run, bad, executor=client.get_executor(), batch_points=1)
    assert caught.value.__notes__ == ["at the point no config"]
