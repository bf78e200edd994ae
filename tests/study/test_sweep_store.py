# SPDX-License-Identifier: GPL-2.0-or-later
"""Stored sweeps: complete files of the same sweep, continued where it stopped."""

import hashlib
import io
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context, synchronize
from pathlib import Path

import polars as pl
import pytest

from swapsim import study
from swapsim.errors import InputError, SwapsimError
from swapsim.io.paths import data_root
from swapsim.study import store as sweep_store

SERIAL = study.SerialExecutor()

NAN_WITH_PAYLOAD = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000123))[0]


def rows(point: int) -> pl.DataFrame:
    """Return as many rows as the point says, with numbers that text does not preserve."""
    numbers = [0.1 + point, -0.0, float("inf"), NAN_WITH_PAYLOAD, 5e-324, 0.0]
    return pl.DataFrame(
        {
            "point": [point] * point,
            "number": [numbers[at % 6] for at in range(point)],
            "word": pl.Series([("a", "b", None)[at % 3] for at in range(point)], dtype=WORDS),
        },
        schema={"point": pl.UInt64, "number": pl.Float64, "word": WORDS},
    )


WORDS = pl.Enum(["a", "b", "c"])


def rows_with_marks(marks: Path, point: int) -> pl.DataFrame:
    """Return rows, and write a file for each call."""
    (marks / f"{point}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return rows(point)


def rows_paused(marks: Path, point: int) -> pl.DataFrame:
    """Return rows; from the thirteenth point on wait for a file "go on"."""
    found = rows_with_marks(marks, point)
    while point >= 12 and not (marks.parent / "go on").exists():
        time.sleep(0.02)
    return found


def begun(marks: Path) -> list[int]:
    """Return the points of all calls."""
    return sorted(int(mark.name.partition("-")[0]) for mark in marks.iterdir())


def rows_unless(bad: int, point: int) -> pl.DataFrame:
    """Raise at one point."""
    if point == bad:
        raise ValueError(f"{point} is bad")
    return rows(point)


def killed_once(mark: Path, point: int) -> pl.DataFrame:
    """Kill this process at one point, the first time."""
    if point == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return rows(point)


def killed_always(point: int) -> pl.DataFrame:
    """Kill this process at one point."""
    if point == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows(point)


def number(point: int) -> int:
    """Return a number instead of a frame."""
    return point


def other_columns(point: int) -> pl.DataFrame:
    """Return a column for each point."""
    return pl.DataFrame({f"column {point}": [1]})


def objects(_point: int) -> pl.DataFrame:
    """Return rows that Parquet cannot store."""
    return pl.DataFrame({"thing": pl.Series([object()], dtype=pl.Object)})


def assert_same(found: list[pl.DataFrame], wanted: list[pl.DataFrame]) -> None:
    """Compare schemas, rows and the bits of each number."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.schema == other.schema
        assert one.equals(other)
        assert one["number"].to_numpy().tobytes() == other["number"].to_numpy().tobytes()


def stored(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


POINTS = list(range(11))

Sweep = Callable[..., list[pl.DataFrame]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a sweep, which is not made yet."""
    return tmp_path / "new" / "sweep"


@pytest.fixture
def sweep(folder: Path) -> Sweep:
    """Return a function that runs POINTS in batches of two, stored in the folder."""
    return partial(study.run, rows, POINTS, executor=SERIAL, batch_points=2, folder=folder)


def third_batch(folder: Path) -> Path:
    """Return the file of batch 3."""
    return next(folder.glob("batch-00003-*"))


@pytest.mark.parametrize("batch_points", [1, 4, 100])
def test_a_stored_sweep_returns_what_a_plain_one_returns(
    folder: Path, sweep: Sweep, batch_points: int
) -> None:
    """Rows, types and bits are the same, at first and when they are read again."""
    plain = sweep(batch_points=batch_points, folder=None)
    assert_same(sweep(batch_points=batch_points), plain)
    before = stored(folder)
    assert len(before) == 1 + -(-len(POINTS) // batch_points)
    assert_same(sweep(batch_points=batch_points, folder=str(folder)), plain)
    assert stored(folder) == before


def test_new_processes_write_the_same_files(tmp_path: Path, folder: Path, sweep: Sweep) -> None:
    """The files have the same bytes, and polars reads them as one table."""
    sweep()
    sweep(executor=None, folder=tmp_path / "processes")
    assert stored(folder) == stored(tmp_path / "processes")
    table = pl.read_parquet(folder / "batch-*.parquet")
    assert table["point"].to_list() == [point for point in POINTS for _ in range(point)]


def test_only_what_is_missing_runs(folder: Path, tmp_path: Path) -> None:
    """A sweep that an error ended continues with the batches that are missing."""
    marks = tmp_path / "marks"
    marks.mkdir()
    task = partial(rows_with_marks, marks)
    run = partial(study.run, task, POINTS, executor=SERIAL, batch_points=2, folder=folder)
    run()
    assert begun(marks) == POINTS
    for number in (0, 3):
        next(folder.glob(f"batch-0000{number}-*")).unlink()
    assert_same(run(), [rows(point) for point in POINTS])
    assert begun(marks) == sorted([*POINTS, 0, 1, 6, 7])


def test_what_came_before_an_error_stays(tmp_path: Path) -> None:
    """Batches before the point that raises are stored, the one with it is not."""
    with pytest.raises(ValueError, match="6 is bad"):
        study.run(partial(rows_unless, 6), POINTS, executor=SERIAL, batch_points=2, folder=tmp_path)
    names = ["batch-00000", "batch-00001", "batch-00002", "sweep.toml"]
    assert [name[:11] for name in stored(tmp_path)] == names


def test_an_empty_sweep_is_stored_too(tmp_path: Path) -> None:
    """Without points there are no batches, only the file that identifies the sweep."""
    assert study.run(rows, [], folder=tmp_path) == []
    assert list(stored(tmp_path)) == ["sweep.toml"]


@pytest.mark.parametrize(
    ("change", "different"),
    [
        ({"task": partial(rows_unless, -1)}, "task, arguments, code"),
        ({"points": [*POINTS[:-1], 12]}, "points"),
        ({"batch_points": 3}, "batch_points"),
    ],
)
def test_a_folder_of_another_sweep_is_refused(
    tmp_path: Path, change: dict[str, object], different: str
) -> None:
    """Task, arguments, points and batches make a sweep; the line says which differ."""
    same = {"task": rows, "points": POINTS, "batch_points": 2}
    study.run(**same, executor=SERIAL, folder=tmp_path)
    before = stored(tmp_path)
    with pytest.raises(
        InputError, match=rf"sweep.toml: .*another sweep \(different: {different}\)"
    ):
        study.run(**(same | change), executor=SERIAL, folder=tmp_path)
    assert stored(tmp_path) == before


def of_another_version(folder: Path) -> None:
    """Store the name of another version of swapsim."""
    path = folder / "sweep.toml"
    path.write_text(re.sub(r'^swapsim = ".*"$', 'swapsim = "0.0.1"', path.read_text(), flags=re.M))


def of_another_sweep(folder: Path) -> None:
    """Copy a complete batch of a sweep of other points."""
    other = folder.parent / "other"
    study.run(rows, POINTS[::-1], executor=SERIAL, batch_points=2, folder=other)
    shutil.copy(third_batch(other), folder)


IDENTITIES = (b"", b"sweep = 3", b"[sweep]\ntask = ", b"\xff")
HEIGHTS = ("", "[", "3", "[4]", "[-1, 4]", "[1.0, 2.0]", '["3"]', "{}")
SPOILED: list[tuple[Callable[[Path], object], str]] = [
    (of_another_version, r"\(different: swapsim\)"),
    (of_another_sweep, "is of another sweep: move it"),
    # A batch that was renamed would give its results to other points.
    (lambda at: third_batch(at).rename(at / third_batch(at).name.replace("03-", "04-")), "another"),
    # A pipe may have no end.
    (
        lambda at: (third_batch(at).unlink(), os.mkfifo(at / f"batch-00003-{'0' * 64}.parquet")),
        "pipe",
    ),
    (lambda at: (at / "batch-00000.parquet").write_text("mine"), "choose another"),
    *(
        (partial(lambda text, at: (at / "sweep.toml").write_bytes(text), text), "which sweep")
        for text in IDENTITIES
    ),
    *(
        (partial(lambda noted, at: made_up(at, 3, rows=noted), noted), "which rows")
        for noted in HEIGHTS
    ),
]


@pytest.mark.parametrize(("spoil", "message"), SPOILED)
def test_a_spoiled_folder_is_refused_and_stays(
    folder: Path, sweep: Sweep, spoil: Callable[[Path], object], message: str
) -> None:
    """None of its results is used, and no file is deleted."""
    sweep()
    spoil(folder)
    before = {path: path.lstat().st_mtime_ns for path in folder.iterdir()}
    with pytest.raises(InputError, match=message):
        sweep()
    assert {path: path.lstat().st_mtime_ns for path in folder.iterdir()} == before


def test_results_of_other_costs_are_refused(
    tmp_path: Path, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of data that has changed makes other results."""
    sweep()
    shutil.copy(data_root() / "costs.csv", tmp_path)
    monkeypatch.setattr(sweep_store, "data_root", lambda: tmp_path)
    with pytest.raises(InputError, match=r"\(different: code\)"):
        sweep()


def flipped(data: bytes) -> bytes:
    """Change one bit in the middle."""
    at = len(data) // 3
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("damage", [lambda data: data[:-10], flipped, lambda _: b""])
def test_a_damaged_batch_runs_again(
    folder: Path, sweep: Sweep, damage: Callable[[bytes], bytes]
) -> None:
    """A file whose hash is not that of its name is replaced, and a partial file is deleted."""
    sweep()
    before = stored(folder)
    path = third_batch(folder)
    path.with_name(f".{path.name}.k1ll3d").write_bytes(path.read_bytes()[:100])
    path.write_bytes(damage(path.read_bytes()))
    assert_same(sweep(), [rows(point) for point in POINTS])
    assert stored(folder) == before


def test_a_failed_write_leaves_nothing(
    folder: Path, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk ends the sweep with its error; all other files are complete."""

    def fail(_number: int) -> None:
        raise OSError(28, "No space left on device")

    sweep()
    third_batch(folder).unlink()
    before = stored(folder)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match="No space left"):
        sweep()
    assert stored(folder) == before


def made_up(folder: Path, number: int, **noted: str) -> Path:
    """Write a batch of this sweep with a correct sha256 and a wrong note."""
    metadata = pl.read_parquet_metadata(next(folder.glob("batch-00000-*")))
    file = io.BytesIO()
    rows(3).write_parquet(file, metadata=metadata | {"batch": str(number)} | noted)
    digest = hashlib.sha256(file.getvalue()).hexdigest()
    path = folder / f"batch-{number:05d}-{digest}.parquet"
    path.write_bytes(file.getvalue())
    return path


@pytest.mark.parametrize("number", [3, 700])
def test_a_batch_of_other_points_runs_again(folder: Path, sweep: Sweep, number: int) -> None:
    """A batch of this sweep has as many points as it sends together."""
    sweep()
    third_batch(folder).unlink()
    made_up(folder, number, rows="[3]")
    assert_same(sweep(), [rows(point) for point in POINTS])


def test_a_users_file_is_named_and_stays(tmp_path: Path, sweep: Sweep) -> None:
    """In a folder without a sweep, or in place of a folder."""
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    for folder, message in ((tmp_path, "choose another"), (mine, "not a folder")):
        with pytest.raises(InputError, match=rf"mine.txt: .*{message}"):
            sweep(folder=folder)
    assert mine.read_text() == "mine"


def test_two_sweeps_do_not_write_to_one_folder(folder: Path, sweep: Sweep) -> None:
    """The second is refused while the first writes."""
    with (
        sweep_store.opened(folder, sweep_store.identity(rows, POINTS, 2)),
        pytest.raises(InputError, match="another sweep writes here"),
    ):
        sweep()
    assert_same(sweep(), [rows(point) for point in POINTS])


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (number, "at the point 1: return polars DataFrames"),
        (other_columns, "other columns at the point 2"),
        (objects, "Parquet"),
        (lambda point: rows(point), "has no name"),
    ],
)
def test_results_that_cannot_be_stored_are_refused(
    tmp_path: Path, task: Callable[[int], object], message: str
) -> None:
    """The line says what was returned, at which point, and what to do."""
    with pytest.raises(InputError, match=message):
        study.run(task, [1, 2], executor=SERIAL, folder=tmp_path)
    assert not list(tmp_path.glob("batch-*"))


