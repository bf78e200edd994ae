# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of one function on any executor, and studies: stored rows and their proof."""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from swapsim import progress
from swapsim import study as studies
from swapsim.errors import InputError, SwapsimError
from swapsim.machine import Machine
from swapsim.machine.running import run_rows as run_machine
from swapsim.study import Study

COLORS = pl.Enum(["red", "green"])
computed: list[int] = []
stops_at: list[int] = []


def rows(seed: int) -> pl.DataFrame:
    """Return a row with values that a file could change: odd floats, nulls, enums."""
    computed.append(seed)
    return pl.DataFrame(
        {
            "seed": [seed],
            "value": [0.1 * seed if seed else -0.0],
            "none": [None if seed % 2 else seed],
            "color": pl.Series([("red", "green")[seed % 2]], dtype=COLORS),
        },
        schema_overrides={"none": pl.Int64},
    )


toy = Study(name="toy", points=(0, 1, 2, 3, 4), run=rows, reads=("costs.csv",))


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of data with one table, and no stored result; run all points here."""
    (tmp_path / "costs.csv").write_text("name,value\nmap_ns,3\n")
    monkeypatch.setattr(studies, "data_root", lambda: tmp_path)
    monkeypatch.setattr(studies, "_workers", in_turn)
    computed.clear()
    return tmp_path


@contextmanager
def in_turn(executor: Executor | None) -> Iterator[Executor]:
    """Run in one thread by default, so that `computed` has an order."""
    with ThreadPoolExecutor(1) as threads:
        yield executor or threads


def test_stored_rows_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    """They are returned as they were and nothing is computed; one line names them."""
    assert toy.stale() == "not stored yet"
    assert toy.update()
    assert computed == [0, 1, 2, 3, 4]
    assert toy.stale() is None
    stored = toy()
    assert computed == [0, 1, 2, 3, 4]
    assert repr(stored.rows()) == repr(toy.compute().rows())
    assert stored.schema == rows(0).schema
    assert not capsys.readouterr().out


def test_the_same_rows_make_the_same_file() -> None:
    """If the rows have not changed, neither has the file, byte for byte."""
    assert toy.update()
    before = toy.path.read_bytes()
    assert not toy.update()
    toy.path.unlink()
    assert toy.update()
    assert toy.path.read_bytes() == before
    assert [path.name for path in toy.path.parent.iterdir()] == ["toy.parquet"]


def interrupted(seed: int) -> pl.DataFrame:
    """Return a row, or stop as by Ctrl-C."""
    if seed in stops_at:
        raise KeyboardInterrupt
    return rows(seed)


def test_an_interrupted_update_continues(data: Path) -> None:
    """It computes only the points that are missing, and all again if the data has changed."""
    study, folder = replace(toy, run=interrupted), data / "points"
    stops_at.append(3)
    with pytest.raises(KeyboardInterrupt):
        study.update(folder=folder)
    assert study.stale() == "not stored yet"
    stops_at.clear()
    computed.clear()
    assert study.update(folder=folder)
    assert computed == [3, 4]
    assert study.load().equals(toy.compute())
    other_data(data)
    computed.clear()
    study.update(folder=folder)
    assert computed == [0, 1, 2, 3, 4]


def other_data(data: Path) -> None:
    """Change a cost."""
    (data / "costs.csv").write_text("name,value\nmap_ns,4\n")


def other_points(_data: Path) -> None:
    """Store the rows of other points."""
    replace(toy, points=(0, 1)).update()


def other_frames(_data: Path) -> None:
    """Store rows that depend on another frame."""
    replace(toy, reads=("costs.csv", lambda: [rows(1)])).update()


def cut(_data: Path) -> None:
    """Lose the end of the file."""
    toy.path.write_bytes(toy.path.read_bytes()[:-9])


def wrong_rows(_data: Path) -> None:
    """Put other rows under the same digests."""
    metadata = dict(pl.read_parquet_metadata(toy.path))
    toy.compute().with_columns(pl.col("value") + 1).write_parquet(toy.path, metadata=metadata)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (other_data, "its inputs have changed"),
        (other_frames, "its inputs have changed"),
        (other_points, "its inputs have changed"),
        (cut, "its file is damaged"),
        (wrong_rows, "its file is damaged"),
    ],
)
def test_a_stale_result_is_computed(
    data: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], None], why: str
) -> None:
    """Other data, code or points, or a damaged file: all is computed, and a line says why."""
    toy.update()
    wanted = toy.load()
    change(data)
    computed.clear()
    assert toy.stale() == why
    assert toy().equals(wanted)
    assert toy.load().equals(wanted)
    assert computed == [0, 1, 2, 3, 4] * 2
    assert f"toy: {why}: computed here\n" in capsys.readouterr().err


def test_a_sample_that_differs_is_an_error() -> None:
    """The last bit and the order count, and the line names the file and what to do."""
    stored = toy.compute()
    assert [toy.check(stored, pick) for pick in range(7)] == [1] * 7
    wrong = stored.with_columns(pl.when(seed=3).then(0.3).otherwise("value").alias("value"))
    assert toy.check(wrong, 2) == 1
    with pytest.raises(SwapsimError, match=r"toy\.parquet: a sample .*\(3, .*simulate toy"):
        toy.check(wrong, 3)
    with pytest.raises(SwapsimError, match="is not the same"):
        toy.check(stored.drop("none"))


def test_a_sample_is_of_a_quick_point() -> None:
    """Others may take too long."""
    quick = replace(toy, quick=lambda seed: seed > 2)
    stored = quick.compute()
    computed.clear()
    assert [quick.check(stored, pick) for pick in range(3)] == [1, 1, 1]
    assert computed == [3, 4, 3]


def test_a_study_may_have_its_own_sample() -> None:
    """Its function takes the stored rows and the number."""
    own = replace(toy, sample=lambda stored, pick: stored[pick : pick + 2])
    assert own.check(toy.compute(), 3) == 2


def test_a_pattern_that_matches_no_file_is_an_error() -> None:
    """By a typing error, a change of the data would not be noticed."""
    toy.update()
    with pytest.raises(InputError, match=r"cots\.csv"):
        replace(toy, reads=("costs.csv", "cots.csv"))()


def test_all_rows_are_compared_with_those_that_are_stored() -> None:
    """The last bit counts, and so does the order."""
    toy.update()
    assert toy.is_reproduced()
    assert not replace(toy, run=nearly).is_reproduced()
    assert not replace(toy, points=(1, 0, 2, 3, 4)).is_reproduced()


def nearly(seed: int) -> pl.DataFrame:
    """Return the rows with a bit that differs."""
    return rows(seed).with_columns(pl.col("value") * (1 + 2**-52))


def square(point: int) -> int:
    """Return the square; the first points take the longest."""
    time.sleep(0.02 if point < 3 else 0)
    return point * point


def fail_at(bad: int, point: int) -> int:
    """Raise at one point."""
    if point == bad:
        raise ValueError(f"{point} is bad")
    return point


def processes() -> Executor:
    """Return a pool of processes, as a caller may bring one."""
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


def dask() -> Executor:
    """Return the executor of a Dask client, whose workers are processes of this machine."""
    from distributed import Client

    client = Client(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
    executor: Executor = client.get_executor()
    executor.close = client.close  # type: ignore[attr-defined]
    return executor


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(4), processes, dask])
def test_any_executor_gives_the_same_results_in_order(make: Callable[[], Executor]) -> None:
    """Runs that end out of order are put in order; the executor stays its owner's."""
    machines = [
        Machine(walkers=2, frames=4096, seed=seed, duration_ns=2_000_000) for seed in (3, 1, 2)
    ]
    here = studies.run(run_machine, machines)
    with make() as executor:
        assert studies.run(square, range(20), executor=executor) == [n * n for n in range(20)]
        there = studies.run(run_machine, machines, executor=executor)
        assert executor.submit(square, 3).result() == 9
    getattr(executor, "close", int)()
    assert [each.rows() for each in there] == [each.rows() for each in here]


