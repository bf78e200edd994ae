# SPDX-License-Identifier: GPL-2.0-or-later
"""Stored sweeps: whole or not at all, this sweep's or refused, gone on with where they stopped."""

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
    """Return as many rows as the point says, with numbers that a text would spoil."""
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
    """Return rows, and leave a mark for each call."""
    (marks / f"{point}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return rows(point)


def rows_held_up(marks: Path, point: int) -> pl.DataFrame:
    """Return rows; from the thirteenth point on not before there is a file "go on"."""
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
    """Kill the own process at one point, the first time."""
    if point == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return rows(point)


def killed_always(point: int) -> pl.DataFrame:
    """Kill the own process at one point."""
    if point == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows(point)


def number(point: int) -> int:
    """Return what is no frame."""
    return point


def other_columns(point: int) -> pl.DataFrame:
    """Return a column for each point."""
    return pl.DataFrame({f"column {point}": [1]})


def objects(_point: int) -> pl.DataFrame:
    """Return what Parquet cannot hold."""
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


@pytest.mark.parametrize("batch_points", [1, 4, 100])
def test_a_stored_sweep_gives_what_a_plain_one_gives(tmp_path: Path, batch_points: int) -> None:
    """Rows, types and bits are the same, at first and when they are read again."""
    run = partial(study.run, rows, POINTS, executor=SERIAL, batch_points=batch_points)
    plain = run()
    assert_same(run(folder=tmp_path / "new" / "sweep"), plain)
    before = stored(tmp_path / "new" / "sweep")
    assert len(before) == 1 + -(-len(POINTS) // batch_points)
    assert_same(run(folder=str(tmp_path / "new" / "sweep")), plain)
    assert stored(tmp_path / "new" / "sweep") == before


def test_new_processes_write_the_same_files(tmp_path: Path) -> None:
    """Whoever runs the batches, the files have the same bytes."""
    study.run(rows, POINTS, executor=SERIAL, batch_points=2, folder=tmp_path / "serial")
    study.run(rows, POINTS, batch_points=2, folder=tmp_path / "processes")
    assert stored(tmp_path / "serial") == stored(tmp_path / "processes")


def test_polars_reads_a_folder(tmp_path: Path) -> None:
    """The batches are one table, in order, for everyone."""
    study.run(rows, POINTS, executor=SERIAL, batch_points=2, folder=tmp_path / "sweep")
    table = pl.read_parquet(tmp_path / "sweep" / "batch-*.parquet")
    assert table["point"].to_list() == [point for point in POINTS for _ in range(point)]


def test_only_what_is_missing_runs(tmp_path: Path) -> None:
    """A sweep that an error ended goes on with the batches that are not there."""
    marks = tmp_path / "marks"
    marks.mkdir()
    run = partial(
        study.run,
        partial(rows_with_marks, marks),
        POINTS,
        executor=SERIAL,
        batch_points=2,
        folder=tmp_path / "sweep",
    )
    run()
    assert begun(marks) == POINTS
    for number in (0, 3):
        next((tmp_path / "sweep").glob(f"batch-0000{number}-*")).unlink()
    assert_same(run(), [rows(point) for point in POINTS])
    assert begun(marks) == sorted([*POINTS, 0, 1, 6, 7])


def test_what_came_before_an_error_stays(tmp_path: Path) -> None:
    """Batches before the point that raises are stored, the one with it is not."""
    with pytest.raises(ValueError, match="6 is bad"):
        study.run(partial(rows_unless, 6), POINTS, executor=SERIAL, batch_points=2, folder=tmp_path)
    assert [name[:11] for name in stored(tmp_path)] == [
        "batch-00000",
        "batch-00001",
        "batch-00002",
        "sweep.toml",
    ]


def test_an_empty_sweep_is_stored_too(tmp_path: Path) -> None:
    """No points give no batches, and a folder that says so."""
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


def test_results_of_another_version_are_refused(tmp_path: Path) -> None:
    """A sweep does not continue in a folder that another version of swapsim has filled."""
    study.run(rows, POINTS, executor=SERIAL, folder=tmp_path)
    identity = tmp_path / "sweep.toml"
    text, changed = re.subn(
        r'^swapsim = ".*"$', 'swapsim = "0.0.1"', identity.read_text(), flags=re.M
    )
    assert changed == 1
    identity.write_text(text)
    with pytest.raises(InputError, match=r"\(different: swapsim\)"):
        study.run(rows, POINTS, executor=SERIAL, folder=tmp_path)


def test_results_of_other_costs_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of data that changed since makes other results."""
    study.run(rows, POINTS, executor=SERIAL, folder=tmp_path / "sweep")
    shutil.copy(data_root() / "costs.csv", tmp_path)
    monkeypatch.setattr(sweep_store, "data_root", lambda: tmp_path)
    with pytest.raises(InputError, match=r"\(different: code\)"):
        study.run(rows, POINTS, executor=SERIAL, folder=tmp_path / "sweep")


def cut(path: Path) -> None:
    """Lose the end of a file."""
    path.write_bytes(path.read_bytes()[:-10])


def flip(path: Path) -> None:
    """Change one bit in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(bytes(data))


def empty(path: Path) -> None:
    """Lose all of a file."""
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut, flip, empty])
def test_a_damaged_batch_runs_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    """A file whose bytes are not those of its name is replaced by what it should have been."""
    run = partial(study.run, rows, POINTS, executor=SERIAL, batch_points=2, folder=tmp_path)
    run()
    before = stored(tmp_path)
    damage(next(tmp_path.glob("batch-00003-*")))
    assert_same(run(), [rows(point) for point in POINTS])
    assert stored(tmp_path) == before


