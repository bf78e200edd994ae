# SPDX-License-Identifier: GPL-2.0-or-later
"""Changed bytes of every kind of file that we read: a table, or an error of one line."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import attack
import polars as pl
import pytest
import recordings
from hypothesis import given
from hypothesis import strategies as st

from swapsim import study, traces
from swapsim.io import data_root
from swapsim.machine.constants import costs_of
from swapsim.reclaim import constants

TEXTS = Path(__file__).parent.parent / "data"


def cubes(point: int) -> pl.DataFrame:
    """Return a row, for a stored sweep."""
    return pl.DataFrame({"point": [point], "cube": [point**3]})


@pytest.mark.parametrize("verb", attack.VERBS)
@pytest.mark.parametrize("signed", [True, False], ids=["signed", "unsigned"])
def test_tables(verb: str, signed: bool, tmp_path: Path, seeds: Iterator[int]) -> None:
    """A damaged table or trace.toml is read or refused, with the sha256 of it or without."""
    replay, command = attack.VERBS[verb]
    good = attack.small_trace(replay, tmp_path / "good")
    files = sorted(path.name for path in good.iterdir())

    @given(st.sampled_from(files), attack.flips(), st.sampled_from([1.0, 1.0, 0.99, 0.5]))
    def flip(name: str, changes: list[tuple[float, int]], keep: float) -> None:
        folder = tmp_path / "bad"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(good, folder)
        if not signed:
            toml = folder / traces.PROVENANCE
            toml.write_text(toml.read_text().replace("[files]", "[no_files]"))
        path = folder / name
        path.write_bytes(attack.flipped(path.read_bytes(), changes, keep))
        attack.answer(*command(folder))

    attack.for_a_while(flip, seeds)


def imported(data: bytes, folder: Path, *, on: bool) -> None:
    """Import a text or recording, which is refused, or read without the parts that are counted."""
    source, made = folder / "source", folder / "trace"
    source.write_bytes(data)
    shutil.rmtree(made, ignore_errors=True)
    code = attack.answer("import", str(source), "-o", str(made), *["--keep-going"] * on)
    assert made.exists() == (code == 0)
    assert {path.name for path in folder.iterdir()} <= {"source", "trace"}
    if not code:
        attack.answer("info", str(made))


@pytest.mark.parametrize(
    "name", ["tracefs-6.1.txt", "trace-cmd-6.1.txt", "clusters-6.12.txt", "clusters-7.3.txt"]
)
def test_texts(name: str, tmp_path: Path, seeds: Iterator[int]) -> None:
    """Bytes of a text are changed, its end is cut off, and lines change places."""
    lines = (TEXTS / name).read_bytes().splitlines(keepends=True)[:300]

    @given(
        attack.flips(),
        st.floats(0, 1),
        st.lists(st.tuples(st.integers(0, 299), st.integers(0, 299)), max_size=3),
        st.booleans(),
    )
    def flip(
        changes: list[tuple[float, int]], keep: float, moves: list[tuple[int, int]], on: bool
    ) -> None:
        moved = list(lines)
        for here, there in moves:
            moved[here % len(moved)] = lines[there % len(lines)]
        imported(attack.flipped(b"".join(moved), changes, keep), tmp_path, on=on)

    attack.for_a_while(flip, seeds)


def test_recordings(tmp_path: Path, seeds: Iterator[int]) -> None:
    """Bytes of a trace.dat are changed, and its end is cut off."""
    if not shutil.which("trace-cmd"):
        pytest.skip("needs trace-cmd")
    events = recordings.events_of((TEXTS / "tracefs-6.1.txt").read_text())
    good = recordings.trace_dat(recordings.numeric(events))

    @given(attack.flips(), st.floats(0, 1), st.booleans())
    def flip(changes: list[tuple[float, int]], keep: float, on: bool) -> None:
        imported(attack.flipped(good, changes, keep), tmp_path, on=on)

    attack.for_a_while(flip, seeds)


@pytest.mark.parametrize(("name", "read"), [("costs.csv", costs_of), ("reclaim.csv", constants)])
def test_constants(
    name: str, read: Callable[[Path], object], tmp_path: Path, seeds: Iterator[int]
) -> None:
    """A damaged table of constants is a table or an error of ours."""
    good = (data_root() / name).read_bytes()

    @given(attack.flips(), st.sampled_from([1.0, 0.9]))
    def flip(changes: list[tuple[float, int]], keep: float) -> None:
        (tmp_path / name).write_bytes(attack.flipped(good, changes, keep))
        with attack.done_or_refused():
            read(tmp_path)

    attack.for_a_while(flip, seeds)


RESULTS = b"metric,base,patched,unit\nA-throughput,1,2,\n"


def test_results_of_a_user(tmp_path: Path, seeds: Iterator[int]) -> None:
    """Damaged results are compared, or refused in one line."""
    path = tmp_path / "own.csv"

    @given(attack.flips(), st.sampled_from([1.0, 1.0, 0.9, 0.5]))
    def flip(changes: list[tuple[float, int]], keep: float) -> None:
        path.write_bytes(attack.flipped(RESULTS, changes, keep))
        attack.answer("compare", str(path))

    attack.for_a_while(flip, seeds)


def test_stored_sweeps(tmp_path: Path, seeds: Iterator[int]) -> None:
    """A damaged point of a stored sweep is computed again."""
    good = tmp_path / "good"
    points = list(range(8))
    run = partial(study.run, cubes, points)
    whole = run(folder=good)
    files = sorted(path.name for path in good.iterdir() if path.is_file())

    @given(st.sampled_from(files), attack.flips(), st.sampled_from([1.0, 0.5]))
    def flip(name: str, changes: list[tuple[float, int]], keep: float) -> None:
        folder = tmp_path / "bad"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(good, folder)
        data = (folder / name).read_bytes() or b"\0"
        (folder / name).write_bytes(attack.flipped(data, changes, keep))
        with attack.done_or_refused():
            found = run(folder=folder)
            assert all(one.equals(other) for one, other in zip(found, whole, strict=True))

    attack.for_a_while(flip, seeds)