def test_an_error_names_its_point() -> None:
    """The error of a task is raised with a note of the point, and no other point is begun."""
    with pytest.raises(ValueError, match="5 is bad") as caught:
        studies.run(partial(fail_at, 5), list(range(30)))
    assert caught.value.__notes__ == ["at the point 5"]


def test_progress_counts_points_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """A bar is shown only on request; nothing to do is valid."""
    assert studies.run(square, []) == []
    studies.run(square, [1, 2, 3])
    assert capsys.readouterr().err == ""
    studies.run(square, [1, 2, 3], progress=True)
    assert "3/3" in capsys.readouterr().err


def test_a_stored_run_takes_more_points_and_leaves_out_damaged_ones(tmp_path: Path) -> None:
    """Files of points that are there are read, a damaged one is computed again."""
    folder = tmp_path / "points"
    first = studies.table(rows, [1, 2], folder=folder)
    (one, _) = sorted(folder.iterdir())
    one.write_bytes(one.read_bytes()[:-9])
    computed.clear()
    found = studies.table(rows, [1, 2, 3], folder=folder)
    assert len(computed) == 2
    assert found[:2].equals(first)
    assert studies.table(rows, [1, 2, 3], folder=folder).equals(found)
    assert len(computed) == 2


def test_a_task_that_cannot_be_stored_is_refused(tmp_path: Path) -> None:
    """A lambda has no name to store under."""
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        studies.run(lambda point: rows(point), [1], folder=tmp_path)