def test_what_a_killed_process_left_half_written_goes(tmp_path: Path) -> None:
    """A partial file is not a result: it is deleted."""
    run = partial(study.run, rows, POINTS, executor=SERIAL, batch_points=2, folder=tmp_path)
    run()
    before = stored(tmp_path)
    whole = next(tmp_path.glob("batch-00003-*"))
    whole.with_name(f".{whole.name}.k1ll3d").write_bytes(whole.read_bytes()[:100])
    whole.unlink()
    run()
    assert stored(tmp_path) == before


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk ends the sweep with its error; what is there is whole."""

    def fail(_number: int) -> None:
        raise OSError(28, "No space left on device")

    study.run(rows, POINTS, executor=SERIAL, batch_points=2, folder=tmp_path)
    before = stored(tmp_path)
    lost = next(tmp_path.glob("batch-00003-*"))
    lost.unlink()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match="No space left"):
        study.run(rows, POINTS, executor=SERIAL, batch_points=2, folder=tmp_path)
    assert stored(tmp_path) == {name: data for name, data in before.items() if name != lost.name}


def test_a_batch_of_another_sweep_is_refused_and_kept(tmp_path: Path) -> None:
    """A whole file that was copied here is not taken for a result, nor deleted."""
    run = partial(study.run, executor=SERIAL, batch_points=2)
    run(rows, POINTS, folder=tmp_path / "a")
    run(rows, POINTS[::-1], folder=tmp_path / "b")
    foreign = next((tmp_path / "b").glob("batch-00003-*"))
    copied = Path(shutil.copy(foreign, tmp_path / "a"))
    with pytest.raises(InputError, match=rf"{copied.name}: it is of another sweep: move it"):
        run(rows, POINTS, folder=tmp_path / "a")
    assert copied.read_bytes() == foreign.read_bytes()


def test_a_batch_under_another_number_is_refused(tmp_path: Path) -> None:
    """A file that was renamed would give its results to other points."""
    run = partial(study.run, rows, POINTS, executor=SERIAL, batch_points=2, folder=tmp_path)
    run()
    third = next(tmp_path.glob("batch-00003-*"))
    third.rename(third.with_name(third.name.replace("00003", "00004")))
    with pytest.raises(InputError, match="it is of another sweep"):
        run()


def made_up(folder: Path, number: int, **noted: str) -> Path:
    """Put a batch of this sweep there, with a sha256 that is right and a note that is not."""
    metadata = pl.read_parquet_metadata(next(folder.glob("batch-00000-*")))
    file = io.BytesIO()
    rows(3).write_parquet(file, metadata=metadata | {"batch": str(number)} | noted)
    digest = hashlib.sha256(file.getvalue()).hexdigest()
    path = folder / f"batch-{number:05d}-{digest}.parquet"
    path.write_bytes(file.getvalue())
    return path


@pytest.mark.parametrize("noted", ["", "[", "3", "[4]", "[-1, 4]", "[1.0, 2.0]", '["3"]', "{}"])
def test_a_batch_that_tells_odd_heights_is_refused(tmp_path: Path, noted: str) -> None:
    """What somebody noted in it is held to its rows, and no error of a library comes out."""
    run = partial(study.run, rows, POINTS, executor=SERIAL, batch_points=2, folder=tmp_path)
    run()
    path = made_up(tmp_path, 3, rows=noted)
    with pytest.raises(InputError, match=rf"{path.name}: does not say which rows are a point's"):
        run()


@pytest.mark.parametrize("number", [3, 700])
def test_a_batch_of_other_points_is_not_believed(tmp_path: Path, number: int) -> None:
    """A batch of this sweep has as many points as it sends together."""
    run = partial(study.run, rows, POINTS, executor=SERIAL, batch_points=2, folder=tmp_path)
    run()
    for whole in tmp_path.glob("batch-00003-*"):
        whole.unlink()
    made_up(tmp_path, number, rows="[3]")
    assert_same(run(), [rows(point) for point in POINTS])


def test_a_batch_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    """It may have no end: nobody waits for it."""
    run = partial(study.run, rows, POINTS, executor=SERIAL, batch_points=2, folder=tmp_path)
    run()
    path = next(tmp_path.glob("batch-00003-*"))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError, match="is a pipe or a device"):
        run()


@pytest.mark.parametrize("name", ["notes.txt", "batch-00000.parquet", "sub"])
@pytest.mark.parametrize("used", [False, True])
def test_a_folder_with_other_files_is_refused(tmp_path: Path, name: str, used: bool) -> None:
    """What is no file of a sweep is named, and left alone."""
    if used:
        study.run(rows, POINTS, executor=SERIAL, folder=tmp_path)
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match=rf"{name}: it is not a file of a sweep: choose another"):
        study.run(rows, POINTS, executor=SERIAL, folder=tmp_path)
    assert (tmp_path / name).read_text() == "mine"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """The name of a file is refused."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="file: it is not a folder"):
        study.run(rows, POINTS, executor=SERIAL, folder=tmp_path / "file")