def test_a_killed_process_is_replaced_once(tmp_path: Path) -> None:
    """What was done is not done again; new processes run the rest."""
    found = study.run(partial(killed_once, tmp_path / "mark"), POINTS, batch_points=1)
    assert (tmp_path / "mark").exists()
    assert_same(found, [rows(point) for point in POINTS])


def test_without_shared_memory_this_process_runs_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The locks of a pool need a /dev/shm that can be written."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(synchronize.SemLock, "__init__", refuse)
    found = study.run(partial(rows_with_marks, tmp_path), POINTS)
    assert_same(found, [rows(point) for point in POINTS])
    assert {mark.name.split("-")[1] for mark in tmp_path.iterdir()} == {str(os.getpid())}


def test_a_task_that_always_kills_its_process_ends_the_sweep(tmp_path: Path) -> None:
    """The second time is an error of one line that names the point; what is stored is complete."""
    with pytest.raises(SwapsimError, match="was killed twice at the point 3;"):
        study.run(killed_always, POINTS, batch_points=1, folder=tmp_path)
    found = sweep_store.SweepFolder(
        tmp_path, sweep_store.identity(killed_always, POINTS, 1)
    ).found()
    assert set(found) <= set(POINTS) - {3}
    assert not list(tmp_path.glob(".*"))