PLAIN = """
import swapsim
from swapsim import slots
from swapsim.slots import Churn, Device

@swapsim.policy(base_of="cpu", initial="random")
def next_but_one(base, next, highest, trunk_size):
    return 1 + (next + trunk_size) % highest

device, churn = Device(slots=4096), Churn(pages=512)
print(slots.run(device, churn, [next_but_one, "percpu"], seeds=2, cpus=[2]).height)
"""


@pytest.mark.parametrize("by_name", [True, False])
def test_a_plain_script_can_sweep(tmp_path: Path, by_name: bool) -> None:
    """It needs no guard for __main__, and may come from standard input."""
    script = tmp_path / "plain.py"
    script.write_text(PLAIN)
    command, text = ([sys.executable, script], None) if by_name else ([sys.executable, "-"], PLAIN)
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert int(run.stdout) > 0


class Losing(Executor):
    """Loses a Ctrl-C at each call; the calls do not end."""

    def submit(self, *_: Any, **__: Any) -> "Future[Any]":
        """Take a call and leave it."""
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0)
        return Future()


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_that_was_lost_ends_a_commands_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library may drop a KeyboardInterrupt; a command records the signal."""
    monkeypatch.setattr(progress, "_came", None)
    progress.record_signals()
    with pytest.raises(KeyboardInterrupt):
        studies.run(square, [1, 2, 3], executor=Losing())


LONG = """
import sys
from pathlib import Path
from swapsim import study
from swapsim.machine import Machine
from swapsim.machine import run

def rest(seed):
    Path(sys.argv[1]).touch()
    run(Machine(walkers=4, seed=seed, duration_ns=10**15))

study.run(rest, list(range(1, 50)))
"""


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_ctrl_c_ends_long_runs(tmp_path: Path) -> None:
    """Runs end in the middle, and there is one error."""
    script, begun = tmp_path / "long.py", tmp_path / "begun"
    script.write_text(LONG)
    process = subprocess.Popen([sys.executable, script, begun], stderr=subprocess.PIPE, text=True)
    try:
        while not begun.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode
    assert complaint.splitlines().count("KeyboardInterrupt") == 1