@pytest.mark.parametrize("text", [b"", b"sweep = 3", b"[sweep]\ntask = ", b"\xff"])
def test_a_damaged_identity_is_refused(tmp_path: Path, text: bytes) -> None:
    """Without knowing whose the results are none is used, and none deleted."""
    study.run(rows, POINTS, executor=SERIAL, folder=tmp_path)
    (tmp_path / "sweep.toml").write_bytes(text)
    with pytest.raises(InputError, match=r"sweep.toml: it does not say which sweep this is"):
        study.run(rows, POINTS, executor=SERIAL, folder=tmp_path)
    assert len(stored(tmp_path)) == 3


def test_two_sweeps_do_not_write_to_one_folder(tmp_path: Path) -> None:
    """The second is refused while the first writes."""
    identity = sweep_store.identity(rows, POINTS, 8)
    with (
        sweep_store.opened(tmp_path, identity),
        pytest.raises(InputError, match="another sweep writes here"),
    ):
        study.run(rows, POINTS, executor=SERIAL, folder=tmp_path)
    assert_same(
        study.run(rows, POINTS, executor=SERIAL, folder=tmp_path), [rows(p) for p in POINTS]
    )


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (number, "number returned int at the point 1: return polars DataFrames"),
        (other_columns, "other_columns returned other columns at the point 2 than before it"),
        (objects, "these results fit in no Parquet file"),
        (lambda point: rows(point), "has no name: give a function of a module"),
    ],
)
def test_results_that_cannot_be_stored_are_refused(
    tmp_path: Path, task: Callable[[int], object], message: str
) -> None:
    """The line says what came, at which point, and what to do."""
    with pytest.raises(InputError, match=message):
        study.run(task, [1, 2], executor=SERIAL, folder=tmp_path)
    assert not list(tmp_path.glob("batch-*"))


def test_a_killed_process_of_the_own_pool_is_replaced(tmp_path: Path) -> None:
    """Once: what was done is kept, the rest runs on new processes."""
    found = study.run(partial(killed_once, tmp_path / "mark"), POINTS, batch_points=1)
    assert (tmp_path / "mark").exists()
    assert_same(found, [rows(point) for point in POINTS])


def test_without_shared_memory_this_process_does_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A /dev/shm that cannot be written has no room for the locks of a pool."""

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
    whole = sweep_store.SweepFolder(tmp_path, sweep_store.identity(killed_always, POINTS, 1))
    assert set(whole.found()) <= set(POINTS) - {3}
    assert not list(tmp_path.glob(".*"))


def test_a_broken_pool_of_the_caller_is_gone_on_from(tmp_path: Path) -> None:
    """A given pool is its owner's: the error says where, and the next run goes on."""
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
from test_sweep_store import rows_held_up
from swapsim import study

if __name__ == "__main__":
    marks, folder, serial = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "serial"
    study.run(
        partial(rows_held_up, marks),
        list(range(24)),
        executor=study.SerialExecutor() if serial else None,
        batch_points=2,
        folder=folder,
    )
"""


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_an_interrupted_sweep_goes_on(
    tmp_path: Path, number: signal.Signals, executor: str
) -> None:
    """Ctrl-C or a kill leaves whole batches alone; the next run does the others."""
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
    # All that can be stored is, and the next is begun.
    while len(list(folder.glob("batch-*.parquet"))) < 6 or 12 not in begun(marks):
        assert process.poll() is None
        time.sleep(0.02)
    start = time.monotonic()
    os.killpg(process.pid, number)
    _, complaint = process.communicate(timeout=30)
    took = time.monotonic() - start
    print(f"{executor}: {number.name} ended the sweep after {took:.2f} s")
    assert took < 5
    assert complaint.count("KeyboardInterrupt") == (number == signal.SIGINT)
    task = partial(rows_held_up, marks)
    points = list(range(24))
    done = sweep_store.SweepFolder(folder, sweep_store.identity(task, points, 2)).found()
    assert len(done) == 6
    for mark in marks.iterdir():
        mark.unlink()
    (tmp_path / "go on").touch()
    found = study.run(task, points, executor=SERIAL, batch_points=2, folder=folder)
    assert_same(found, [rows(point) for point in points])
    assert begun(marks) == [point for point in points if point // 2 not in done]