def test_a_sweep_continues_after_a_broken_pool_of_the_caller(tmp_path: Path) -> None:
    """The pool is not replaced: the error names the point, and the next run continues."""
    task = partial(killed_once, tmp_path / "mark")
    folder = tmp_path / "sweep"
    run = partial(study.run, task, POINTS, batch_points=1, folder=folder)
    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
        pytest.raises(SwapsimError, match=r"was killed once at the point [0-3], or at one of"),
    ):
        run(executor=pool)
    before = stored(folder)
    assert_same(run(executor=SERIAL), [rows(point) for point in POINTS])
    assert before.items() <= stored(folder).items()


LONG = """
import sys
from functools import partial
from pathlib import Path
from test_sweep_store import rows_paused
from swapsim import study

if __name__ == "__main__":
    marks, folder, serial = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "serial"
    study.run(
        partial(rows_paused, marks),
        list(range(24)),
        executor=study.SerialExecutor() if serial else None,
        batch_points=2,
        folder=folder,
    )
"""


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize(
    ("executor", "number"),
    [("serial", signal.SIGINT), ("processes", signal.SIGINT), ("processes", signal.SIGKILL)],
)
def test_an_interrupted_sweep_continues(
    tmp_path: Path, number: signal.Signals, executor: str
) -> None:
    """Complete batches stay after Ctrl-C or a kill; the next run computes the others."""
    marks, folder = tmp_path / "marks", tmp_path / "sweep"
    marks.mkdir()
    (tmp_path / "long.py").write_text(LONG)
    process = subprocess.Popen(
        [sys.executable, tmp_path / "long.py", marks, folder, executor],
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
    )
    # Six batches are stored, and the next is begun.
    while len(list(folder.glob("batch-*.parquet"))) < 6 or 12 not in begun(marks):
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, number)
    _, complaint = process.communicate(timeout=300)
    assert complaint.splitlines().count("KeyboardInterrupt") == (number == signal.SIGINT)
    task = partial(rows_paused, marks)
    points = list(range(24))
    done = sweep_store.SweepFolder(folder, sweep_store.identity(task, points, 2)).found()
    assert len(done) == 6
    for mark in marks.iterdir():
        mark.unlink()
    (tmp_path / "go on").touch()
    found = study.run(task, points, executor=SERIAL, batch_points=2, folder=folder)
    assert_same(found, [rows(point) for point in points])
    assert begun(marks) == [point for point in points if point // 2 not in done]
